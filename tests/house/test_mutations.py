"""The mutation runner's changes: one row per kind, and what is left alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module", autouse=True)
def _scripts(root: Path) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(root / "scripts"))
        yield
    sys.modules.pop("mutations", None)


CHANGED = {
    "comparison": ("a < b", ["a <= b"]),
    "chain": ("a < b == c", ["a <= b == c", "a < b != c"]),
    "membership": ("a in b", ["a not in b"]),
    "identity": ("a is None", ["a is not None"]),
    "and": ("a and b", ["a or b"]),
    "not": ("f(not a)", ["f(a)", "pass"]),
    "arithmetic": ("a + b * c", ["a - b * c", "a + (b + c)"]),
    "number": ("a = 3", ["a = 4"]),
    "flag": ("a = True", ["a = False"]),
    "word": ("a = 'code'", ["a = 'code~'"]),
    "sum": ("a += b", ["a -= b"]),
    "lost call": ("a()", ["pass"]),
    "lost await": ("async def f():\n    await a()", ["async def f():\n    pass"]),
    "if": ("if a:\n    b = c", ["if not a:\n    b = c"]),
    "if not": ("if not a:\n    b = c", ["if a:\n    b = c"]),
    "loop": ("while a:\n    break", ["while not a:\n    break", "while a:\n    continue"]),
    "choice": ("a = b if c else d", ["a = b if not c else d"]),
    "return": ("def f():\n    return a", ["def f():\n    return None"]),
    "raise": ("raise a", ["pass"]),
    "default": ("def f(a=1):\n    b = a", ["def f(a=2):\n    b = a"]),
}
LEFT_ALONE = {
    "docstring": '"""text"""',
    "sentence": "a = 'a text for people'",
    "chinese": "a = '已完成。'",
    "f-string": "a = f'{b}code'",
    "annotation": "a: Literal['x'] | int",
    "alias": "A: TypeAlias = Literal['x']",
    "old alias": "A = Literal['x']",
    "decorator": "@dataclass(frozen=True)\nclass A:\n    ...",
    "type checking": "if TYPE_CHECKING:\n    import a",
    "public names": "__all__ = ['a']",
    "probes": "self._desk.probe('a')\nself._probe(f'{a}')",
    "none": "def f():\n    return None",
    "empty": "a = ''",
}


@pytest.mark.parametrize(("source", "results"), CHANGED.values(), ids=CHANGED)
def test_changes(source: str, results: list[str]) -> None:
    from mutations import mutate, mutations

    count = len(mutations(ast.parse(source)))
    assert sorted(mutate(source, i).strip() for i in range(count)) == sorted(results)


@pytest.mark.parametrize("source", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_is_left_alone(source: str) -> None:
    from mutations import mutations

    assert mutations(ast.parse(source)) == []


def test_lines_and_import_time() -> None:
    from mutations import mutations

    first, second = mutations(ast.parse("a = 1\ndef f():\n    return (\n        a < b\n    )\n"))[
        :2
    ]
    assert (first.lines, first.is_global) == ((1, 1), True)
    assert (second.lines, second.is_global) == ((3, 5), False)
