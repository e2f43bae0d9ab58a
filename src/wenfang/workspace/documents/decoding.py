"""Bytes of a text file to text: which encoding it is, and what in it is no text.

Rules first, because statistics fail on short texts (tools.md §4.1): byte order mark, strict UTF-8, zero
bytes, then the encodings of the table, each scored by how ordinary its characters would be. Latin
letters in other encodings than Windows-1252 are left to charset-normalizer.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from wenfang.problems import Problem

from .limits import Budget
from .values import DocumentWarning, warning

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES = 64_000
_MOST_DAMAGED = 0.02
_LEAST_ORDINARY = 0.6
_RARE = 0.65
_SURE = 0.85
_SURE_CHARS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Script:
    """An encoding whose characters have two bytes. `blocks` are the ranges of codes, both ends included,
    where its everyday characters lie; `frequent` are those that a longer text is full of; `rare` is where
    the characters of the standard lie that few words need."""

    encoding: str
    blocks: tuple[tuple[int, int], ...]
    frequent: frozenset[str]
    rare: tuple[tuple[int, int], ...] = ()


_SIMPLIFIED = (
    "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如"
    "然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从她你吗呢吧啊第章回卷雨夜风雪手头话问"
)
_TRADITIONAL = (
    "的一是不了人我在有他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生自會那後能對著事其裡所去行過家十用發天如"
    "然作方成者多日都三小軍二無同麼經法當起與好看學進種將還分此心前面又定見只主沒公從她妳嗎呢吧啊第章回卷雨夜風雪手頭話問"
)
_KANA = "のにはをたがでてとしれさあるいうもなこからまよりきんえおけすせそちつねふへほみむめやわらりるろ、。「」ー"
_COMMON = frozenset(_SIMPLIFIED + _TRADITIONAL + "，。！？：“”")
_HANGUL = "이다는에을의가고하지로기도한를사리서나어해자은대시인그있만과일들아라수보정"

_SCRIPTS: Final = (
    _Script(
        encoding="gb18030",
        blocks=((0xA1A1, 0xA1BF), (0xA3A1, 0xA3FE), (0xB0A1, 0xD7F9)),
        frequent=frozenset(_SIMPLIFIED),
        rare=((0xD8A1, 0xF7FE),),
    ),
    _Script(
        encoding="big5hkscs",
        blocks=((0xA140, 0xA3BF), (0xA440, 0xC67E)),
        frequent=frozenset(_TRADITIONAL),
        rare=((0xC940, 0xF9D5),),
    ),
    _Script(
        encoding="cp932",
        blocks=((0x8141, 0x8169), (0x824F, 0x82F1), (0x8340, 0x8396), (0x889F, 0x9872)),
        frequent=frozenset(_KANA),
    ),
    _Script(
        encoding="cp949",
        blocks=((0xA1A1, 0xA1FE), (0xB0A1, 0xC8FE)),
        frequent=frozenset(_HANGUL),
    ),
)
# What the names of encodings are called in front of people.
_SHOWN: Final = {
    "gb18030": "GB18030",
    "big5hkscs": "Big5",
    "cp932": "Shift-JIS",
    "cp949": "EUC-KR",
    "cp1252": "Windows-1252",
}
_ENDS = re.compile("\r\n?|[\u2028\u2029\x85\x0b\x0c]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f\ufeff\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
# Accents and typographic marks of Windows-1252 as they stand in words: one or two between plain letters.
_ACCENTED = re.compile("(?<![^\x00-\x7f])[^\x00-\x7f]{1,2}(?![^\x00-\x7f])")
_WIDE = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef\u2010-\u2027 -~\n\r\t]")
_HAN = re.compile("[\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """`text` has "\\n" as its only line end, and no control characters but tab."""

    text: str
    warnings: tuple[DocumentWarning, ...] = ()


def decode(data: bytes, budget: Budget, declared: str = "") -> Decoded:
    """The text in `data`. `declared` is the encoding that the data names itself, which is believed if it
    fits. Raises `Problem` (`document_empty`, `document_not_text`, those of the limits)."""
    if not data.strip(b"\0"):
        raise Problem("document_empty", name=budget.name)
    encoding, mark, is_guess = find_encoding(data, declared)
    text = data[mark:].decode(encoding, errors="replace")
    shown = _SHOWN.get(encoding, encoding.upper())
    warnings = [warning("encoding_guessed", encoding=shown)] if is_guess else []
    damaged = text.count("\ufffd") - _count(data, "\ufffd".encode(encoding, errors="ignore"))
    if damaged > 1 and damaged > _MOST_DAMAGED * len(text):
        raise Problem("document_not_text", name=budget.name)
    if damaged > 0:
        warnings.append(warning("encoding_damaged", count=damaged, encoding=shown))
    return _cleaned(text, warnings, budget)


def clean(text: str) -> str:
    """Text of any source: one kind of line end, nothing that no file can hold."""
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", _ENDS.sub("\n", text)))


def find_encoding(data: bytes, declared: str = "") -> tuple[str, int, bool]:
    """Encoding, length of its mark, and whether it is only a guess."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, len(mark), False
    sample = data[:_SAMPLE_BYTES]
    if wide := _zeros_show(sample):
        return wide, 0, False
    if _damage(data, "utf-8") == 0:
        return "utf-8", 0, False
    if declared and _fits(data, declared):
        return declared, 0, False
    encoding, score, chars = max(_scores(sample), key=lambda each: each[1])
    if score >= _LEAST_ORDINARY:
        return encoding, 0, score < _SURE or chars < _SURE_CHARS
    return _by_statistics(sample), 0, True


