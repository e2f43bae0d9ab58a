"""The command in a home of its own, in this process or in one of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from wenfang.cli import main


@dataclass(frozen=True, kw_only=True)
class Result:
    code: int
    out: str
    err: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """Runs `wenfang`; `data` is its data directory, `project` an empty project folder."""

    data: Path
    project: Path
    env: dict[str, str] = field(default_factory=dict)

    def argv(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "wenfang", *args]

    def __call__(self, *args: str, env: Mapping[str, str] | None = None, typed: str = "") -> Result:
        """In this process, which saves the imports; `typed` comes from standard input."""
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("WENFANG_")]:
                patch.delenv(name)
            for name, value in {**self.env, **(env or {})}.items():
                patch.setenv(name, value)
            patch.chdir(self.project)
            patch.setattr(sys, "stdin", io.StringIO(typed))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            try:
                main(args)
                code = 0
            except SystemExit as leaving:
                code = int(leaving.code or 0)
        texts: list[str] = []
        for stream in (out, err):
            stream.flush()
            stream.seek(0)
            texts.append(stream.read())
        return Result(code=code, out=texts[0], err=texts[1])

    def process(self, *args: str, env: Mapping[str, str] | None = None) -> Result:
        """In a process of its own."""
        done = subprocess.run(
            self.argv(*args),
            env={**self.env, **(env or {})},
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Result(code=done.returncode, out=done.stdout, err=done.stderr)

    def popen(self, *args: str, **more: object) -> subprocess.Popen[str]:
        options: dict[str, object] = {
            "env": self.env,
            "cwd": self.project,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            **more,
        }
        return subprocess.Popen(self.argv(*args), **options)  # type: ignore[call-overload]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    project = tmp_path / "project"
    project.mkdir()
    env = {k: v for k, v in os.environ.items() if not k.startswith("WENFANG_")}
    env |= {
        "WENFANG_DATA": str(tmp_path / "data"),
        "WENFANG_LANGUAGE": "en",
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "NO_COLOR": "1",
        "PYTHONWARNINGS": "error",
    }
    return Command(data=tmp_path / "data", project=project, env=env)


@pytest.fixture
def scripted_run(command: Command) -> Callable[..., Result]:
    """`wenfang run` with the scripted demo."""

    def run(task: str, *args: Sequence[str]) -> Result:
        return command("run", task, "--provider", "scripted", *args)  # type: ignore[arg-type]

    return run
