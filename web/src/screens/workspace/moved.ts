/** Where `file` is after `from` (it or a folder above it) became `to`; null if it stays. */
export function movedPath(file: string | undefined, from: string, to: string): string | null {
  if (file === from) return to;
  return file?.startsWith(`${from}/`) ? to + file.slice(from.length) : null;
}
