const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * Cut Markdown at blank lines into pieces that can be rendered on their own, so that a growing text
 * renders only its last piece. A fence is one piece; an indented line after a blank one belongs to
 * the list above it.
 */
export function splitBlocks(text: string): string[] {
  const blocks: string[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  const close = () => {
    if (lines.some((line) => line.trim())) blocks.push(lines.join("\n"));
    lines = [];
  };
  const all = text.split("\n");
  for (const [at, line] of all.entries()) {
    const mark: string | undefined = FENCE.exec(line)?.[1];
    if (fence !== null) {
      lines.push(line);
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
    } else if (mark !== undefined) {
      fence = mark;
      lines.push(line);
    } else if (line.trim() === "" && !/^( {2,}|\t)/.test(all[at + 1] ?? "")) {
      close();
    } else {
      lines.push(line);
    }
  }
  close();
  return blocks;
}
