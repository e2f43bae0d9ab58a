"""Places that may be meant, as a model reads them."""

from __future__ import annotations

from collections.abc import Sequence

from .values import Candidate, Span

MAX_CANDIDATES = 9
_CONTEXT_CHARS = 24
_PASSAGE_CHARS = 400


def candidates(text: str, spans: Sequence[Span]) -> tuple[Candidate, ...]:
    """The first of these places, numbered, with their lines and the words around them."""
    return tuple(
        Candidate(
            occurrence=number,
            line=line_of(text, span.start),
            span=span,
            context=_context(text, span),
        )
        for number, span in enumerate(spans[:MAX_CANDIDATES], 1)
    )


def line_of(text: str, at: int) -> int:
    """The number of a place's line, from 1. A line ends with \\n, \\r\\n or a lone \\r."""
    pairs = text.count("\r\n", 0, at)
    return text.count("\n", 0, at) + text.count("\r", 0, at) - pairs + 1


def _context(text: str, span: Span) -> str:
    """The words at a place, in brackets, and around it, on one line."""
    middle = text[span.start : span.end]
    if len(middle) > _PASSAGE_CHARS:
        middle = f"{middle[: _PASSAGE_CHARS // 2]} … {middle[-_PASSAGE_CHARS // 2 :]}"
    before = text[max(0, span.start - _CONTEXT_CHARS) : span.start]
    after = text[span.end : span.end + _CONTEXT_CHARS]
    return " ".join(f"{before}⟦{middle}⟧{after}".split())
