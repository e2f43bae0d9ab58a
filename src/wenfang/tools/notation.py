"""From arithmetic as people and models write it to a Python expression (tools.md §2.2).

The order matters: superscripts come before compatibility characters (which would turn `2²` into `22`),
thousands commas before anything that adds parentheses.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_SIGNS = str.maketrans(
    dict.fromkeys("×✕✖⋅·∙", "*")
    | dict.fromkeys("÷∕⁄", "/")
    | dict.fromkeys("−‐‑‒–—", "-")
    | {"【": "(", "】": ")", "〔": "(", "〕": ")"}
)
_NUMBER = r"(?<![\w.])(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?+"
_FRACTION = re.compile(r"(?:(?<!\d)(\d+)\s*)?([¼-¾⅐-⅞])")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_SAME = re.compile(r"[0-9. +\-*/]*")  # what both notations write alike
_WORD = string.ascii_letters + string.digits + "_."


class NotationError(ValueError):
    """The expression cannot be read. The text is for the model."""


def to_python(text: str) -> str:
    """`text` as a Python expression, the same value by the usual rules of arithmetic."""
    if not _SAME.fullmatch(text):
        for step in _STEPS:
            text = step(text)
    return text.strip()


def _question(text: str) -> str:
    return re.sub(r"\s*[=＝]\s*[?？]?\s*$", "", text)


def _superscripts(text: str) -> str:
    return re.sub(
        r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+", lambda match: f"**({match[0].translate(_SUPERSCRIPTS)})", text
    )


def _fractions(text: str) -> str:
    def write(match: re.Match[str]) -> str:
        over = unicodedata.normalize("NFKC", match[2]).replace("\u2044", "/")
        return f"({match[1]}+{over})" if match[1] else f"({over})"

    return _FRACTION.sub(write, text)


def _characters(text: str) -> str:
    text = unicodedata.normalize("NFKC", text.translate(_SIGNS)).translate(_SIGNS)
    text = text.replace("π", "pi")
    text = re.sub(rf"√\s*({_NUMBER}|pi\b)", r"sqrt(\1)", text).replace("√", "sqrt")
    return re.sub(rf"({_NUMBER})\s*°", r"(radians(\1))", text)


def _words(text: str) -> str:
    text = re.sub(r"\b(?:math|np|numpy)\.", "", text)
    text = re.sub(r"(?<=[\d)])\s*mod\b", "%", text)
    return re.sub(r"(?<=[\d)])\s+[xX]\s+(?=[\d(])", "*", text)


def _thousands(text: str) -> str:
    """Commas go where they can only group digits; inside a call or a list they separate."""
    pieces: list[str] = []
    inside: list[bool] = []  # for each open bracket: does it, or one around it, hold arguments?
    at = 0
    for match in re.finditer(r"[()\[\]]", text):
        last, at = at, match.start()
        pieces.append(_grouped(text[last:at], inside))
        if match[0] in "([":
            is_call = match[0] == "[" or bool(re.search(r"[A-Za-z_]\w*\s*$", text[last:at]))
            inside.append(is_call or (bool(inside) and inside[-1]))
        elif inside:
            inside.pop()
    return "".join((*pieces, _grouped(text[at:], inside)))


def _grouped(piece: str, inside: list[bool]) -> str:
    if inside and inside[-1]:
        return piece
    return _THOUSANDS.sub(lambda match: match[0].replace(",", ""), piece)


_POSTFIX = re.compile(r"!(?!=)|%(?=\s*(?:$|[-+*/^,)\]%!]))")


def _postfix(text: str) -> str:
    """`5!` becomes a call; `5%` becomes a hundredth where no right operand follows."""
    at = 0
    while match := _POSTFIX.search(text, at):
        before = text[: match.start()].rstrip()
        start = _operand(before)
        if start == len(before):
            raise NotationError(f"{match[0]!r} needs a number before it.")
        if text.startswith("!!", match.start()):
            raise NotationError("'!!' is not supported; write factorial(n) for n!.")
        operand = before[start:]
        new = f"factorial({operand})" if match[0] == "!" else f"({operand}/100)"
        text = text[:start] + new + text[match.end() :]
        at = start + len(new)
    return text


def _operand(text: str) -> int:
    """Where the number, name or bracket at the end of `text` begins."""
    if text.endswith(")"):
        depth = 0
        for at in range(len(text) - 1, -1, -1):
            depth += (text[at] == ")") - (text[at] == "(")
            if not depth:
                return len(text[:at].rstrip(_WORD))
    start = len(text.rstrip(_WORD))
    if re.search(r"\d[eE][+-]$", text[:start]):  # the exponent of 1e-5
        start = len(text[: start - 1].rstrip(_WORD))
    return start


def _products(text: str) -> str:
    text = re.sub(rf"({_NUMBER})\s*(?=[A-Za-z_(])", r"\1*", text)
    return re.sub(r"\)\s*(?=[\w(])", ")*", text)


def _powers(text: str) -> str:
    return text.replace("^", "**")


_STEPS: tuple[Callable[[str], str], ...] = (
    *(_question, _superscripts, _fractions, _characters, _words, _thousands),
    *(_postfix, _products, _powers),
)
