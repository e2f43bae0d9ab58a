"""Counting words (writing.md RV-2) and telling languages apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.lang import count_words, detect_language

COUNTS = {
    "": 0,
    "雨夜归人": 4,
    "雨夜，归人。": 4,
    "Rain fell.": 2,
    "don't stop": 2,
    "他说 hello world，走了": 6,
    "2026年11月30日": 3,
    "12345 --- ***": 0,
    "café": 1,
    "𠮷": 0,
}


@pytest.mark.parametrize("text", COUNTS)
def test_RV_2_words(text: str) -> None:
    assert count_words(text) == COUNTS[text]


@given(st.text(alphabet="雨夜归 ab，。1\n"), st.text(alphabet="雨夜归 ab，。1\n"))
def test_RV_2_lines_add_up(one: str, two: str) -> None:
    assert count_words(f"{one}\n{two}") == count_words(one) + count_words(two)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("雨夜归人", "zh"),
        ("Rain at night", "en"),
        ("用 Python 写 agent 的人", "zh"),
        ("12 *", None),
        ("", None),
    ],
)
def test_the_language_of_a_text(text: str, language: str | None) -> None:
    assert detect_language(text) == language
