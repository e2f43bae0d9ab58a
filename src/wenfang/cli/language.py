"""Which language the command line speaks: `--lang`, the environment, the stored choice, the locale."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from wenfang.problems import Language, words

from .words import WORDS

_LOCAL = ("fatal", "network", "overload", "stream_incomplete")


def split_language(args: Sequence[str]) -> tuple[str | None, list[str]]:
    """Take `--lang xx` or `--lang=xx` out of the arguments, wherever it stands before a `--`."""
    rest = list(args)
    end = rest.index("--") if "--" in rest else len(rest)
    for at, word in enumerate(rest[:end]):
        if word.startswith("--lang="):
            return rest.pop(at).removeprefix("--lang="), rest
        if word == "--lang" and at + 1 < end:
            value = rest.pop(at + 1)
            del rest[at]
            return value, rest
    return None, rest


def choose_language(
    given: str | None, environ: Mapping[str, str] = os.environ, stored: str = "auto"
) -> Language:
    """The first of these that names zh or en; the locale decides last."""
    for choice in (given, environ.get("WENFANG_LANGUAGE"), stored):
        if choice in ("zh", "en"):
            return choice
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return "zh" if environ[name].lower().startswith("zh") else "en"
    return "en"


class Say:
    """The words of the command line in one language: `say("serve.url", url=...)`."""

    def __init__(self, language: Language) -> None:
        self.language: Language = language

    def __call__(self, key: str, **params: object) -> str:
        zh, en = WORDS[key]
        return (zh if self.language == "zh" else en).format_map(params)

    def failure(
        self, kind: str, *, base_url: str, model: str, variable: str = "WENFANG_API_KEY"
    ) -> str:
        """Why a model request failed and what to do. Without an address it was a local model."""
        if not base_url and kind in _LOCAL:
            return self("failure.local", kind=kind)
        return self(f"failure.{kind}", base_url=base_url, model=model, variable=variable)

    def problem(self, code: str, params: Mapping[str, str | int | float | bool | None]) -> str:
        """The one line for a problem's code."""
        return words(code, dict(params), self.language)
