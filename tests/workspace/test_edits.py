"""Replacing quoted passages (coding-tools.md `edit`, engine.md C#9)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.workspace import EditError, unified_diff
from wenfang.workspace.edits import Edit, EditField, EditResult, apply_edits, describe_failures

NAMES: Mapping[EditField, str] = {"old": "old_text", "new": "new_text"}


def made(text: str, *pairs: tuple[str, str]) -> EditResult:
    """What the tool edit_file does."""
    edits = [Edit(old=old, new=new, match_mode="look") for old, new in pairs]
    result = apply_edits(text, edits)
    if result.failed:
        assert result.text == text
        assert result.applied == ()
        raise EditError(describe_failures(result, names=NAMES, has_occurrence=False))
    return result


def edit(text: str, *pairs: tuple[str, str]) -> str:
    return made(text, *pairs).text


# text, old, new, result; whether the match is by look only
MATCHES: dict[str, tuple[str, str, str, str, bool]] = {
    "exact": ("a b c", "b", "x", "a x c", False),
    "delete": ("a b c", " b", "", "a c", False),
    "exact-before-alike": ('“a” "a"', '"a"', "x", "“a” x", False),
    "exact-keeps-unix-line-ends": ("a\nb\r\nc\r\n", "a\nb", "x\ny", "x\ny\r\nc\r\n", False),
    "new-lines-in-a-windows-file": ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n", False),
    "windows-lines-quoted-plainly": ("a\r\nb\r\nc\n", "a\nb", "a\nx", "a\r\nx\r\nc\n", True),
    "trailing-blanks": ("a  \nb\t\nc", "a\nb\n", "a\nx\n", "a  \nx\t\nc", True),
    "smart-quotes": (
        "他说“好”，走了。",
        '他说"好"，走了',
        '他说"好"，跑了',
        "他说“好”，跑了。",
        True,
    ),
    "apostrophe": ("it’s\n", "it's", "it is", "it is\n", True),
    "dashes": ("a—b – c", "a-b - c", "a-b - d", "a—b – d", True),
    "spaces": ("a\u00a0b\u3000c", "a b c", "a b d", "a\u00a0b\u3000d", True),
    "wide-characters": (
        "价格：９元（含税）",
        "价格:9元(含税)",
        "价格:8元(含税)",
        "价格：8元（含税）",
        True,
    ),
    "ligature": ("the ﬁle", "the file", "the fine", "the ﬁne", True),
    "ligature-half-kept": ("ﬁx", "fix", "fax", "fax", True),
    "ligature-half-kept-at-the-end": ("xﬁ", "xfi", "yai", "yai", True),
    "accents-apart": ("cafe\u0301 x", "café x", "café y", "cafe\u0301 y", True),
    "accents-together": ("café x", "cafe\u0301 x", "cafe\u0301 y", "café y", True),
    "look-is-the-change": ("say “a”", 'say "a"', "say 'a'", "say 'a'", True),
    "byte-order-mark": ("\ufeffa\r\nb", "a\nb", "c\nd", "\ufeffc\r\nd", True),
    "alike-elsewhere": ("a-b\na—b\n", "a—b", "x", "a-b\nx\n", False),
}


@pytest.mark.parametrize("row", MATCHES.values(), ids=MATCHES)
def test_matches(row: tuple[str, str, str, str, bool]) -> None:
    text, old, new, result, fuzzy = row
    edited = made(text, (old, new))
    assert edited.text == result
    assert [each.match for each in edited.applied] == ["look" if fuzzy else "exact"]


REFUSALS: dict[str, tuple[str, list[tuple[str, str]], str]] = {
    "empty": ("a", [("", "x")], "edit 1: old_text is empty"),
    "same": ("a", [("a", "a")], "edit 1: old_text and new_text are the same"),
    "missing": ("a\nb", [("c", "x")], "edit 1: old_text is not in the file. Read the file"),
    "missing-after-first-line": ("x\nab\nc", [("ab\nd", "")], "first line is at line 2, but"),
    "twice": (
        "a\nb\na",
        [("a", "x")],
        "edit 1: old_text is found more than once (at lines 1 and 3)",
    ),
    "twice-overlapping": ("aaa", [("aa", "x")], "more than once"),
    "twice-alike": ("a—b\na–b", [("a-b", "x")], "more than once (at lines 1 and 2)"),
    "half-a-ligature": ("ﬁ", [("i", "x")], "not in the file"),
    "overlap": ("abc", [("ab", "x"), ("bc", "y")], "edits 1 and 2 overlap"),
    "same-passage": ("abc", [("b", "x"), ("b", "y")], "overlap"),
    "second-missing": ("abc", [("a", "x"), ("d", "y")], "edit 2: old_text is not"),
    "after-the-first": ("a", [("a", "b"), ("b", "c")], "edit 2: old_text is not"),
    "no-change": ("a b", [("a", "b"), ("b", "b")], "edit 2: old_text and new_text are the same"),
    "no-change-by-line-end": ("a\r\nb", [("a\nb", "a\nb\n"[:3])], "are the same"),
    "nothing-left-of-it": ("x\r\n", [("x", "x\r\n"), ("\r\n", "")], "would change nothing"),
}


@pytest.mark.parametrize("row", REFUSALS.values(), ids=REFUSALS)
def test_refusals(row: tuple[str, list[tuple[str, str]], str]) -> None:
    text, pairs, words = row
    with pytest.raises(EditError) as caught:
        edit(text, *pairs)
    assert words in str(caught.value)


def test_all_edits_are_matched_against_the_original() -> None:
    assert edit("one two three", ("three", "one"), ("one", "two"), ("two", "three")) == (
        "two three one"
    )


noise = st.text("ab \t\r\n“”\"'’—-\u00a0\u3000é\u0301ﬁ：:９9长\ufeff", max_size=30)


@given(noise, noise, st.text("xyz\n", min_size=1, max_size=6))
def test_bytes_outside_a_passage_stay(before: str, after: str, new: str) -> None:
    """engine.md C#9: the passage is quoted as a model would, in plain characters and line ends."""
    text = f"{before}【“it’s”—a  \r\nb】|{after}"
    result = edit(text, ('【"it\'s"-a\nb】', f"【{new}】"))
    assert result.startswith(f"{before}【")
    assert result.endswith(f"】|{after}")
    inner = result[len(before) + 1 : len(result) - len(after) - 2]
    assert inner.replace("\r\n", "\n") == new


