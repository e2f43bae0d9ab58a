from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import wenfang.cli
from wenfang.cli.words import WORDS

from .conftest import Command

HEAVY = ("pydantic", "sqlalchemy", "fastapi", "aiohttp", "uvicorn", "wenfang.core", "wenfang.runs")


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--help",),
        ("serve", "-h"),
        ("run", "-h"),
        ("chat", "-h"),
        ("import", "-h"),
        ("export", "-h"),
        ("sync", "-h"),
        ("doctor", "-h"),
        ("model",),
    ],
    ids=str,
)
def test_help(command: Command, args: tuple[str, ...], lang: str) -> None:
    result = command(*args, "--lang", lang)
    assert result.code in (0, 2)
    text = result.out + result.err
    assert "Usage" in text
    assert WORDS["help.lang"][lang == "en"][:4] in text or args not in ((), ("--help",))


def test_version(command: Command) -> None:
    assert command("--version").out.strip().count(".") == 2


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom wenfang.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_every_word_is_used_and_every_use_has_words() -> None:
    used: set[str] = set()
    prefixes: set[str] = set()
    for file in Path(wenfang.cli.__file__).parent.glob("*.py"):
        if file.name == "words.py":
            continue
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.add(node.value)
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                prefixes.add(str(node.values[0].value))
    unused = [w for w in WORDS if w not in used and not any(w.startswith(p) for p in prefixes if p)]
    assert unused == []
