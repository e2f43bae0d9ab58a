import { api, ask } from "@/api/client";

export function loadFile(pid: string, path: string) {
  return ask(api.GET("/api/projects/{pid}/files/{path}", { params: { path: { pid, path } }, cache: "no-store" }));
}

/** `keepalive` lets a small save outlive the page that is being closed. */
export function saveFile(pid: string, path: string, text: string, base: string | null) {
  return ask(
    api.PUT("/api/projects/{pid}/files/{path}", {
      params: { path: { pid, path } },
      body: { text, base },
      keepalive: text.length < 15_000,
    }),
  );
}
