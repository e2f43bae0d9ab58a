import { tags } from "@lezer/highlight";
import type { MarkdownConfig } from "@lezer/markdown";

const FENCE = /^---\s*$/;

/** The block between two lines of dashes at the very top is data about the text, not a heading. */
export const frontMatter: MarkdownConfig = {
  defineNodes: [{ name: "FrontMatter", block: true, style: tags.meta }],
  parseBlock: [
    {
      name: "FrontMatter",
      before: "HorizontalRule",
      parse(context, line) {
        if (context.lineStart !== 0 || !FENCE.test(line.text)) return false;
        while (context.nextLine()) {
          if (!FENCE.test(line.text)) continue;
          context.nextLine();
          break;
        }
        context.addElement(context.elt("FrontMatter", 0, context.prevLineEnd()));
        return true;
      },
    },
  ],
};
