"""Passages that are quoted with a few wrong words (TL-9, rungs three and four).

Edit distances are computed for all positions at once in the bits of one integer (Myers 1999, in the
form of Hyyrö 2003): a step per character of the text, whatever the length of the pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

IsEdge: TypeAlias = Callable[[int], bool]

MAX_ERROR = 0.25
MIN_PATTERN_CHARS = 8
MAX_TEXT_CHARS = 5000
MAX_WORK = 5_000_000
MIN_GAP = 0.08
# So far behind the first of equally good ends another is looked for.
_MAX_TIES = 16


@dataclass(frozen=True, slots=True)
class Similar:
    """A place, and how many edits it is away from the pattern."""

    start: int
    end: int
    distance: int


def distances(pattern: str, text: str, *, anywhere: bool) -> list[int]:
    """For each prefix of `text` (the empty one first) the edits between the pattern and the prefix, or
    with `anywhere` and the end of the prefix that is nearest to the pattern."""
    masks: dict[str, int] = {}
    for at, char in enumerate(pattern):
        masks[char] = masks.get(char, 0) | 1 << at
    full, high = (1 << len(pattern)) - 1, 1 << len(pattern) >> 1
    carry = 0 if anywhere else 1
    plus, minus, score = full, 0, len(pattern)
    scores = [score]
    for char in text:
        same = masks.get(char, 0)
        across = (((same & plus) + plus) ^ plus) | same
        up = minus | (full & ~(across | plus))
        down = plus & across
        if up & high:
            score += 1
        elif down & high:
            score -= 1
        up = up << 1 | carry
        same |= minus
        plus = full & (down << 1 | ~(same | up))
        minus = full & up & same
        scores.append(score)
    return scores


def nearest(pattern: str, text: str, is_edge: IsEdge) -> list[Similar]:
    """The one place of `text` that reads most like the pattern; with the second best if they are too near
    to each other to choose; none if nothing is near or the search would be too much work. Of equally
    good limits one at an edge (of a sentence, a word) is taken, then one that keeps the length."""
    size = len(pattern)
    if size < MIN_PATTERN_CHARS or len(text) > MAX_TEXT_CHARS or size * len(text) > MAX_WORK:
        return []
    scores = distances(pattern, text, anywhere=True)
    best = _best(pattern, text, scores, is_edge)
    if best.distance > size * MAX_ERROR:
        return []
    after = text[best.end :]
    scores_after = distances(pattern, after, anywhere=True)
    if min(scores_after) < min(scores[: best.start + 1]):
        rival = _best(pattern, after, scores_after, lambda at: is_edge(best.end + at))
        rival = Similar(best.end + rival.start, best.end + rival.end, rival.distance)
    else:
        rival = _best(pattern, text[: best.start], scores[: best.start + 1], is_edge)
    return _clear(best, rival, size)


def nearest_run(
    pattern: str, pieces: Sequence[str], count: int
) -> tuple[list[Similar], Similar | None]:
    """Like `nearest`, over runs of `count` whole pieces; places are numbers of pieces. Also the most
    similar run, however far it is, if it is nearer than half of the pattern."""
    size = len(pattern)
    if size < MIN_PATTERN_CHARS:
        return [], None
    found: list[Similar] = []
    left = MAX_WORK // max(size, 64)
    for start, run in _runs(pattern, pieces, count):
        left -= len(run)
        if left < 0:
            return [], None
        found.append(Similar(start, start + count, distances(pattern, run, anywhere=False)[-1]))
    found.sort(key=lambda each: each.distance)
    if not found or found[0].distance > size / 2:
        return [], None
    best = found[0]
    if best.distance > size * MAX_ERROR:
        return [], best
    apart = [each for each in found if each.start >= best.end or each.end <= best.start]
    return (_clear(best, apart[0], size) if apart else [best]), best


def _runs(pattern: str, pieces: Sequence[str], count: int) -> Iterator[tuple[int, str]]:
    """The runs that can be near: of half to twice the length, with most of the characters in common."""
    size, chars = len(pattern), set(pattern)
    lengths = [len(piece) for piece in pieces]
    total = sum(lengths[:count])
    for start in range(len(pieces) - count + 1):
        if abs(total - size) * 2 <= size:
            run = "".join(pieces[start : start + count])
            if len(chars.difference(run)) * 2 <= size:
                yield start, run
        if start + count < len(pieces):
            total += lengths[start + count] - lengths[start]


def _clear(best: Similar, rival: Similar, size: int) -> list[Similar]:
    is_clear = rival.distance - best.distance >= size * MIN_GAP
    return [best] if is_clear else sorted((best, rival), key=lambda each: each.start)


def _best(pattern: str, text: str, scores: list[int], is_edge: IsEdge) -> Similar:
    least = min(scores)
    first = scores.index(least)
    until = min(first + min(least, _MAX_TIES) + 1, len(scores))
    ends = [end for end in range(first, until) if scores[end] == least]
    places = [place for end in ends for place in _starts(pattern, text, end, least)]

    def rank(place: Similar) -> tuple[int, int]:
        edges = is_edge(place.start) + is_edge(place.end)
        return -edges, abs(place.end - place.start - len(pattern))

    return min(places, key=rank)


def _starts(pattern: str, text: str, end: int, least: int) -> Iterator[Similar]:
    window = text[max(0, end - len(pattern) - least) : end]
    for length, score in enumerate(distances(pattern[::-1], window[::-1], anywhere=False)):
        if score == least:
            yield Similar(end - length, end, least)
