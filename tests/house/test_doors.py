"""A room has one door: its `__init__` lists the public names, and other rooms import from there only."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from inline_snapshot import snapshot

HEAVY = ("aiohttp", "alembic", "fastapi", "griffe", "httpx2", "numpy", "pydantic", "rich")
HEAVY += ("sqlalchemy", "starlette", "typer", "uvicorn", "xllamacpp")
BESIDE_ROOMS = {"web"}  # no Python in it
# A room within a room: who speaks to a provider needs nothing of the embedded model.
INNER_DOORS = ["wenfang.models.local"]


def rooms(root: Path) -> list[str]:
    folders = (root / "src/wenfang").iterdir()
    return sorted(each.name for each in folders if (each / "__init__.py").exists())


def imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, str, list[str]]]:
    """Line, absolute module and names of each import; of `import a.b` the names are empty."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*above, *filter(None, [node.module])))
            yield node.lineno, module, [alias.name for alias in node.names]


def is_by_the_door(module: str, names: list[str], room: str) -> bool:
    """Whether an import in `room` of another room names nothing inside of it."""
    parts = module.split(".")
    if parts[0] != "wenfang" or parts[1:2] == [room]:
        return True
    if any(name.startswith("_") and not name.startswith("__") for name in (*parts, *names)):
        return False
    return len(parts) <= 2 or module in INNER_DOORS


def test_rooms_are_entered_by_their_door(root: Path) -> None:
    source = root / "src"
    inside: list[str] = []
    for file in sorted((source / "wenfang").rglob("*.py")):
        place = file.relative_to(source).with_suffix("").parts
        if len(place) < 3:
            continue  # the package's own modules are above or below all rooms
        for line, module, names in imports(ast.parse(file.read_text("utf-8")), place[:-1]):
            if not is_by_the_door(module, names, place[1]):
                inside.append(
                    f"{'/'.join(place)}.py:{line} from {module} import {', '.join(names)}"
                )
    assert inside == []


def doors(root: Path) -> list[str]:
    of_rooms = [f"wenfang.{room}" for room in rooms(root) if room not in BESIDE_ROOMS]
    return ["wenfang", *of_rooms, *INNER_DOORS]


def test_public_names(root: Path) -> None:
    """`pytest tests/house/test_doors.py --inline-snapshot=fix` takes a change over."""
    listed = {door: sorted(import_module(door).__all__) for door in doors(root)}
    assert listed == snapshot()


def test_every_public_name_is_there(root: Path) -> None:
    for door in doors(root):
        module = import_module(door)
        assert [name for name in module.__all__ if not hasattr(module, name)] == [], door


@pytest.mark.parametrize("statement", ["import wenfang", "from wenfang import Agent, tool"])
def test_importing_is_cheap(statement: str) -> None:
    """Nothing heavy is loaded before it is used (design §8, S6)."""
    program = f"{statement}; import sys; print(*sorted(m for m in {HEAVY!r} if m in sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == []
