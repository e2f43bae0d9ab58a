"""The worker itself, with a stand-in for the native module: what it is told, says and does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from wenfang.core import ModelError
from wenfang.models.local import LocalServer, WorkerOptions
from wenfang.models.local import worker as module
from wenfang.models.local.server import WORKER

STUB = """
import json, os, pathlib, threading
from types import SimpleNamespace

class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())

class Server:
    listening_address = "http://127.0.0.1:4321"

    def __init__(self, params):
        print("native noise on standard output", flush=True)
        model = pathlib.Path(params.model.path)
        shown = {name: getattr(value, "__dict__", value) for name, value in vars(params).items()}
        (model.parent / "params.json").write_text(json.dumps(shown))
        if model.name == "bad.gguf":
            raise RuntimeError("unknown architecture")
        if model.name == "slow.gguf":
            (model.parent / "loading").touch()
            threading.Event().wait()
"""
CONFIG = {"api_key": "k", "context_tokens": 512, "threads": 3}


@pytest.fixture(autouse=True)
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "xllamacpp.py").write_text(STUB)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


@contextmanager
def started(model: Path) -> Generator[subprocess.Popen[bytes]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(WORKER, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(CONFIG | {"model": str(model)}).encode() + b"\n")
        try:
            yield process
        finally:
            process.kill()


def test_it_says_where_it_listens_and_stops_with_its_input(tmp_path: Path) -> None:
    with started(tmp_path / "m.gguf") as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline()) == {"url": "http://127.0.0.1:4321/v1"}
        process.stdin.close()
        assert process.wait(10) == 0
        assert process.stdout.read() == b""
        assert b"native noise" in process.stderr.read()
    params = json.loads((tmp_path / "params.json").read_text())
    assert params["cpuparams"] == params["cpuparams_batch"] == {"n_threads": 3}
    assert params["api_keys"] == ["k"]
    assert params["hostnames"] == ["127.0.0.1"]
    assert (params["n_ctx"], params["n_parallel"], params["port"]) == (512, 1, 0)


def test_it_stops_while_it_loads(tmp_path: Path) -> None:
    with started(tmp_path / "slow.gguf") as process:
        assert process.stdin is not None
        while not (tmp_path / "loading").exists():
            assert process.poll() is None
        process.stdin.close()
        assert process.wait(10) == 0


@pytest.mark.anyio
async def test_what_it_cannot_load_is_a_model_error(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_text("GGUF")
    options = WorkerOptions(context_tokens=512, threads=1)
    server = LocalServer(tmp_path / "bad.gguf", log=tmp_path / "log", options=options)
    with pytest.raises(ModelError, match="cannot be loaded: unknown architecture"):
        async with server.use():
            pass


def test_the_native_module_has_every_parameter_that_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The real module is asked for its parameters only; nothing is loaded."""
    monkeypatch.delenv("PYTHONPATH")
    made: list[object] = []
    real = sys.modules.get("xllamacpp") or module.import_module("xllamacpp")

    class Llama:
        CommonParams = real.CommonParams

        @staticmethod
        def Server(params: object) -> object:
            made.append(params)
            return params

    monkeypatch.setattr(module, "import_module", lambda _: Llama)
    params = module._serve(CONFIG | {"model": "m.gguf"})
    assert made == [params]
    assert (params.model.path, params.cpuparams.n_threads, params.n_ctx) == ("m.gguf", 3, 512)
