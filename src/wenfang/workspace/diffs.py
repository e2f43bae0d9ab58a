"""Differences between two texts. The work is bounded for any input: lines that are unique in both texts
are matched first (patience), and between them the longest common subsequence is computed, as long as
that is affordable."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
# Rows times columns of one comparison; a row is one integer with a bit per column (12 MB in all).
_MAX_CELLS = 100_000_000
# How often what lies between unique elements is looked through for elements unique there.
_MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Change:
    """Elements `start` to `end` of the old sequence became `new_start` to `new_end` of the new one."""

    start: int
    end: int
    new_start: int
    new_end: int


def lines_of(text: str) -> list[str]:
    """The lines with their ends (\\n, \\r\\n or \\r), as an editor counts them."""
    return _LINE.findall(text)


def shared_prefix(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """How many elements two sequences have in common from the start."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def changes(
    old: Sequence[Hashable], new: Sequence[Hashable], *, unique_first: bool = True
) -> list[Change]:
    """What differs, in order; no two changes touch in both sequences. `unique_first` suits lines, where
    what is unique says most; without it as much as possible is matched, which suits words."""
    found: list[Change] = []
    waiting = [(Change(0, len(old), 0, len(new)), _MAX_DEPTH if unique_first else 0)]
    while waiting:
        region, depth = waiting.pop()
        region = _trimmed(old, new, region)
        if region.start == region.end or region.new_start == region.new_end:
            found += (
                [region] if region.end > region.start or region.new_end > region.new_start else []
            )
        elif depth and (pairs := _anchors(old, new, region)):
            waiting += [(each, depth - 1) for each in reversed(list(_between(region, pairs)))]
        else:
            found += _between(region, _common(old, new, region))
    return found


def _trimmed(old: Sequence[Hashable], new: Sequence[Hashable], region: Change) -> Change:
    ours, theirs = old[region.start : region.end], new[region.new_start : region.new_end]
    head = shared_prefix(ours, theirs)
    tail = shared_prefix(ours[head:][::-1], theirs[head:][::-1])
    return Change(
        region.start + head, region.end - tail, region.new_start + head, region.new_end - tail
    )


def _between(region: Change, pairs: Sequence[tuple[int, int]]) -> Iterator[Change]:
    start, new_start = region.start, region.new_start
    for at, new_at in pairs:
        if at > start or new_at > new_start:
            yield Change(start, at, new_start, new_at)
        start, new_start = at + 1, new_at + 1
    if region.end > start or region.new_end > new_start:
        yield Change(start, region.end, new_start, region.new_end)


def _anchors(
    old: Sequence[Hashable], new: Sequence[Hashable], region: Change
) -> list[tuple[int, int]]:
    """Elements that are once in each part, as many as keep their order."""
    ours = Counter(old[region.start : region.end])
    theirs = Counter(new[region.new_start : region.new_end])
    places = {new[at]: at for at in range(region.new_start, region.new_end) if theirs[new[at]] == 1}
    pairs = [
        (at, places[old[at]])
        for at in range(region.start, region.end)
        if ours[old[at]] == 1 and old[at] in places
    ]
    return _rising(pairs)


def _rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs that rise on both sides."""
    tops: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        at = bisect_left(tops, place)
        before.append(last[at - 1] if at else -1)
        tops[at : at + 1] = [place]
        last[at : at + 1] = [index]
    run: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = before[index]
    return run[::-1]


def _common(
    old: Sequence[Hashable], new: Sequence[Hashable], region: Change
) -> list[tuple[int, int]]:
    """A longest common subsequence; none if it would cost too much (Hyyrö 2004, bits as columns)."""
    rows, columns = region.end - region.start, region.new_end - region.new_start
    if rows * columns > _MAX_CELLS:
        return []
    masks: dict[Hashable, int] = {}
    for column in range(columns):
        element = new[region.new_start + column]
        masks[element] = masks.get(element, 0) | 1 << column
    full = state = (1 << columns) - 1
    states = [state]
    for row in range(rows):
        hits = state & masks.get(old[region.start + row], 0)
        state = full & (state + hits | state - hits)
        states.append(state)
    pairs: list[tuple[int, int]] = []
    row, column = rows, columns
    while row and column:
        if states[row] >> column - 1 & 1:
            column -= 1
            continue
        row -= 1
        if states[row] >> column - 1 & 1:
            column -= 1
            pairs.append((region.start + row, region.new_start + column))
    return pairs[::-1]


def unified_diff(before: str, after: str, context: int = 4) -> str:
    """The changed lines with `context` lines around them, in the unified format without file names."""
    old, new = lines_of(before), lines_of(after)
    lines: list[str] = []
    group: list[Change] = []
    for change in changes(old, new):
        if group and change.start - group[-1].end > 2 * context:
            lines += _hunk(old, new, group, context)
            group = []
        group.append(change)
    if group:
        lines += _hunk(old, new, group, context)
    return "\n".join(lines)


def _hunk(old: list[str], new: list[str], group: list[Change], context: int) -> Iterator[str]:
    first, last = group[0], group[-1]
    head, tail = min(context, first.start), min(context, len(old) - last.end)
    at, end = first.start - head, last.end + tail
    new_at, new_end = first.new_start - head, last.new_end + tail
    yield f"@@ -{at + 1},{end - at} +{new_at + 1},{new_end - new_at} @@"
    for change in group:
        yield from (f" {line.rstrip()}" for line in old[at : change.start])
        yield from (f"-{line.rstrip()}" for line in old[change.start : change.end])
        yield from (f"+{line.rstrip()}" for line in new[change.new_start : change.new_end])
        at = change.end
    yield from (f" {line.rstrip()}" for line in old[at:end])
