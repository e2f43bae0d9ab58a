import type { Text } from "@codemirror/state";

export interface Count {
  /** Characters that are no white space; a character outside the basic plane is one. */
  chars: number;
  paragraphs: number;
  longestLine: number;
}

function isSpace(code: number): boolean {
  return code <= 32 || code === 0x3000 || code === 0xa0 || code === 0xfeff || (code >= 0x2000 && code <= 0x200b);
}

function charsOf(text: string): number {
  let chars = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isSecondHalf = code >= 0xdc00 && code <= 0xdfff;
    if (!isSpace(code) && !isSecondHalf) chars += 1;
  }
  return chars;
}

export function count(doc: Text, from = 0, to = doc.length): Count {
  const total: Count = { chars: 0, paragraphs: 0, longestLine: 0 };
  for (const lines = doc.iterRange(from, to); !lines.next().done; ) {
    if (lines.lineBreak) continue;
    total.chars += charsOf(lines.value);
  }
  for (const lines = doc.iterLines(); !lines.next().done; ) {
    if (lines.value.trim()) total.paragraphs += 1;
    total.longestLine = Math.max(total.longestLine, lines.value.length);
  }
  return total;
}
