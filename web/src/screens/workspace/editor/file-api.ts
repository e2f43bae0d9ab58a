import { api, ask } from "@/api/client";

export function loadFile(pid: string, path: string) {
  return ask(api.GET("/api/projects/{pid}/files/{path}", { params: { path: { pid, path } }, cache: "no-store" }));
}

/** Requests of up to 64 kB may outlive their page; a character takes up to four bytes. */
export const OUTLIVES_CHARS = 15_000;

/** `keepalive` lets a small save outlive the page that is being closed. */
export function saveFile(pid: string, path: string, text: string, base: string | null) {
  return ask(
    api.PUT("/api/projects/{pid}/files/{path}", {
      params: { path: { pid, path } },
      body: { text, base },
      keepalive: text.length < OUTLIVES_CHARS,
    }),
  );
}
