"""Counting and telling languages apart: rules that hold for a text of any language."""

from __future__ import annotations

import re

from wenfang.problems import Language

# writing.md RV-2: each of these characters is a word of its own, and so is each run of Latin letters.
_HAN = re.compile("[\u4e00-\u9fa5]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’][A-Za-z\u00c0-\u024f]+)*")
_SAMPLE_CHARS = 20_000
_HAN_SHARE = 0.2


def count_words(text: str) -> int:
    """Words as an author counts them: CJK characters one each, each Latin run one, digits and
    symbols none (writing.md RV-2)."""
    return len(_HAN.findall(text)) + len(_LATIN.findall(text))


def detect_language(text: str) -> Language | None:
    """The language that most words of the beginning are in; None if there are no words in it."""
    sample = text[:_SAMPLE_CHARS]
    han, latin = len(_HAN.findall(sample)), len(_LATIN.findall(sample))
    if not han + latin:
        return None
    return "zh" if han >= _HAN_SHARE * (han + latin) else "en"
