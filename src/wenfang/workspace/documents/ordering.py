"""The order in which a book is read: chapters by their numbers (writing.md UI-11), the rest where it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wenfang.lang import read_heading

from .values import Book, Part


def parts_in_order(book: Book, *, with_outline: bool = False) -> tuple[Part, ...]:
    """The outline first (if wanted), then the parts. Numbers begin again in each volume, so chapters are
    sorted within theirs; a part without a number stays behind the one it stood behind."""
    outline = [part for part in book.parts if part.kind == "outline"] if with_outline else []
    ordered: list[Part] = []
    for volume in _volumes([part for part in book.parts if part.kind != "outline"]):
        ordered += _sorted(volume)
    return (*outline, *ordered)


def _volumes(parts: Sequence[Part]) -> Iterator[list[Part]]:
    volume: list[Part] = []
    for part in parts:
        if part.kind == "part":
            yield volume
            volume = []
        volume.append(part)
    yield volume


def _sorted(parts: Sequence[Part]) -> list[Part]:
    groups: list[tuple[int, list[Part]]] = [(-1, [])]
    for part in parts:
        heading = read_heading(part.title.strip())
        if heading and heading.kind == "chapter" and heading.number is not None:
            groups.append((heading.number, [part]))
        else:
            groups[-1][1].append(part)
    # An epilogue behind the last chapter stays at the end, wherever that chapter's number sends it.
    tail = groups[-1][1][1:] if groups[-1][0] >= 0 else []
    if tail:
        groups[-1] = (groups[-1][0], groups[-1][1][:1])
    ordered = sorted(groups, key=lambda group: group[0])
    return [part for _, group in ordered for part in group] + tail
