/** Small things kept in the browser. A blocked or full store is no reason to fail. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(`wenfang.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`wenfang.${key}`);
    else localStorage.setItem(`wenfang.${key}`, value);
  } catch {
    // nothing to do: the value lives until the page is closed
  }
}
