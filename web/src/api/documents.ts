import { ApiError, failureOf } from "./client";
import type { Format, ImportOut } from "./types";

export const FORMATS = ["txt", "md", "docx", "epub", "zip"] as const satisfies readonly Format[];

/**
 * Send one document; only this kind of request tells how much of it has gone out. `onSent` gets the
 * share, 0..1. Raises ApiError, and an AbortError after `signal`.
 */
export function sendDocument(
  pid: string,
  folder: string,
  file: File,
  onSent: (fraction: number) => void,
  signal: AbortSignal,
): Promise<ImportOut> {
  const query = new URLSearchParams({ name: file.name, ...(folder && { folder }) });
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let isUnderWay = false;
    request.upload.addEventListener("progress", ({ loaded, total }) => {
      isUnderWay ||= loaded > 0;
      if (total > 0) onSent(loaded / total);
    });
    request.addEventListener("load", () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as ImportOut);
      else void failureOf(new Response(request.responseText, { status: request.status })).then(reject);
    });
    request.addEventListener("error", () => reject(new ApiError(isUnderWay ? "import_interrupted" : "offline", 0, "")));
    request.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    signal.addEventListener("abort", () => request.abort());
    request.open("POST", `/api/projects/${encodeURIComponent(pid)}/import?${query}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.send(file);
  });
}

export interface Download {
  name: string;
  bytes: Blob;
}

/** The project as one file, named by the server. Raises ApiError. */
export async function exportProject(pid: string, format: Format): Promise<Download> {
  const url = `/api/projects/${encodeURIComponent(pid)}/export?format=${format}`;
  try {
    const response = await fetch(url, { cache: "no-store" });
    if (!response.ok) throw await failureOf(response);
    return { name: nameIn(response.headers.get("content-disposition")) ?? `export.${format}`, bytes: await response.blob() };
  } catch (error) {
    throw error instanceof ApiError ? error : new ApiError("offline", 0, String(error));
  }
}

/** The `filename*` of RFC 6266, as our server writes it. */
function nameIn(disposition: string | null): string | null {
  const coded = /filename\*=UTF-8''([^;\s]+)/i.exec(disposition ?? "")?.[1];
  try {
    return coded ? decodeURIComponent(coded) : null;
  } catch {
    return null;
  }
}
