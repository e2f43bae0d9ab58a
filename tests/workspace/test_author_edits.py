"""What a person changed since an AI wrote (writing.md TL-15, AE-1, AE-2), and differences in general."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wenfang.workspace import unified_diff
from wenfang.workspace.edits import Edit, Span, apply_edits
from wenfang.workspace.project import Actor, Hunk, author_edits, is_author_text, touched


def told(hunk: Hunk) -> str:
    marks = {"equal": "{}", "removed": "[-{}-]", "added": "[+{}+]"}
    return "".join(marks[part.kind].format(part.text) for part in hunk.parts)


# the AI's text, the text now, what is told of each difference
ROWS: dict[str, tuple[str, str, list[str]]] = {
    "AE-1-nothing": ("一。\n\n二。", "一。\n\n二。", []),
    "AE-1-a-word": ("一。\n\n老人看着大海。\n\n三。", "一。\n\n老人望着大海。\n\n三。", ["老人[-看-][+望+]着大海。"]),
    "AE-1-a-word-of-letters": ("He walked home late.", "He walks home late.", ["He [-walked-][+walks+] home late."]),
    "AE-1-two-places": (
        "老人看着大海，风从北边吹来，他没有说话。",
        "老人望着大海，风从南边吹来，他没有说话。",
        ["老人[-看-][+望+]着大海，风从[-北-][+南+]边吹来，他没有说话。"],
    ),
    "AE-1-hardly-anything-between": ("我们今天去看海吧好吗", "我们明天去听海吧好吗", ["我们[-今天去看-][+明天去听+]海吧好吗"]),
    "AE-1-a-new-paragraph": ("一。\n\n三。", "一。\n\n二。\n\n三。", ["[+二。+]"]),
    "AE-1-a-paragraph-less": ("一。\n\n二。\n\n三。", "一。\n\n三。", ["[-二。-]"]),
    "AE-1-another-paragraph": ("一。\n春天来了。\n三。", "一。\nNothing here.\n三。", ["[-春天来了。-][+Nothing here.+]"]),
    "AE-1-all-is-new": ("", "一。\n二。", ["[+一。\n二。+]"]),
    "AE-1-all-is-gone": ("一。\n", "", ["[-一。-]"]),
    "AE-1-line-ends-are-none": ("一。\r\n二。\r\n", "一。\n二。", []),
    "AE-1-blank-lines-are-none": ("一。\n二。", "一。\n\n\n二。\n", []),
    "AE-1-lone-returns": ("一。\r二。\r三。", "一。\r贰。\r三。", ["[-二-][+贰+]。"]),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_author_edits(row: tuple[str, str, list[str]]) -> None:
    ai_text, now_text, expected = row
    hunks = author_edits(ai_text, now_text)
    assert [told(hunk) for hunk in hunks] == expected
    holds(ai_text, now_text, hunks)


def holds(ai_text: str, now_text: str, hunks: Sequence[Hunk]) -> None:
    """The parts of a hunk are what stands at its spans; between the hunks only blanks differ."""
    at, now_at = 0, 0
    for hunk in (*hunks, None):
        before = hunk.before if hunk else Span(start=len(ai_text), end=len(ai_text))
        after = hunk.after if hunk else Span(start=len(now_text), end=len(now_text))
        assert ai_text[at : before.start].split() == now_text[now_at : after.start].split()
        at, now_at = before.end, after.end
        if hunk:
            for skipped, span, text in (("added", before, ai_text), ("removed", after, now_text)):
                kept = "".join(part.text for part in hunk.parts if part.kind != skipped)
                assert kept == text[span.start : span.end]


paragraphs = st.lists(
    st.sampled_from(["", "　　老人看着大海。", "老人望着海。", "He walked.", "He walks on.", "“好”", "\t"]),
    max_size=9,
).map("\n".join)  # fmt: skip
anything = st.text("ab 老人海。\n\r\u3000\U0001f600", max_size=40)


@given(paragraphs | anything, paragraphs | anything)
def test_ae_1_parts_give_both_texts(ai_text: str, now_text: str) -> None:
    hunks = author_edits(ai_text, now_text)
    holds(ai_text, now_text, hunks)
    if ai_text.split() != now_text.split():
        assert hunks


TEXT = "一。\n\n作者写的。\n\n三。"
# spans of edits, whether the second paragraph (4 to 9) is touched
TOUCHES: dict[str, tuple[list[tuple[int, int]], bool]] = {
    "TL-15-inside": ([(5, 6)], True),
    "TL-15-across-its-begin": ([(0, 5)], True),
    "TL-15-all-of-it": ([(4, 9)], True),
    "TL-15-more-than-it": ([(0, 13)], True),
    "TL-15-put-in": ([(6, 6)], True),
    "TL-15-put-before": ([(4, 4)], False),
    "TL-15-put-behind": ([(9, 9)], False),
    "TL-15-neighbours": ([(0, 4), (9, 13)], False),
    "TL-15-one-of-many-in-any-order": ([(11, 12), (8, 9), (0, 1)], True),
    "TL-15-nothing": ([], False),
}


@pytest.mark.parametrize("row", TOUCHES.values(), ids=TOUCHES)
def test_touched(row: tuple[list[tuple[int, int]], bool]) -> None:
    spans, expected = row
    hunks = author_edits("一。\n\n二。\n\n三。", TEXT)
    assert [(hunk.after.start, hunk.after.end) for hunk in hunks] == [(4, 9)]
    found = touched([Span(start=start, end=end) for start, end in spans], hunks)
    assert found == (hunks if expected else ())


def test_tl_15_what_an_edit_only_quotes_is_not_touched() -> None:
    hunks = author_edits("一。\n\n二。\n\n三。", TEXT)
    edits = [
        Edit(old="作者写的。\n\n三。", new="作者写的。\n\n四。"),
        Edit(op="append", text="五。"),
    ]
    result = apply_edits(TEXT, edits)
    assert touched([each.span_before for each in result.applied], hunks) == ()


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), max_size=6),
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 4)), max_size=5),
)
def test_tl_15_as_the_definition_says(
    edits: list[tuple[int, int]], lengths: list[tuple[int, int]]
) -> None:
    spans: list[Span] = []
    for start, length in sorted(edits):
        if not spans or start >= spans[-1].end:
            spans.append(Span(start=start, end=start + length))
    hunks: list[Hunk] = []
    at = 0
    for gap, length in lengths:
        at += gap
        hunks.append(
            Hunk(before=Span(start=0, end=0), after=Span(start=at, end=at + length), parts=())
        )
        at += length

    def meets(span: Span, own: Span) -> bool:
        return span.start < own.end and own.start < span.end

    expected = [hunk for hunk in hunks if any(meets(span, hunk.after) for span in spans)]
    assert list(touched(spans[::-1], hunks)) == expected


# text, latest version, its actor, whether the text counts as the author's
AUTHORED: dict[str, tuple[str, str | None, Actor | None, bool]] = {
    "AE-2-by-the-ai": ("一", "一", "ai", False),
    "AE-2-changed-since": ("一二", "一", "ai", True),
    "AE-2-by-the-author": ("一", "一", "author", True),
    "AE-2-kept-by-the-system": ("一", "一", "system", True),
    "AE-2-blank": (" \n", "一", "author", False),
    "AE-2-no-version": ("一", None, None, False),
    "AE-2-version-of-unknown-origin": ("一", "一", None, True),
}


@pytest.mark.parametrize("row", AUTHORED.values(), ids=AUTHORED)
def test_is_author_text(row: tuple[str, str | None, Actor | None, bool]) -> None:
    text, latest, actor, expected = row
    assert is_author_text(text, latest=latest, actor=actor) is expected


# Differences line by line

lines = st.lists(st.sampled_from("abcd"), max_size=14)


@given(lines, lines)
def test_a_diff_is_a_patch(old: list[str], new: list[str]) -> None:
    before, after = ("".join(f"{line}\n" for line in each) for each in (old, new))
    result: list[str] = []
    at = 0
    for row in unified_diff(before, after, context=1).splitlines():
        if row.startswith("@@"):
            start, count = (int(number) for number in row.split()[1][1:].split(","))
            result += old[at : start - 1]
            at = start - 1
            assert count >= 0
        elif row[0] == "+":
            result.append(row[1:])
        else:
            assert row[1:] == old[at]
            result += [row[1:]] if row[0] == " " else []
            at += 1
    assert result + old[at:] == new


@given(lines, lines)
@example(list("cab"), list("cab"))
def test_a_diff_without_unique_lines_is_the_shortest(old: list[str], new: list[str]) -> None:
    """Other ends on each side keep the parts whole: where equal ends are cut off, a line may become unique."""
    old, new = ["x", *old, *old, "x"], ["y", *new, *new, "y"]
    before, after = ("".join(f"{line}\n" for line in each) for each in (old, new))
    diff = unified_diff(before, after).splitlines()
    changed = sum(row[0] in "+-" for row in diff)
    assert changed == len(old) + len(new) - 2 * common(old, new)


def common(old: Sequence[str], new: Sequence[str]) -> int:
    row = [0] * (len(new) + 1)
    for one in old:
        above = row[:]
        for at, other in enumerate(new, 1):
            row[at] = above[at - 1] + 1 if one == other else max(above[at], row[at - 1])
    return row[-1]


# Speed


def prose(size: int) -> list[str]:
    pick = random.Random(1)
    return [
        "　　"
        + "".join(chr(pick.randrange(0x4E00, 0x6E00)) for _ in range(pick.randrange(20, 160)))
        for _ in range(size // 92)
    ]


def novel() -> tuple[str, str]:
    old = prose(1_000_000)
    new = [line[:10] + "改" + line[12:] if at % 40 == 0 else line for at, line in enumerate(old)]
    return "\n\n".join(old), "\n\n".join(new)


def shuffled() -> tuple[str, str]:
    old = prose(1_000_000)
    return "\n\n".join(old), "\n\n".join(random.Random(2).sample(old, len(old)))


def repeated() -> tuple[str, str]:
    return "a\nb\n" * 250_000, "b\na\na\n" * 166_000


def one_line() -> tuple[str, str]:
    text = "".join(prose(1_000_000))
    return text, text[:500] + "改" + text[:999_000] + "改"


def nested() -> tuple[str, str]:
    """Each round of unique lines finds but one."""
    half = [str(number) for number in range(20_000)]
    return "\n".join(half + half[::-1]), "\n".join(half[::-1] + half)


@pytest.mark.alone
@pytest.mark.parametrize("make", [novel, shuffled, repeated, one_line, nested])
def test_ae_1_a_million_characters(make: object) -> None:
    assert callable(make)
    ai_text, now_text = make()
    begin = time.process_time()
    hunks = author_edits(ai_text, now_text)
    assert time.process_time() - begin < 3.0
    assert hunks
    begin = time.process_time()
    assert unified_diff(ai_text, now_text)
    assert time.process_time() - begin < 3.0
    if make is novel:
        assert len(hunks) == len(prose(1_000_000)) // 40 + 1
