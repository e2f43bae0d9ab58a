"""Headings in words (studio.md upload, writing.md UI-7, TB-4): what is one, and prose that only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.lang import PACKS, read_heading

# line -> kind, number
HEADINGS: dict[str, tuple[str, int | None]] = {
    "第十二章": ("chapter", 12),
    "第十二章 风雪夜": ("chapter", 12),
    "第十二章风雪夜": ("chapter", 12),
    "第十二章：风雪夜，归人！": ("chapter", 12),
    "第１２章　风雪夜": ("chapter", 12),
    "第3回": ("chapter", 3),
    "第 3 章 开端": ("chapter", 3),
    "第一回 甄士隐梦幻识通灵 贾雨村风尘怀闺秀": ("chapter", 1),
    "第一百零八章 聚义": ("chapter", 108),
    "第两千三百章": ("chapter", 2300),
    "第廿一章 别": ("chapter", 21),
    "第二〇三章": ("chapter", 203),
    "【第七章】雪": ("chapter", 7),
    "正文 第七章 雪": ("chapter", 7),
    "第一卷 风起 第三章 初遇": ("chapter", 3),
    "卷一 风起 第三章 初遇": ("chapter", 3),
    "第五章（上）": ("chapter", 5),
    "第五章 雪（完）": ("chapter", 5),
    "第1集 雨夜": ("chapter", 1),
    "第一卷": ("part", 1),
    "第二卷 星海": ("part", 2),
    "卷三 归途": ("part", 3),
    "上卷": ("part", None),
    "第二節": ("section", 2),
    "第3场 内景 茶馆 夜": ("section", 3),
    "场景4：码头": ("section", 4),
    "序章": ("extra", None),
    "楔子 雨": ("extra", None),
    "尾声": ("extra", None),
    "番外一 雪夜": ("extra", 1),
    "番外：灯": ("extra", None),
    "後記": ("extra", None),
    "Chapter 12": ("chapter", 12),
    "chapter twelve": ("chapter", 12),
    "CHAPTER XII": ("chapter", 12),
    "CHAPTER I. Down the Rabbit-Hole": ("chapter", 1),
    "Chapter Twenty-One: The Road": ("chapter", 21),
    "Chapter One Hundred and Five": ("chapter", 105),
    "Chapter the First": ("chapter", 1),
    "Chapter 3 The Long Night": ("chapter", 3),
    "Part One": ("part", 1),
    "BOOK II": ("part", 2),
    "Act 3": ("part", 3),
    "Scene 4": ("section", 4),
    "Prologue": ("extra", None),
    "EPILOGUE": ("extra", None),
    "Prologue: The Storm": ("extra", None),
    "INT. TEA HOUSE - NIGHT": ("section", None),
    "EXT. 码头 - 夜": ("section", None),
}

PROSE = [
    "第三章里他写道，人生如梦",
    "第三章的内容很简单",
    "他翻到第三章，停住了。",
    "第三章 他走了。",
    "第一次见面",
    "第二天",
    "第一部分的内容",
    "第三章完",
    "第三章 完",
    "（第三章完）",
    "第二场雪下了一整夜，镇上的人都没有出门。",
    "序幕拉开了",
    "尾声渐渐远去",
    "前言不搭后语",
    "卷起袖子",
    "上部分",
    "跋涉",
    "Chapter 12 of the book was torn out",
    "Chapter 12 was the one she liked.",
    "chapter 12 begins with rain",
    "Part of the crowd left",
    "Part I knew by heart",
    "Book a table for two",
    "Act now",
    "Act one's curtain fell",
    "Introduction to the matter",
    "Prologue and epilogue are the same",
    "Scene of the crime",
    "Internal memo",
    "",
    "他说：“第三章",
]


@pytest.mark.parametrize("line", HEADINGS)
def test_UI_7_a_heading(line: str) -> None:
    heading = read_heading(line)
    assert heading is not None
    assert (heading.kind, heading.number, heading.is_bare) == (*HEADINGS[line], False)


@pytest.mark.parametrize("line", PROSE)
def test_UI_7_prose_is_no_heading(line: str) -> None:
    assert read_heading(line) is None


@pytest.mark.parametrize(
    ("line", "number"), [("12", 12), ("XII", 12), ("十二", 12), ("3.", 3), ("三、", 3)]
)
def test_UI_7_a_number_alone_is_marked_as_such(line: str, number: int) -> None:
    heading = read_heading(line)
    assert heading is not None
    assert heading.is_bare
    assert heading.number == number


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0, "零"),
        (7, "七"),
        (10, "十"),
        (12, "十二"),
        (20, "二十"),
        (101, "一百零一"),
        (110, "一百一十"),
        (1003, "一千零三"),
        (2300, "二千三百"),
    ],
)
def test_TB_4_numbers_in_chinese(number: int, written: str) -> None:
    assert PACKS["zh"].write_number(number) == written


@given(st.integers(0, 9999))
def test_TB_4_numbers_are_read_as_written(number: int) -> None:
    for pack in PACKS.values():
        assert pack.read_number(pack.write_number(number)) == number
        assert pack.read_number(str(number)) == number


@given(st.integers(1, 3999))
def test_TB_4_roman_numbers(number: int) -> None:
    figures = ""
    rest = number
    for value, figure in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    ):
        figures += figure * (rest // value)
        rest %= value
    assert PACKS["en"].read_number(figures) == number


@given(st.text(max_size=60))
def test_no_line_breaks_a_pack(line: str) -> None:
    for pack in PACKS.values():
        heading = pack.read_heading(line)
        assert heading is None or heading.number is None or heading.number >= 0
        number = pack.read_number(line)
        assert number is None or number >= 0
