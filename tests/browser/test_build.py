"""What was built: its weight, and that the server has all of it."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.browser.rig import Studio

pytestmark = pytest.mark.alone


def test_34_weight(root: Path) -> None:
    command = [sys.executable, "hatch_build.py", "npm", "run", "budget"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^entry .* ok$", done.stdout, re.M)
    assert re.search(r"^all .* ok$", done.stdout, re.M)


def test_34_types_are_the_servers(root: Path, tmp_path: Path) -> None:
    """The studio's types are generated from the server's document; see docs/rooms/web.md."""
    document = subprocess.run(
        [sys.executable, "-m", "wenfang.server.openapi"], cwd=root, capture_output=True, check=True
    ).stdout
    fresh = tmp_path / "schema.d.ts"
    command = [
        sys.executable,
        "hatch_build.py",
        "npm",
        "run",
        "schema",
        "--",
        "--output",
        str(fresh),
    ]
    subprocess.run(command, cwd=root, input=document, capture_output=True, check=True)
    assert fresh.read_text() == (root / "web/src/api/schema.d.ts").read_text()


def test_34_served(studio: Studio) -> None:
    with urllib.request.urlopen(studio.url) as answer:
        page = answer.read().decode()
        assert answer.headers["cache-control"] == "no-cache"
        assert "default-src 'self'" in answer.headers["content-security-policy"]
    assets = re.findall(r'(?:src|href)="(/[^"]+)"', page)
    assert len(assets) >= 4
    for path in assets:
        with urllib.request.urlopen(studio.url + path) as answer:
            assert answer.read()
            is_hashed = path.startswith("/assets/")
            assert ("immutable" in answer.headers["cache-control"]) == is_hashed
