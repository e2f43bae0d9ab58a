"""The Markdown of a manuscript, parsed: CommonMark as a novelist means it.

Each line is a paragraph, since that is how both people and models write prose here. Left out is what
makes prose into something else by accident: indented code, underlined headings, HTML, entities, link
references. Emphasis may touch Chinese characters and punctuation (CommonMark's rule knows spaces only).
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from .markup import is_web

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_RULES: Final = [
    "normalize",
    "block",
    "split_lines",
    "inline",
    "fragments_join",
    "table",
    "fence",
    "blockquote",
    "hr",
    "list",
    "heading",
    "paragraph",
    "text",
    "newline",
    "escape",
    "backticks",
    "emphasis",
    "link",
    "image",
    "balance_pairs",
]
_HARD_BREAK: Final = ("  ", "\\")
_MARKS = re.compile(r"[*_`\[\\]|^[ \t]*(?:[#>|~+-]|\d{1,9}[.)])|[^\S\n]{2}$", re.MULTILINE)
_EAST_ASIAN = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef“”‘’…—\U00020000-\U0003ffff]"
)


def has_marks(text: str) -> bool:
    """Whether `text` may have anything to parse; most chapters have not, and parsing takes a while."""
    return _MARKS.search(text) is not None


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a text without marks. Blanks around them are left out: a manuscript's indent is
    the business of its style."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def parse(text: str) -> list[Token]:
    """The tokens of markdown-it for `text`."""
    return _parser().parse(text)


@cache
def _parser() -> MarkdownIt:
    markdown_it = import_module("markdown_it")
    parser: MarkdownIt = markdown_it.MarkdownIt(
        "zero", {"html": False, "xhtmlOut": True, "maxNesting": 40}
    )
    parser.core.ruler.before("inline", "split_lines", _split_lines)
    parser.enable(_RULES, ignoreInvalid=True)
    parser.inline.ruler.at("emphasis", _emphasis)
    parser.inline.ruler.enable(["emphasis"])
    parser.inline.ruler2.enable(["emphasis"])
    parser.validateLink = lambda url: is_web(url)
    return parser


def _split_lines(state: StateCore) -> None:
    """Each line of a paragraph becomes one, unless the line before ends in a hard break."""
    tokens: list[Token] = []
    for token in state.tokens:
        if (
            token.type != "inline"
            or "\n" not in token.content
            or tokens[-1].type != "paragraph_open"
        ):
            tokens.append(token)
            continue
        opening = tokens.pop()
        opening.hidden = False
        closing = import_module("markdown_it.token").Token(
            "paragraph_close", "p", -1, level=opening.level
        )
        for line in _joined_at_breaks(token.content.split("\n")):
            tokens += [opening, token.copy(content=line, children=[]), closing]
        tokens.pop()  # the paragraph's own closing follows
    state.tokens = tokens


def _joined_at_breaks(lines: list[str]) -> list[str]:
    joined: list[str] = []
    is_open = False
    for line in lines:
        text = line.lstrip()
        if is_open:
            joined[-1] += "\n" + text
        else:
            joined.append(text)
        is_open = line.endswith(_HARD_BREAK)
    return [line for line in joined if line.strip()]


def _emphasis(state: StateInline, silent: bool) -> bool:
    marker = state.src[state.pos]
    if silent or marker not in "*_":
        return False
    inline = import_module("markdown_it.rules_inline.state_inline")
    scanned = state.scanDelims(state.pos, marker == "*")
    may_open, may_close = scanned.can_open, scanned.can_close
    if marker == "*":
        before = state.src[state.pos - 1 : state.pos] or " "
        after = state.src[state.pos + scanned.length :][:1] or " "
        may_open = may_open or (not after.isspace() and _EAST_ASIAN.match(before) is not None)
        may_close = may_close or (not before.isspace() and _EAST_ASIAN.match(after) is not None)
    for _ in range(scanned.length):
        token = state.push("text", "", 0)
        token.content = marker
        state.delimiters.append(
            inline.Delimiter(
                marker=ord(marker),
                length=scanned.length,
                token=len(state.tokens) - 1,
                end=-1,
                open=may_open,
                close=may_close,
            )
        )
    state.pos += scanned.length
    return True


def render(text: str) -> str:
    """Well-formed XHTML for `text`. Headings begin at level 2, images leave their description."""
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{max(2, int(token.tag[1:]))}"
        token.children = (
            [_described(child) for child in token.children] if token.children else token.children
        )
    return str(parser.renderer.render(tokens, parser.options, {}))


def _described(token: Token) -> Token:
    return token.copy(type="text", children=None) if token.type == "image" else token
