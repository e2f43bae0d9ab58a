from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

import wenfang
from wenfang.problems import PROBLEMS, Problem
from wenfang.workspace import Code

SOURCE = Path(wenfang.__file__).parent


def _fields(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize("code", PROBLEMS)
def test_both_languages_say_the_same(code: str) -> None:
    row = PROBLEMS[code]
    assert _fields(row.zh) == _fields(row.en)
    assert row.zh.strip()
    assert row.en.strip()
    assert "\n" not in row.zh + row.en
    assert 400 <= row.status < 600


def _raised() -> set[str]:
    codes: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "Problem"
                and node.args
                and isinstance(node.args[0], ast.Constant)
            ):
                codes.add(str(node.args[0].value))
    return codes


def test_every_code_that_is_raised_is_in_the_table() -> None:
    assert _raised() <= set(PROBLEMS)


def test_the_workspace_s_codes_are_in_the_table() -> None:
    assert set(Code.__args__) <= set(PROBLEMS)


def test_a_missing_parameter_is_no_second_failure() -> None:
    assert "port" in Problem("port_taken").text("en").lower()
