"""Looking for a quoted passage: the rungs of the ladder, from exact to similar (TL-9).

The first rung that finds anything decides. A rung is a row: how a hit is called, how it is looked for, in
which form what is alike at the ends of old and new is recognised, and whether it is sure enough to change
all places at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from .approximate import Similar, nearest, nearest_run
from .folding import BARE, CASELESS, DOUBLE_QUOTES, LOOK, QUOTES, Folded, Form
from .style import line_end_of
from .values import MatchKind, MatchMode, Span
from .widening import is_edge, splits_word, whole_words, widened

_MANY_FORMS = re.compile(f'["{DOUBLE_QUOTES}\\r\\n]')
# A character that no form changes or drops: the paragraphs are folded together, which is faster.
_BORDER = "\ue000"
_PARAGRAPH = re.compile(r"[^\s](?:[^\r\n]*[^\s])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """What is looked for. `new` is what will stand there, for the punctuation that it brings."""

    old: str
    new: str
    bare: bool

    @property
    def form(self) -> Form:
        return BARE if self.bare else CASELESS


class Source:
    """The text that is edited, and its line end (None: it has none). What is computed from it is kept for
    all edits of a list."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.line_end = line_end_of(text)
        self._folded: dict[Form, Folded] = {}
        self._similar: dict[Quotation, tuple[list[Span], Span | None]] = {}
        self._paragraphs: dict[Form, tuple[list[Span], list[str]]] = {}

    def folded(self, form: Form) -> Folded:
        if form not in self._folded:
            self._folded[form] = Folded(self.text, form)
        return self._folded[form]

    def similar(self, quotation: Quotation) -> tuple[list[Span], Span | None]:
        """The paragraphs that read like the passage, and those that read most like it."""
        if quotation not in self._similar:
            spans, folded = self._paragraphs_in(quotation.form)
            count = sum(1 for _ in _PARAGRAPH.finditer(quotation.old)) or 1
            near, best = nearest_run(quotation.form.fold(quotation.old), folded, count)

            def span(run: Similar) -> Span:
                return Span(start=spans[run.start].start, end=spans[run.end - 1].end)

            self._similar[quotation] = [span(each) for each in near], best and span(best)
        return self._similar[quotation]

    def _paragraphs_in(self, form: Form) -> tuple[list[Span], list[str]]:
        """The lines that are not blank, without the whitespace around them, and their folded texts."""
        if form not in self._paragraphs:
            spans = [
                Span(start=match.start(), end=match.end())
                for match in _PARAGRAPH.finditer(self.text)
            ]
            texts = (self.text[span.start : span.end].replace(_BORDER, "") for span in spans)
            folded = form.fold(_BORDER.join(texts)).split(_BORDER)
            self._paragraphs[form] = spans, folded
        return self._paragraphs[form]


Search = Callable[[Source, Quotation], Iterator[Span]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    match: MatchKind
    search: Search
    alike: Form | None = None
    for_all: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The places in the order of the text, and the rung that found them."""

    rung: Rung
    spans: list[Span]


def find(
    source: Source, quotation: Quotation, *, mode: MatchMode, count: int | None
) -> Found | None:
    """The first `count` places of the passage; with None all, from rungs that are sure enough."""
    for rung in _LADDERS[mode]:
        if count is None and not rung.for_all:
            continue
        spans = list(islice(rung.search(source, quotation), count))
        if spans:
            return Found(rung=rung, spans=spans)
    return None


def most_similar(source: Source, quotation: Quotation) -> Span | None:
    """The paragraphs that read most like a passage that was not found."""
    _, near = source.similar(quotation)
    return near


def places(text: str, part: str) -> Iterator[int]:
    """Where `part` begins in `text`; places may overlap."""
    at = text.find(part) if part else -1
    while at >= 0:
        yield at
        at = text.find(part, at + 1)


def _exact(source: Source, quotation: Quotation) -> Iterator[Span]:
    for at in places(source.text, quotation.old):
        yield Span(start=at, end=at + len(quotation.old))


def _quoted(source: Source, quotation: Quotation) -> Iterator[Span]:
    """Double quotes of all kinds are equal, and line ends."""
    if _MANY_FORMS.search(quotation.old):
        return _alike(QUOTES, source, quotation)
    return _exact(source, quotation)


def _alike(form: Form, source: Source, quotation: Quotation) -> Iterator[Span]:
    folded, old = source.folded(form), form.fold(quotation.old)
    for at in places(folded.text, old):
        start, end = folded.start_of(at), folded.end_of(at + len(old))
        if start is not None and end is not None:
            yield Span(start=start, end=end)


def _fuzzy(source: Source, quotation: Quotation) -> Iterator[Span]:
    text = source.text
    end, wide_end = 0, 0
    for span in _alike(quotation.form, source, quotation):
        if splits_word(text, span.start) or splits_word(text, span.end):
            continue
        wide = _widened(text, span.start, span.end, quotation)
        if span.start >= end:
            # Two neighbours both quote the mark between them: it goes with the first.
            wide = Span(start=max(wide.start, min(wide_end, span.start)), end=wide.end)
            end, wide_end = span.end, wide.end
        yield wide


def _approximate(source: Source, quotation: Quotation) -> Iterator[Span]:
    text, folded = source.text, source.folded(quotation.form)

    def at_edge(at: int) -> bool:
        place = folded.start_of(at)
        return place is not None and is_edge(text, place)

    for near in nearest(quotation.form.fold(quotation.old), folded.text, at_edge):
        start, end = folded.start_of(near.start), folded.end_of(near.end)
        if start is not None and end is not None and start < end:
            yield _widened(text, *whole_words(text, start, end), quotation)


def _paragraph(source: Source, quotation: Quotation) -> Iterator[Span]:
    spans, _ = source.similar(quotation)
    return iter(spans)


def _widened(text: str, start: int, end: int, quotation: Quotation) -> Span:
    if not quotation.bare:
        return Span(start=start, end=end)
    start, end = widened(text, start, end, quotation.old, quotation.new)
    return Span(start=start, end=end)


_BY_LOOK = Rung(match="look", search=partial(_alike, LOOK), alike=LOOK)
_EXACT = Rung(match="exact", search=_quoted, alike=QUOTES)
_LADDERS: dict[MatchMode, tuple[Rung, ...]] = {
    "exact": (_EXACT,),
    "look": (Rung(match="exact", search=_exact), _BY_LOOK),
    "auto": (
        _EXACT,
        _BY_LOOK,
        Rung(match="fuzzy", search=_fuzzy),
        Rung(match="approximate", search=_approximate, for_all=False),
        Rung(match="paragraph", search=_paragraph, for_all=False),
    ),
}
