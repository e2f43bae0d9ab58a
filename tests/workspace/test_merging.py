"""Merging two descendants of one text, line by line."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.workspace.project import Merge, MergeConflict, three_way


def told(merge: Merge) -> str:
    return "".join(
        piece if isinstance(piece, str) else f"<{piece.base}|{piece.mine}|{piece.theirs}>"
        for piece in merge.pieces
    )


# base, mine, theirs, merged
ROWS: dict[str, tuple[str, str, str, str]] = {
    "nothing": ("a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n"),
    "only-mine": ("a\nb\n", "a\nx\n", "a\nb\n", "a\nx\n"),
    "only-theirs": ("a\nb\n", "a\nb\n", "b\n", "b\n"),
    "apart": ("a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n", "x\nb\ny\n"),
    "neighbours": ("a\nb\n", "x\nb\n", "a\ny\n", "x\ny\n"),
    "the-same": ("a\nb\nc\n", "a\nx\nc\n", "a\nx\nc\n", "a\nx\nc\n"),
    "the-same-and-another": ("a\nb\nc\n", "a\nx\nc\n", "a\nx\ny\n", "a\n<b\nc\n|x\nc\n|x\ny\n>"),
    "both-inserted-the-same": ("a\nb\n", "a\nx\nb\n", "a\nx\nb\n", "a\nx\nb\n"),
    "both-inserted": ("a\nb\n", "a\nx\nb\n", "a\ny\nb\n", "a\n<|x\n|y\n>b\n"),
    "both-changed": ("a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", "a\n<b\n|x\n|y\n>c\n"),
    "changed-and-deleted": ("a\nb\nc\n", "a\nx\nc\n", "a\nc\n", "a\n<b\n|x\n|>c\n"),
    "inserted-beside-a-change": ("a\nb\nc\n", "a\nb\nx\nc\n", "a\ny\nc\n", "a\n<b\n|b\nx\n|y\n>c\n"),
    "a-chain": (
        "a\nb\nc\nd\n",
        "x\ny\nc\nz\n",
        "a\nu\nv\nd\n",
        "<a\nb\nc\n|x\ny\nc\n|a\nu\nv\n>z\n",
    ),
    "line-ends-are-kept": ("a\r\nb\rc\nd", "x\r\nb\rc\nd", "a\r\nb\rc\ny", "x\r\nb\rc\ny"),
    "from-nothing": ("", "x", "y", "<|x|y>"),
    "to-nothing": ("a\n", "", "a\n", ""),
    "paragraphs": ("一。\n\n二。\n\n三。\n", "一、\n\n二。\n\n三。\n", "一。\n\n二。\n\n三！\n", "一、\n\n二。\n\n三！\n"),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_rows(row: tuple[str, str, str, str]) -> None:
    base, mine, theirs, expected = row
    merge = three_way(base, mine, theirs)
    assert told(merge) == expected
    assert merge.text == (None if merge.conflicts else expected)


text = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d\r", "一。\n"]), max_size=9).map(
    "".join
)


@given(text, text)
def test_one_side_alone_is_taken(base: str, other: str) -> None:
    assert three_way(base, other, base).text == other
    assert three_way(base, base, other).text == other
    assert three_way(base, other, other).text == other


def side(merge: Merge, name: str) -> str:
    return "".join(
        piece if isinstance(piece, str) else getattr(piece, name) for piece in merge.pieces
    )


@given(text, text, text)
def test_sides_can_be_changed_over_and_nothing_is_lost(base: str, mine: str, theirs: str) -> None:
    merge, other = three_way(base, mine, theirs), three_way(base, theirs, mine)
    assert [each.base for each in merge.conflicts] == [each.base for each in other.conflicts]
    assert side(merge, "mine") == side(other, "theirs")
    assert side(merge, "theirs") == side(other, "mine")
    merged = side(merge, "mine") + side(merge, "theirs")
    for line in (mine + theirs).splitlines():
        if line not in base.splitlines():
            assert line in merged.splitlines()
    for conflict in merge.conflicts:
        assert conflict.mine != conflict.theirs
        assert conflict.base in base
        assert conflict.mine in mine
        assert conflict.theirs in theirs


LINES = [f"line {number}\n" for number in range(12)]
changed = st.dictionaries(st.integers(0, 11), st.lists(st.integers(0, 999), max_size=2), max_size=8)


def with_changes(name: str, places: dict[int, list[int]]) -> dict[int, str]:
    return {at: "".join(f"{name} {number}\n" for number in new) for at, new in places.items()}


@given(changed, changed, st.sets(st.integers(0, 11)))
def test_disjoint_changes_are_all_made_and_others_are_conflicts(
    one: dict[int, list[int]], other: dict[int, list[int]], ours: set[int]
) -> None:
    """Every line is unique, so that it is clear which line a change is about."""
    mine = with_changes("mine", one)
    theirs = with_changes("theirs", other)
    # Lines that both delete are a change of its own kind (rows "the-same", "the-same-and-another").
    theirs = {at: new for at, new in theirs.items() if mine.get(at) != new}
    apart = three_way(
        "".join(LINES),
        "".join(mine.get(at, line) if at in ours else line for at, line in enumerate(LINES)),
        "".join(theirs.get(at, line) if at not in ours else line for at, line in enumerate(LINES)),
    )
    assert apart.text == "".join(
        (mine if at in ours else theirs).get(at, line) for at, line in enumerate(LINES)
    )
    merge = three_way(
        "".join(LINES),
        "".join(mine.get(at, line) for at, line in enumerate(LINES)),
        "".join(theirs.get(at, line) for at, line in enumerate(LINES)),
    )
    both = mine.keys() & theirs.keys()
    assert bool(merge.conflicts) == bool(both)
    for at in both:
        assert any(LINES[at] in conflict.base for conflict in merge.conflicts)


def test_a_conflict_is_no_text() -> None:
    merge = three_way("a", "b", "c")
    assert merge == Merge(pieces=(MergeConflict(base="a", mine="b", theirs="c"),))
    assert merge.text is None


@pytest.mark.alone
def test_a_million_characters() -> None:
    pick = random.Random(1)
    lines = ["".join(pick.choices("天地玄黄宇宙洪荒", k=40)) + "\n" for _ in range(25_000)]
    mine = ["我的。\n" if at % 50 == 0 else line for at, line in enumerate(lines)]
    theirs = ["他的。\n" if at % 50 == 25 else line for at, line in enumerate(lines)]
    begin = time.process_time()
    merge = three_way("".join(lines), "".join(mine), "".join(theirs))
    assert time.process_time() - begin < 2.0
    assert merge.text is not None
    assert merge.text.count("我的") == merge.text.count("他的") == 500