def _zeros_show(sample: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark: the zero bytes of its plain characters lie at regular places."""
    size = len(sample) // 4 * 4 or len(sample)
    zeros = [sample[place:size:4].count(0) / max(1, size // 4) for place in range(4)]
    if size >= 4 and not len(sample) % 4:
        if min(zeros[2], zeros[3]) > 0.9 and zeros[0] < 0.5:
            return "utf-32-le"
        if min(zeros[0], zeros[1]) > 0.9 and zeros[3] < 0.5:
            return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if max(even, odd) > 0.2 and min(even, odd) < 0.05 and sample.count(0) > 1:
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _scores(sample: bytes) -> Iterator[tuple[str, float, int]]:
    """Each encoding with how ordinary the text would be in it (1 is an everyday text), and how many of
    its characters say so."""
    yield "utf-8", 1.1 - 10 * _damage(sample, "utf-8"), len(sample)
    for script in _SCRIPTS:
        text = _start(sample, script.encoding)
        special = [char for char in text if char > "\x7f"]
        ordinary, rare = (
            _characters(script.encoding, script.blocks),
            _characters(script.encoding, script.rare),
        )
        weight = sum((char in ordinary) + _RARE * (char in rare) for char in special)
        share = weight / max(1, len(special))
        frequent = sum(char in script.frequent for char in special) / max(1, len(special))
        yield script.encoding, share + frequent / 2, len(special)
    for encoding in ("utf-16-le", "utf-16-be"):
        text = _start(sample, encoding)
        fits = len(_WIDE.findall(text)) == len(text) and len(_HAN.findall(text)) > len(text) / 3
        frequent = sum(char in _COMMON for char in text) / max(1, len(text))
        yield encoding, (0.7 + frequent) if fits else 0.0, len(text)
    text = _start(sample, "cp1252")
    special = [char for char in text if char > "\x7f"]
    accented = sum(len(found) for found in _ACCENTED.findall(text))
    yield "cp1252", 0.95 * accented / max(1, len(special)), len(special)


@cache
def _characters(encoding: str, blocks: tuple[tuple[int, int], ...]) -> frozenset[str]:
    codes = (
        code.to_bytes(2, "big").decode(encoding, errors="ignore")
        for first, last in blocks
        for code in range(first, last + 1)
    )
    return frozenset(char for char in codes if len(char) == 1 and char > "\x7f")


def _start(sample: bytes, encoding: str) -> str:
    """The sample's text; a character that the sample cuts in two is left out."""
    return codecs.getincrementaldecoder(encoding)("replace").decode(sample)


def _damage(data: bytes, encoding: str) -> float:
    """The share of bytes that are not valid in `encoding`; 0 is exactly "it decodes"."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        broken = _start(data[:_SAMPLE_BYTES], encoding).count("\ufffd")
        return max(broken, 0.5) / min(len(data), _SAMPLE_BYTES)
    return 0


def _fits(data: bytes, encoding: str) -> bool:
    try:
        return _damage(data, encoding) == 0
    except LookupError:  # there is no such encoding, or it is none of text
        return False


def _by_statistics(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    return best.encoding if best is not None else "cp1252"


def _count(data: bytes, part: bytes) -> int:
    return data.count(part) if part else 0


def _cleaned(text: str, warnings: list[DocumentWarning], budget: Budget) -> Decoded:
    budget.take_chars(len(text))
    shown, dropped = _CONTROLS.subn("", text)
    cleaned = clean(shown)
    if dropped > 8 and dropped > _MOST_DAMAGED * len(text):
        raise Problem("document_not_text", name=budget.name)
    if dropped:
        warnings.append(warning("control_characters_dropped", count=dropped))
    if not cleaned.strip():
        raise Problem("document_empty", name=budget.name)
    budget.take_lines(cleaned.count("\n"))
    return Decoded(text=cleaned, warnings=tuple(warnings))
