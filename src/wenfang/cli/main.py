"""The way in and out of the command line: language, one line per failure, exit codes.

Exit codes: 0 an answer, 2 wrong usage, 3 a partial answer, 4 stopped, 5 an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from wenfang.problems import Problem

from .language import Say, choose_language, split_language

EXIT_USAGE = 2
EXIT_PARTIAL = 3
EXIT_STOPPED = 4
EXIT_ERROR = 5


def main(argv: Sequence[str] | None = None) -> None:
    """Run one command and leave the process with its exit code."""
    given, args = split_language(sys.argv[1:] if argv is None else argv)
    say = Say(choose_language(given, stored=_stored_language()))
    if given not in (None, "zh", "en"):
        fail(say, say("run.bad_option", option="--lang", value=given, allowed="zh, en"), EXIT_USAGE)
    if args == ["--version"]:
        from importlib.metadata import version

        print(version("wenfang"))  # noqa: T201
        return
    from .app import make_app

    try:
        make_app(say)(args, prog_name="wenfang")
    except Problem as problem:
        fail(say, problem.text(say.language), EXIT_ERROR)
    except KeyboardInterrupt:
        fail(say, say("error.aborted"), EXIT_STOPPED)
    except Exception as error:  # the outermost boundary: people get a line, not a trace
        if os.environ.get("WENFANG_DEBUG"):
            raise
        fail(say, say("error.internal", kind=type(error).__name__), EXIT_ERROR)


def _stored_language() -> str:
    """Reads one small file by hand: importing the settings would make help slow."""
    import json

    folder = os.environ.get("WENFANG_DATA")
    if not folder:
        from platformdirs import user_data_path

        folder = user_data_path("wenfang", appauthor=False)
    try:
        stored = json.loads((Path(folder) / "settings.json").read_text("utf-8"))
        return str(stored["language"])
    except (OSError, ValueError, KeyError, TypeError):
        return "auto"


def fail(say: Say, text: str, code: int) -> NoReturn:
    """Say why on standard error, in one line, and leave."""
    print(say("error", text=text), file=sys.stderr)  # noqa: T201
    sys.exit(code)
