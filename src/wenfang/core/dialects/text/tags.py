"""Tags and special tokens, recognised by what they are when blanks, separators, case, invisible
characters and the kind of bar are left aside: `< Tool_Name >` and `<tool_name>` are one tag, and so
are `<｜tool▁call▁begin｜>` and `<|tool_call_begin|>`."""

from __future__ import annotations

import re
from typing import NamedTuple

from .source import INVISIBLE, MORE, Source, Steps, Wait

MAX_TAG = 160  # characters

# Canonical form -> kind. A kind that starts with "/" closes.
TAGS: dict[str, str] = {
    "<toolname>": "tool_name",
    "</toolname>": "/tool_name",
    "<arguments>": "arguments",
    "</arguments>": "/arguments",
    "<finalanswer>": "final_answer",
    "</finalanswer>": "/final_answer",
    "<toolresult>": "result",
    "</toolresult>": "/result",
    "<think>": "think",
    "<thinking>": "think",
    "</think>": "/think",
    "</thinking>": "/think",
    "<toolcall>": "tool_call",
    "</toolcall>": "/tool_call",
    "<toolcalls>": "calls",
    "</toolcalls>": "/calls",
    "<functioncall>": "tool_call",
    "</functioncall>": "/tool_call",
    "<functioncalls>": "calls",
    "</functioncalls>": "/calls",
    "<minimax:toolcall>": "calls",
    "</minimax:toolcall>": "/calls",
    "<function>": "function_name",
    "</function>": "/function",
    "</invoke>": "/function",
    "</parameter>": "/parameter",
    "<argkey>": "arg_key",
    "</argkey>": "/arg_key",
    "<argvalue>": "arg_value",
    "</argvalue>": "/arg_value",
    "<toolresponse>": "result",
    "</toolresponse>": "/result",
    "<|toolcallsbegin|>": "section",
    "<|toolcallssectionbegin|>": "section",
    "<|toolcallsend|>": "/calls",
    "<|toolcallssectionend|>": "/calls",
    "<|toolcallbegin|>": "token_call",
    "<|toolcallend|>": "/tool_call",
    "<|toolcallargumentbegin|>": "token_arguments",
    "<|toolsep|>": "token_sep",
    "<|tooloutputsbegin|>": "result",
    "<|pythontag|>": "python_tag",
    "<|start|>": "start",
    "<|channel|>": "channel",
    "<|message|>": "message",
    "<|constrain|>": "constrain",
    "<|end|>": "end",
    "<|call|>": "end",
    "<|return|>": "end",
    "<|imend|>": "end",
    "<|imstart|>": "end",
    "<|eotid|>": "end",
    "<|eomid|>": "end",
    "<|endoftext|>": "end",
    "<|endofsentence|>": "end",
    "</s>": "end",
}
# The beginning of tags that carry a value.
VALUED: dict[str, str] = {
    "<function=": "function",
    "<functionname=": "function",
    "<invoke=": "function",
    "<invokename=": "function",
    "<parameter=": "parameter",
    "<parametername=": "parameter",
}
# Other names that models give to the tag around arguments, where one is expected.
ARGUMENT_TAGS = {
    "<argument>",
    "<args>",
    "<toolarguments>",
    "<toolargs>",
    "<toolinput>",
    "<parameters>",
    "<input>",
}

_BARS = re.compile(r"\|{2,}")
_DSML = re.compile(r"^<(/?)\|dsml\|")
_CANON = str.maketrans("｜‖￨", "|||", INVISIBLE + " \t\n\u3000\u00a0_-▁")
_VALUE = re.compile(r"=\s*[\"'“]?([^\"'”>]*)")
_TYPED = re.compile(r"string\s*=\s*[\"'“]?(true|false)", re.IGNORECASE)
_INVISIBLE = str.maketrans("", "", INVISIBLE)
_KNOWN = (*TAGS, *VALUED, *ARGUMENT_TAGS, "<|dsml|", "</|dsml|")
_LETTERS = "".join(sorted({key.lstrip("</|")[0] for key in _KNOWN if "|" not in key}))
_SPECIALS = "".join(sorted({key.lstrip("</|")[0] for key in _KNOWN if "|" in key}))
_SKIPPED = rf"[\s/_\-▁{INVISIBLE}]"
# A "<" that may begin a tag, as the first letter behind it tells.
MAYBE_TAG = (
    rf"<(?={_SKIPPED}*+(?:[{_LETTERS}]|\Z|[|｜‖￨](?:[|｜‖￨]|{_SKIPPED})*+(?:[{_SPECIALS}]|\Z)))"
)
_MAYBE = re.compile(MAYBE_TAG, re.IGNORECASE)


def _prefixes() -> frozenset[str]:
    return frozenset(key[:end] for key in _KNOWN for end in range(1, len(key) + 1))


_PREFIXES = _prefixes()


class Tag(NamedTuple):
    """`end` is the index after the tag. `value` is that of a valued tag, `is_text` what a DSML parameter
    says about itself."""

    kind: str
    end: int
    value: str = ""
    is_text: bool | None = None


def squeezed(text: str) -> str:
    """`text` without blanks, separators and invisible characters, in lower case, with one kind of bar."""
    return _BARS.sub("|", text.translate(_CANON)).lower()


def canonical(text: str) -> str:
    """A tag as it stands in `TAGS`; the prefix of DSML tags is left out."""
    plain = squeezed(text)
    return _DSML.sub(r"<\1", plain) if "dsml" in plain else plain


def look(text: str, at: int, final: bool) -> Tag | Wait | None:
    """The tag that starts at `text[at]`, which is "<"."""
    end = text.find(">", at, at + MAX_TAG)
    if text.find("<", at + 1, end if end >= 0 else at + MAX_TAG) >= 0:
        return None
    if end < 0:
        if final or len(text) - at >= MAX_TAG:
            return None
        return MORE if _may_become(canonical(text[at:])) else None
    return _known(text[at : end + 1], end + 1)


def _may_become(plain: str) -> bool:
    return plain in _PREFIXES or plain.startswith(tuple(VALUED))


def _known(written: str, end: int) -> Tag | None:
    plain = canonical(written)
    kind = TAGS.get(plain)
    if kind is not None:
        return Tag(kind, end)
    if plain in ARGUMENT_TAGS:
        return Tag("argument_tag", end)
    if "=" not in plain:
        return None
    for start, kind in VALUED.items():
        if plain.startswith(start):
            shown = written.translate(_INVISIBLE)
            value = _VALUE.search(shown)
            typed = _TYPED.search(shown)
            is_text = None if typed is None else typed[1].lower() == "true"
            return Tag(kind, end, value[1].strip() if value else "", is_text)
    return None


def next_tag(text: str, at: int) -> int:
    """The index of the next "<" that may begin a tag, or the end of `text`."""
    match = _MAYBE.search(text, at)
    return match.start() if match else len(text)


def tag(src: Source) -> Steps[Tag | None]:
    """The tag at the unread text, if there is one."""
    if src.empty or src.text[src.at] != "<":
        return None
    while True:
        found = look(src.text, src.at, src.final)
        if not isinstance(found, Wait):
            return found
        yield


def is_cut_tag(rest: str, whole: str) -> bool:
    """Whether `rest`, the end of the output, is the beginning of the closing tag `whole`."""
    plain = canonical(rest)
    return len(plain) > 1 and whole.startswith(plain)
