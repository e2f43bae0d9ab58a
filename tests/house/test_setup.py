"""Set-up on machines that lack something: one line says what, nothing is left half done."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

MADE_FROM = ("requirements-dev.lock", "requirements.lock", "pyproject.toml")
COMMANDS = ("bash", "cat", "cut", "dirname", "env", "id", "sha256sum")


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """A checkout with the files that set-up reads, and `bin` with the few commands it cannot do without."""
    (tmp_path / "scripts").mkdir()
    shutil.copy2(root / "scripts/setup.sh", tmp_path / "scripts")
    for name in MADE_FROM:
        shutil.copy2(root / name, tmp_path)
    (tmp_path / "bin").mkdir()
    for name in COMMANDS:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or name)
    return tmp_path


def setup(tree: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    path = {"PATH": str(tree / "bin")}
    command = ("scripts/setup.sh", *arguments)
    return subprocess.run(command, cwd=tree, env=path | env, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["run"], "Python 3.11 or newer is needed", id="no-python"),
        pytest.param(["browser"], "Run as root: apt-get install -y chromium", id="no-chromium"),
        pytest.param([], "usage: scripts/setup.sh run | dev | browser", id="no-argument"),
        pytest.param(["all"], "usage: scripts/setup.sh run | dev | browser", id="unknown"),
    ],
)
def test_what_is_missing_is_said_in_one_line(tree: Path, arguments: list[str], words: str) -> None:
    done = setup(tree, *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert not (tree / ".venv").exists()


def test_an_old_python_is_not_taken(tree: Path) -> None:
    old = tree / "bin/python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    assert "Python 3.11 or newer is needed" in setup(tree, "run").stderr


@pytest.mark.parametrize(("installed", "wanted"), [("run", "run"), ("dev", "dev"), ("dev", "run")])
def test_what_is_installed_is_not_installed_again(tree: Path, installed: str, wanted: str) -> None:
    """A stand-in for Python notes how it is called: once, to bring the studio up to date."""
    python = tree / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >>{tree}/calls\n')
    python.chmod(0o755)
    made_from = f"{tree}\n" + "".join((tree / name).read_text("utf-8") for name in MADE_FROM)
    stamp = hashlib.sha256(made_from.encode()).hexdigest()
    (tree / f".venv/.installed-{installed}").write_text(stamp + "\n")
    done = setup(tree, wanted)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tree / "calls").read_text() == "hatch_build.py\n"
