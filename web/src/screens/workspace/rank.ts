/** Paths that hold the letters of `query` in order, best first: in the name, together, early. */
export function rank(paths: readonly string[], query: string): string[] {
  const wanted = [...query.toLowerCase().replace(/\s+/g, "")];
  if (wanted.length === 0) return [...paths];
  return paths
    .map((path) => ({ path, score: score(path.toLowerCase(), wanted) }))
    .filter((each) => each.score !== null)
    .toSorted((a, b) => a.score! - b.score! || a.path.length - b.path.length)
    .map((each) => each.path);
}

/** The letters skipped on the way (lower is better); null if they are not all there. */
function score(path: string, wanted: readonly string[]): number | null {
  const name = path.lastIndexOf("/") + 1;
  const inName = skipped(path, wanted, name);
  if (inName !== null) return inName;
  const anywhere = skipped(path, wanted, 0);
  return anywhere === null ? null : 1000 + anywhere;
}

function skipped(text: string, wanted: readonly string[], from: number): number | null {
  let [at, total] = [from, 0];
  for (const letter of wanted) {
    const found = text.indexOf(letter, at);
    if (found < 0) return null;
    total += found - at;
    at = found + letter.length;
  }
  return total;
}
