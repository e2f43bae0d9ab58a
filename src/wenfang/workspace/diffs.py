"""Differences between two texts, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher


def shared_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """How many elements two sequences have in common from the start."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def unified_diff(before: str, after: str, context: int = 4) -> str:
    """The changed lines with `context` lines around them, in the unified format without file names."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    same = shared_prefix(old, new)
    skip = max(same - context, 0)
    end = shared_prefix(old[same:][::-1], new[same:][::-1])
    keep = max(end - context, 0)
    old, new = old[skip : len(old) - keep], new[skip : len(new) - keep]
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(context):
        lines += _hunk(old, new, group, skip)
    return "\n".join(lines)


def _hunk(
    old: list[str], new: list[str], group: list[tuple[str, int, int, int, int]], skip: int
) -> list[str]:
    _, i1, _, j1, _ = group[0]
    _, _, i2, _, j2 = group[-1]
    lines = [f"@@ -{i1 + skip + 1},{i2 - i1} +{j1 + skip + 1},{j2 - j1} @@"]
    for tag, a1, a2, b1, b2 in group:
        if tag == "equal":
            lines += [f" {line.rstrip()}" for line in old[a1:a2]]
        else:
            lines += [f"-{line.rstrip()}" for line in old[a1:a2]]
            lines += [f"+{line.rstrip()}" for line in new[b1:b2]]
    return lines
