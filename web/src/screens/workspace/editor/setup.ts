import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { defineLanguageFacet, HighlightStyle, Language, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { drawSelection, dropCursor, EditorView, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { GFM, parser } from "@lezer/markdown";
import { frontMatter } from "./front-matter";
import { useLangStore, t } from "@/i18n/t";

/** The bare Markdown grammar: the packaged one brings the parsers of three more languages. */
const markdown = new Language(defineLanguageFacet(), parser.configure([GFM, frontMatter]), [], "markdown");

const look = HighlightStyle.define([
  { tag: tags.heading1, fontSize: "1.35em", fontWeight: "600" },
  { tag: tags.heading2, fontSize: "1.18em", fontWeight: "600" },
  { tag: tags.heading, fontWeight: "600" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: tags.link, color: "var(--accent)" },
  { tag: tags.url, color: "var(--ink-3)" },
  { tag: tags.meta, color: "var(--ink-3)", fontFamily: "var(--font-mono)", fontSize: "0.82em" },
  { tag: tags.quote, color: "var(--ink-2)" },
  { tag: tags.monospace, fontFamily: "var(--font-mono)", fontSize: "0.88em" },
  { tag: [tags.processingInstruction, tags.contentSeparator, tags.labelName], color: "var(--ink-3)" },
]);

const page = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--font-serif)",
    fontSize: "17px",
    lineHeight: "1.9",
    overflowX: "hidden",
  },
  ".cm-content": {
    boxSizing: "border-box",
    maxWidth: "calc(44em + 4rem)",
    marginInline: "auto",
    padding: "3rem 2rem 40vh",
    caretColor: "var(--accent)",
  },
  ".cm-line": { padding: "0" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--select) !important",
  },
  ".cm-searchMatch, .cm-selectionMatch": { backgroundColor: "var(--warn-soft)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--select)", outline: "1px solid var(--accent)" },
  ".cm-panels": {
    backgroundColor: "var(--paper)",
    color: "var(--ink)",
    borderColor: "var(--line) !important",
    fontFamily: "var(--font-sans)",
    fontSize: "13px",
  },
  ".cm-panel.cm-search": { padding: "8px 36px 8px 14px" },
  ".cm-panel.cm-search :is(input, button, label)": { fontSize: "13px", margin: "2px 6px 2px 0" },
  ".cm-panel.cm-search :is(.cm-textfield, .cm-button)": { height: "28px", padding: "0 8px" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", color: "var(--ink-2)" },
  ".cm-panel.cm-search [name=close]": { top: "6px", right: "6px", width: "28px", fontSize: "18px", color: "var(--ink-2)" },
  ".cm-textfield": { backgroundColor: "var(--raised)", border: "1px solid var(--line-2)", borderRadius: "6px" },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--raised)",
    border: "1px solid var(--line-2)",
    borderRadius: "6px",
  },
  "@media (max-width: 767px)": { ".cm-content": { padding: "1.25rem 1rem 40vh" } },
});

function phrases(): Record<string, string> {
  return {
    Find: t("find.find"),
    Replace: t("find.replace"),
    next: t("find.next"),
    previous: t("find.previous"),
    all: t("find.all"),
    "match case": t("find.case"),
    regexp: t("find.regexp"),
    "by word": t("find.word"),
    replace: t("find.replace"),
    "replace all": t("find.replace_all"),
    close: t("common.close"),
    "$ unchanged lines": t("compare.unchanged", { n: "$" }),
  };
}

/** How a text looks and reads; the same in the editor and in the comparison. */
export function prose(label: string): Extension {
  return [
    markdown,
    syntaxHighlighting(look),
    page,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      "aria-label": label,
      tabindex: "0",
      lang: useLangStore.getState().lang,
      spellcheck: "false",
      autocorrect: "off",
      autocapitalize: "off",
    }),
    EditorState.phrases.of(phrases()),
  ];
}

export function editing(label: string): Extension {
  return [
    prose(label),
    history(),
    drawSelection(),
    dropCursor(),
    search({ top: true }),
    highlightSelectionMatches({ minSelectionLength: 2 }),
    keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap]),
  ];
}

/** A text to look at: it can be searched and its caret placed, but not changed by typing. */
export function reading(label: string): Extension {
  return [
    prose(label),
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    search({ top: true }),
    keymap.of([...searchKeymap, ...defaultKeymap]),
  ];
}

/**
 * The line break to split at so that joining gives the same bytes: "\r\n" if every line ends so, else
 * "\n", with any stray "\r" kept as a character of its line.
 */
export function lineBreakOf(text: string): "\n" | "\r\n" {
  return text.includes("\r\n") && !/(^|[^\r])\n|\r(?!\n)/.test(text) ? "\r\n" : "\n";
}
