import { Text } from "@codemirror/state";
import { lineBreakOf } from "../editor/setup";

export type LineBreak = "\n" | "\r\n";

/** Where to split two texts so that joining gives each its own characters again. */
export function sharedBreak(a: string, b: string): LineBreak {
  const broken = [a, b].filter((text) => text.includes("\n"));
  return broken.length > 0 && broken.every((text) => lineBreakOf(text) === "\r\n") ? "\r\n" : "\n";
}

export function textOf(text: string, lineBreak: LineBreak): Text {
  return Text.of(text.split(lineBreak));
}
