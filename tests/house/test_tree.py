"""The tracked files: no trace of a machine, nothing left undone, modules and functions of a readable size."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

# Each expression has a class of one letter, so that this file does not match itself.
TRACES = re.compile(
    r"pythonhoste[d]|pypi\.or[g]|registry\.npmj[s]|npmmirro[r]|deb\.debia[n]\.org|/wor[k]/|/far[m]/"
    r"|\.librar[y]|/tm[p]/[a-z]"
)
UNDONE = re.compile(
    r"\bTOD[O]\b|\bFIXM[E]\b|\bXX[X]\b|raise NotImplementedErro[r]|[Nn]ot implemente[d]|@ts-ignor[e]"
    r"|# noq[a]\s*$|type: ignor[e]\s*$|pytest\.mark\.xfai[l]"
)
CODE = (".py", ".ts", ".tsx", ".sh", ".mjs")
MODULE_LINES = 450
FUNCTION_LINES = 60
# Where a failure of any kind becomes data instead of going on: the driver's steps, the driver's task,
# the database's thread (a batch, an operation), the command.
BOUNDARIES = {
    "src/wenfang/cli/main.py": 1,
    "src/wenfang/core/attempt.py": 1,
    "src/wenfang/runs/engine.py": 1,
    "src/wenfang/storage/thread.py": 2,
}


@pytest.fixture(scope="module")
def tracked(root: Path) -> list[Path]:
    """The text files git knows."""
    if not (root / ".git").exists():
        pytest.skip("not a git checkout")
    names = subprocess.run(
        ("git", "grep", "-IlzE", "", "--", "."),
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split("\0")
    return [root / name for name in names if name and (root / name).is_file()]


def found(files: list[Path], pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{file}:{number}: {line.strip()[:120]}"
        for file in files
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_registry_host_and_no_path_of_a_machine(tracked: list[Path]) -> None:
    assert found(tracked, TRACES) == []


def test_nothing_left_undone(tracked: list[Path]) -> None:
    assert found([file for file in tracked if file.suffix in CODE], UNDONE) == []


def test_no_lock_file_names_a_host(root: Path) -> None:
    for lock in [*root.glob("requirements*.lock"), *root.glob("web/package-lock.json")]:
        text = lock.read_text("utf-8")
        assert '"resolved"' not in text, lock.name
        if lock.suffix == ".lock":
            assert "://" not in text, lock.name


@dataclass(frozen=True, kw_only=True)
class Module:
    name: str
    lines: int
    tree: ast.Module


@pytest.fixture(scope="module")
def modules(root: Path) -> list[Module]:
    files = sorted(file for folder in ("src", "scripts") for file in (root / folder).rglob("*.py"))
    return [
        Module(name=file.relative_to(root).as_posix(), lines=text.count("\n"), tree=ast.parse(text))
        for file in files
        if (text := file.read_text("utf-8"))
    ]


def test_modules_are_short(modules: list[Module]) -> None:
    long = {module.name: module.lines for module in modules if module.lines > MODULE_LINES}
    assert long == {}, "is there a concept without a name inside?"


def test_modules_have_a_docstring(modules: list[Module]) -> None:
    assert [module.name for module in modules if not ast.get_docstring(module.tree)] == []


def test_functions_are_short(modules: list[Module]) -> None:
    long = {
        f"{module.name}:{node.lineno} {node.name}": lines
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES
    }
    assert long == {}


def keeps_everything(handler: ast.ExceptHandler) -> bool:
    """Whether a handler takes every exception and does not raise it again (as one does that rolls back)."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    is_broad = any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException"))
        for kind in kinds
    )
    last = handler.body[-1]
    return is_broad and not (isinstance(last, ast.Raise) and last.exc is None)


def test_failures_become_data_at_the_boundaries_only(modules: list[Module]) -> None:
    found = Counter(
        module.name
        for module in modules
        if module.name.startswith("src/")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and keeps_everything(node)
    )
    assert found == BOUNDARIES
