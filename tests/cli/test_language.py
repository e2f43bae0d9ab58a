from __future__ import annotations

import string

import pytest

from wenfang.cli.language import Say, choose_language, split_language
from wenfang.cli.words import WORDS
from wenfang.core import ErrorKind


@pytest.mark.parametrize(
    ("args", "given", "rest"),
    [
        (["run", "x"], None, ["run", "x"]),
        (["--lang", "zh", "run", "x"], "zh", ["run", "x"]),
        (["run", "x", "--lang", "en"], "en", ["run", "x"]),
        (["run", "--lang=en", "x"], "en", ["run", "x"]),
        (["run", "--", "--lang=en"], None, ["run", "--", "--lang=en"]),
        (["run", "--lang"], None, ["run", "--lang"]),
    ],
)
def test_lang_may_stand_anywhere(args: list[str], given: str | None, rest: list[str]) -> None:
    assert split_language(args) == (given, rest)


@pytest.mark.parametrize(
    ("given", "environ", "stored", "expected"),
    [
        ("zh", {"WENFANG_LANGUAGE": "en"}, "en", "zh"),
        (None, {"WENFANG_LANGUAGE": "zh", "LANG": "en_US.UTF-8"}, "en", "zh"),
        (None, {"LANG": "zh_CN.UTF-8"}, "en", "en"),
        (None, {"LANG": "zh_CN.UTF-8"}, "auto", "zh"),
        (None, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "auto", "en"),
        (None, {}, "auto", "en"),
    ],
)
def test_choice(given: str | None, environ: dict[str, str], stored: str, expected: str) -> None:
    assert choose_language(given, environ, stored) == expected


@pytest.mark.parametrize("key", WORDS)
def test_both_languages_have_the_same_parameters(key: str) -> None:
    zh, en = WORDS[key]
    fields = [sorted(n for _, n, _, _ in string.Formatter().parse(t) if n) for t in (zh, en)]
    assert fields[0] == fields[1]


def test_every_kind_of_failure_has_words() -> None:
    assert {f"failure.{kind}" for kind in ErrorKind.__args__} <= set(WORDS)


def test_words_are_filled_in() -> None:
    assert Say("zh")("serve.ready", url="http://x") == "文房已启动：http://x"
    assert Say("en").problem("port_taken", {"port": 80}).startswith("Port 80 is taken")