@given(noise, noise, noise)
def test_an_edit_says_what_it_does_or_is_refused(text: str, old: str, new: str) -> None:
    try:
        edited = made(text, (old, new))
    except EditError:
        return
    if edited.applied[0].match == "exact":
        at = text.index(old)
        assert edited.text.startswith(text[:at])
        assert edited.text.endswith(text[at + len(old) :])
    assert edited.text != text


def test_a_large_text_is_searched_in_reasonable_time() -> None:
    line = "他说：“这一行很长，it’s a line—with marks。”\r\n"
    text = line * 20_000 + "the end\r\n"
    assert edit(text, ("the  end"[:3] + " end\n", "an end\n")).endswith("an end\r\n")


def test_diff() -> None:
    before = "".join(f"line {number}\n" for number in range(1, 41))
    after = (
        before.replace("line 10\n", "ten\n").replace("line 30\n", "").replace("line 12\n", "12\n")
    )
    assert unified_diff(before, after).splitlines() == [
        "@@ -6,11 +6,11 @@",
        *(f" line {number}" for number in range(6, 10)),
        "-line 10",
        "+ten",
        " line 11",
        "-line 12",
        "+12",
        *(f" line {number}" for number in range(13, 17)),
        "@@ -26,9 +26,8 @@",
        *(f" line {number}" for number in range(26, 30)),
        "-line 30",
        *(f" line {number}" for number in range(31, 35)),
    ]
    assert unified_diff("a\n", "a\n") == ""
    assert unified_diff("", "a\r\nb") == "@@ -1,0 +1,2 @@\n+a\n+b"
