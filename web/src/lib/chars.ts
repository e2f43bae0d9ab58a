/** Characters as a person and the server count them (code points); JavaScript counts UTF-16 units. */
export function unitsIn(text: string, chars: number): number {
  let units = 0;
  for (const char of text) {
    if (chars <= 0) break;
    chars -= 1;
    units += char.length;
  }
  return units;
}
