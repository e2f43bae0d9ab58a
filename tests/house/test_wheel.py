"""What is published: a wheel that serves the studio without Node, and a source archive that can build one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from runpy import run_path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def without_node(**more: str) -> dict[str, str]:
    """The environment with nothing but the system's own commands, and no Node among them."""
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return bare | {"PATH": os.defpath} | more


def build(root: Path, kind: str, target: Path) -> Path:
    command = (sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target))
    done = subprocess.run(command, cwd=root, env=without_node(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(target.iterdir())


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(root, "wheel", tmp_path_factory.mktemp("wheel"))


def test_wheel_holds_the_studio_and_nothing_of_the_tree(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"wenfang/py.typed", "wenfang/web/static/index.html"} <= set(names)
    assert [name for name in names if name.startswith("wenfang/web/static/assets/")]
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert "wenfang/workspace/templates/data/zh/novel/template.toml" in names
    assert "wenfang/workspace/templates/data/en/prd/prd.md" in names
    assert {name.partition("/")[0] for name in names} == {"wenfang", "wenfang-0.1.0.dist-info"}


@contextmanager
def serving(site: Path, data: Path) -> Iterator[str]:
    """The address of a server that runs from `site`."""
    process = subprocess.Popen(
        (sys.executable, "-m", "wenfang", "--lang", "en", "serve", "--port", "0"),
        env=without_node(PYTHONPATH=str(site), WENFANG_DATA=str(data), WENFANG_MODEL="none"),
        cwd=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout
    try:
        printed = ""
        for line in process.stdout:
            printed += line
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                yield found[0]
                break
        else:
            pytest.fail(f"the server did not start: {printed}")
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_installed_wheel_serves_the_studio(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    command = (sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(site))
    subprocess.run((*command, str(wheel)), check=True, env=without_node())
    with serving(site, tmp_path) as address:
        page = urllib.request.urlopen(address).read().decode()
        script = re.search(r'src="(/assets/[^"]+\.js)"', page)
        assert script, page
        assert urllib.request.urlopen(address + script[1]).status == 200


def test_source_archive_needs_no_node(root: Path, tmp_path: Path) -> None:
    archive = build(root, "sdist", tmp_path / "sdist")
    subprocess.run(("tar", "-xzf", str(archive), "-C", str(tmp_path)), check=True)
    tree = tmp_path / archive.name.removesuffix(".tar.gz")
    assert run_path(str(tree / "hatch_build.py"))["is_current"]()
    assert not (tree / "web/node_modules").exists()
