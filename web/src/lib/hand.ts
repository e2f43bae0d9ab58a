/** How long a browser may take to begin with a download: then the bytes are let go. */
const KEPT_MS = 60_000;

/** Give a person a file, as a download. */
export function hand(name: string, bytes: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
