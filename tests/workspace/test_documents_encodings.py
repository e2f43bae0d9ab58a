"""Bytes to text (tools.md §4.1): encodings on short and long texts, and what is no text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.problems import Problem
from wenfang.workspace.documents import read_document

ZH = "第一章 雨夜\n\n　　那天夜里下着雨，他一个人走在街上，手里提着一盏灯。\n"
ZH_HANT = "第一章 雨夜\n\n　　那天夜裡下著雨，他一個人走在街上，手裡提著一盞燈。\n"
EN = "Chapter 1\n\n“Hello,” she said — it’s fine. A café in Zürich.\n"

CASES = [
    (text, encoding)
    for text, encodings in {
        "你好，世界": ("utf-8", "utf-8-sig", "gbk", "gb18030", "big5", "utf-16", "utf-16-le", "utf-16-be", "utf-32"),
        "第一章": ("utf-8", "gbk", "utf-16", "utf-16-le"),
        "雨夜归人": ("utf-8", "gbk", "utf-16-le"),
        "他说：“走吧。”": ("utf-8", "gbk", "utf-16-le", "utf-16-be"),
        "雨": ("utf-8", "gbk"),
        "風雪": ("utf-8", "big5"),
        "hello 世界": ("utf-8", "gbk", "utf-16-le"),
        "鲍勃骈俪饕餮": ("utf-8", "gbk"),
        "㐀𠮷也是字，他说。": ("utf-8", "gb18030", "utf-16", "utf-32"),
        "「走吧。」他說。": ("utf-8", "big5", "gbk"),
        "こんにちは、世界": ("utf-8", "shift_jis", "utf-16"),
        "안녕하세요 세계": ("utf-8", "euc_kr"),
        "café": ("utf-8", "cp1252", "latin-1"),
        "naïve résumé": ("utf-8", "latin-1"),
        "créée à Noël": ("utf-8", "cp1252"),
        "Übergröße straße": ("utf-8", "latin-1"),
        "plain": ("ascii", "utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"),
        ZH: ("utf-8", "utf-8-sig", "gbk", "gb18030", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"),
        ZH_HANT: ("utf-8", "big5", "gb18030", "utf-16-le"),
        EN: ("utf-8", "cp1252", "utf-16"),
    }.items()
    for encoding in encodings
]  # fmt: skip


def text_of(data: bytes, name: str = "a.txt") -> str:
    document = read_document(name, data)
    return "\n".join(filter(None, (line for s in document.sections for line in (s.title, s.text))))


def visible(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("text", "encoding"), CASES, ids=[f"{text[:6].strip()}-{encoding}" for text, encoding in CASES]
)
def test_the_encoding_is_found(text: str, encoding: str) -> None:
    assert visible(text_of(text.encode(encoding))) == visible(text)


_COMMON_ZH = "的一是不了人我在有他这来个上们到说和地也子时道要就下得可你年生那后能对着事里去过家十用天方多都三小无同么心前面又见只没你吗，。"
_COMMON_HANT = "的一是不了人我在有他這來個上們到說和地也子時道要就下得可你年生那後能對著事裡去過家十用天方多都三小無同麼心前面又見只沒你嗎，。"


@given(
    st.text(alphabet=_COMMON_ZH, min_size=8, max_size=60).filter(lambda text: text.strip("，。"))
)
def test_everyday_chinese_is_read_in_gb18030(text: str) -> None:
    assert visible(text_of(text.encode("gb18030"))) == visible(text)


@given(
    st.text(alphabet=_COMMON_HANT, min_size=8, max_size=60).filter(lambda text: text.strip("，。"))
)
def test_everyday_chinese_is_read_in_big5(text: str) -> None:
    assert visible(text_of(text.encode("big5"))) == visible(text)


@given(st.text(min_size=1, max_size=80))
def test_valid_utf_8_is_never_taken_for_anything_else(text: str) -> None:
    data = text.encode(errors="ignore")
    try:
        shown = visible(text_of(data))
    except Problem as problem:
        assert problem.code in ("document_empty", "document_not_text", "document_unsupported")  # noqa: PT017
    else:
        for char in visible(data.decode()):
            assert char in shown or not char.isprintable()


# what comes in, the text
LINES = {
    "windows": (b"a\r\nb\r\n", "a\nb"),
    "old mac": (b"a\rb\r", "a\nb"),
    "mixed": (b"a\r\nb\rc\nd", "a\nb\nc\nd"),
    "line separator": ("a\u2028b\u2029c".encode(), "a\nb\nc"),
    "next line": ("a\u0085b".encode(), "a\nb"),
    "form feed": (b"a\x0cb", "a\nb"),
    "a zero byte": (b"one\0two " + b"x" * 100, "onetwo " + "x" * 100),
    "mark in the middle": ("a\ufeffb".encode(), "ab"),
    "two marks": (b"\xef\xbb\xbf\xef\xbb\xbfab", "ab"),
    "indent": ("　　雨".encode(), "　　雨"),
    "blank lines around": (b"\n\n  \nab\n\n", "ab"),
}


@pytest.mark.parametrize("name", LINES)
def test_line_ends_and_controls(name: str) -> None:
    data, text = LINES[name]
    assert text_of(data) == text


def test_damaged_bytes_are_replaced_and_told() -> None:
    data = ZH.encode("gb18030") * 20 + b"\xff\xff" + ZH.encode("gb18030") * 20
    document = read_document("a.txt", data)
    assert "encoding_damaged" in [each.code for each in document.warnings]
    assert visible("".join(s.title + s.text for s in document.sections)).count("一盏灯") == 40
    broken = "雨夜。".encode() * 100 + b"\xe4\xbd" + "归人。".encode() * 100
    assert "归人" in text_of(broken)


def test_a_surrogate_in_utf_16_is_replaced() -> None:
    text = text_of(
        b"\xff\xfe" + "雨夜".encode("utf-16-le") + b"\x00\xd8" + "归人".encode("utf-16-le") * 30
    )
    assert text.startswith("雨夜")
    text.encode()


def test_a_replacement_character_of_the_author_is_no_damage() -> None:
    assert read_document("a.txt", "雨\ufffd夜".encode()).warnings == ()


def test_a_guess_is_told_in_both_languages() -> None:
    (guess,) = read_document("a.txt", "雨".encode("gbk")).warnings
    assert guess.code == "encoding_guessed"
    assert "GB18030" in guess.text("zh")
    assert "GB18030" in guess.text("en")
