"""Chinese: numbers in characters, and the headings of novels, scripts and reports."""

from __future__ import annotations

import re
from typing import Final

from .values import Heading, UnitKind

_DIGITS: Final = {
    char: value
    for value, chars in enumerate(
        ("零〇０0", "一壹１1", "二贰貳两兩２2", "三叁參３3", "四肆４4", "五伍５5", "六陆陸６6", "七柒７7", "八捌８8", "九玖９9")
    )
    for char in chars
}  # fmt: skip
_TENS: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_SHORT_TENS: Final = {"廿": "二十", "卅": "三十"}
_LARGE: Final = {"万": 10_000, "萬": 10_000}

_NUMBER = "[" + "".join([*_DIGITS, *_TENS, *_SHORT_TENS, *_LARGE]) + "]{1,9}"
_UNITS: Final[dict[str, UnitKind]] = {
    **dict.fromkeys("卷部篇册冊季", "part"),
    **dict.fromkeys("章回集话話折", "chapter"),
    **dict.fromkeys("节節场場幕", "section"),
}
_SEPARATOR = r"[\s:：、.．·—–\-_|]"
# 卷一 风起 第三章 初遇: what stands before the chapter is its volume, not another heading.
_LEAD = rf"(?:正文|章节目录)?{_SEPARATOR}*(?:(?:第{_NUMBER}[卷部篇册冊季]|卷{_NUMBER})[^第。，]{{0,20}}?\s+)?"
_NUMBERED = re.compile(
    rf"[【\[《（(]?{_LEAD}第\s*(?P<number>{_NUMBER})\s*(?P<unit>[{''.join(_UNITS)}])(?P<rest>.*)"
)
_VOLUME = re.compile(rf"(?:卷\s*(?P<number>{_NUMBER})|[上中下终][卷部篇册])(?P<rest>.*)")
_SCENE = re.compile(rf"场景\s*(?P<number>{_NUMBER})(?P<rest>.*)")
_EXTRA = re.compile(
    r"(?:序章|序幕|序言|序曲|自序|代序|楔子|引子|引言|前言|前传|尾声|尾聲|终章|終章|终曲|番外篇?|外传|外傳|后记|後記|附录|附錄"
    rf"|完本感言|致谢|序|跋)(?P<number>{_NUMBER})?(?P<rest>.*)"
)
_SET_APART: Final[tuple[tuple[re.Pattern[str], UnitKind], ...]] = (
    (_VOLUME, "part"),
    (_SCENE, "section"),
    (_EXTRA, "extra"),
)
_BARE = re.compile(rf"{_NUMBER}[、.．]?")
# Nearly all lines are prose and told by their first character.
_BEGINNINGS: Final = frozenset(
    [
        *"第卷上中下终終正章场序自代楔引前尾番外附后後完致跋【[《（(",
        *_DIGITS,
        *_TENS,
        *_SHORT_TENS,
        *_LARGE,
    ]
)
_LONGEST = 45
_LONGEST_JOINED = 20
_ENDS_A_SENTENCE = re.compile(r"[。，；、,;]$|。.")
_CLOSES_A_CHAPTER = re.compile(
    rf"{_SEPARATOR}*[（(]?(?:完|终|終|结束|未完|待续|上|中|下)?[)）]?{_SEPARATOR}*"
)
# 第三章的内容, 第三章里写道: prose that goes on about a chapter.
_GOES_ON = re.compile(r"[的里裡是讲写说，,。；;]|以[前后来]|之[前后]|开始|结束|中的")
# 第一部分, 第二节课: the unit is only the beginning of another word.
_ANOTHER_WORD = re.compile(
    r"部[分门队位]|节[课目日]|季度|集团|话题|回合|场[比戏雪雨次地]|卷[轴子]|篇文"
)


class Chinese:
    """The pack of simplified and traditional Chinese."""

    untitled = "未命名"
    unfinished = "（未写完）"

    def read_heading(self, line: str) -> Heading | None:
        if line[:1] not in _BEGINNINGS or len(line) > _LONGEST:
            return None
        if _BARE.fullmatch(line):
            return Heading(
                kind="chapter", number=self.read_number(line.rstrip("、.．")), is_bare=True
            )
        if _ENDS_A_SENTENCE.search(line):
            return None
        if (found := _NUMBERED.fullmatch(line)) and _is_title(found["unit"], found["rest"]):
            return Heading(kind=_UNITS[found["unit"]], number=self.read_number(found["number"]))
        for pattern, kind in _SET_APART:
            if (found := pattern.fullmatch(line)) and _stands_apart(found["rest"]):
                number = found["number"]
                return Heading(kind=kind, number=self.read_number(number) if number else None)
        return None

    def read_number(self, words: str) -> int | None:
        for char, written in _SHORT_TENS.items():
            words = words.replace(char, written)
        if words and all(char in _DIGITS for char in words):
            return int("".join(str(_DIGITS[char]) for char in words))
        return _read_places(words)

    def write_number(self, number: int) -> str:
        written, skipped = "", False
        for place, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit = number // place % 10
            if digit:
                written += (
                    ("零" if skipped and written else "") + "零一二三四五六七八九"[digit] + name
                )
            skipped = not digit
        return written.removeprefix("一") if 10 <= number < 20 else written or "零"


def _read_places(words: str) -> int | None:
    """一千二百零三: digits, each followed by its place. The digits may be Arabic (3千)."""
    total = below = 0
    digit: int | None = None
    for char in words:
        if char in _DIGITS:
            digit = (digit or 0) * 10 + _DIGITS[char]
        elif char in _TENS:
            below += (1 if digit is None else digit) * _TENS[char]
            digit = None
        elif char in _LARGE:
            total = (total + below + (digit or 0)) * _LARGE[char]
            below, digit = 0, None
        else:
            return None
    return total + below + (digit or 0) if words else None


def _is_title(unit: str, rest: str) -> bool:
    """Whether what follows 第十二章 is its title, and not prose or the mark that the chapter is over."""
    if not rest or re.fullmatch(r"[】\]》）):：]", rest):
        return True
    if re.match(_SEPARATOR, rest) or rest[0] in "】]》）)《「『“（(【":
        return not re.fullmatch(rf"{_SEPARATOR}*[（(]?(?:完|终|結束|结束|未完|待续)[)）]?", rest)
    if _CLOSES_A_CHAPTER.fullmatch(rest):
        return rest in ("上", "中", "下") or rest[0] in "（("
    if _GOES_ON.match(rest) or _ANOTHER_WORD.match(unit + rest[0]):
        return False
    return len(rest) <= _LONGEST_JOINED


def _stands_apart(rest: str) -> bool:
    """These words begin sentences too: a title after them must be set off."""
    return not rest or re.match(rf"{_SEPARATOR}+\S|[（(《【].*[)）》】]$", rest) is not None
