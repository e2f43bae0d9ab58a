"""Finding a phrase in all texts of a project.

There is no index: a project is read in one go, and five million characters are searched in less time
than an index would need to be kept up to date while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .values import Found, Hit

_EXCERPT = 60  # characters on each side of the phrase


def search(
    texts: Iterable[tuple[str, bytes]], phrase: str, *, match_case: bool, limit: int
) -> Found:
    """All places of `phrase` in (path, UTF-8) pairs; what is no text is passed over. Without
    `match_case`, letters are compared without regard to case."""
    hits: list[Hit] = []
    total = with_hits = 0
    for path, data in texts:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        found = 0
        for at in _places(text, phrase, match_case=match_case):
            found += 1
            if len(hits) < limit:
                hits.append(_hit(path, text, at, len(phrase)))
        total += found
        with_hits += bool(found)
    return Found(hits=tuple(hits), total=total, files=with_hits)


def _places(text: str, phrase: str, *, match_case: bool) -> Iterator[int]:
    """Offsets in characters, from left to right and without overlap."""
    if not phrase:
        return
    if not match_case and phrase.lower() != phrase.upper():
        text, phrase = _lower(text), _lower(phrase)
    at = text.find(phrase)
    while at >= 0:
        yield at
        at = text.find(phrase, at + len(phrase))


def _lower(text: str) -> str:
    """In lower case and as long as before, so that offsets hold (a Turkish capital has two
    characters in lower case)."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower()[:1] or c for c in text)


def _hit(path: str, text: str, at: int, length: int) -> Hit:
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    first = max(begin, at - _EXCERPT)
    excerpt = text[first : min(end, at + length + _EXCERPT)].rstrip("\r")
    return Hit(
        path=path,
        line=text.count("\n", 0, at) + 1,
        column=at - begin + 1,
        excerpt=excerpt,
        start=at - first,
        end=min(at - first + length, len(excerpt)),  # a phrase may go on in the next line
    )
