"""`wenfang model pull | list | remove`: the embedded model's file."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

from wenfang.models.local import (
    DEFAULT_MODEL,
    LocalFile,
    LocalModelError,
    Progress,
    default_store,
    find_model,
    pull_model,
)
from wenfang.models.local import list_models as stored_models
from wenfang.models.local import remove_model as remove_stored
from wenfang.problems import Problem

from .language import Say
from .loop import make_runner
from .main import EXIT_STOPPED
from .sizes import readable_size


def pull(say: Say) -> None:
    """Download the default model with a progress bar; Ctrl-C keeps what has arrived."""
    store = default_store()
    there = _find(store)
    if there is not None:
        _tell(say("model.present", name=there.name, size=readable_size(there.size_bytes)))
        return
    with make_runner() as runner:
        try:
            pulled = runner.run(_pull(say, store))
        except LocalModelError as error:
            raise Problem(error.code, **error.params) from error
        except asyncio.CancelledError:
            sys.exit(EXIT_STOPPED)
    _tell(say("model.pulled", name=pulled.name, path=pulled.path))


def list_models(say: Say, *, as_json: bool) -> None:
    """Print the models that are there."""
    models = stored_models(default_store())
    if as_json:
        for model in models:
            _tell(json.dumps(asdict(model) | {"path": str(model.path)}, ensure_ascii=False))
    elif not models:
        print(say("model.none"), file=sys.stderr)  # noqa: T201
    else:
        for model in models:
            _tell(f"{model.name}  {readable_size(model.size_bytes)}  {model.path}")


def remove(say: Say, name: str) -> None:
    """Delete one model of the store."""
    try:
        removed = remove_stored(default_store(), name)
    except LocalModelError as error:
        raise Problem(error.code, **error.params) from error
    _tell(say("model.removed", name=removed.name))


async def _pull(say: Say, store: Path) -> LocalFile:
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(),
        TextColumn("{task.fields[source]}"),
    )  # fmt: skip
    from rich.console import Console

    with Bars(*columns, console=Console(stderr=True)) as bars:
        title = say("model.pulling", name=DEFAULT_MODEL.name)
        bar = bars.add_task(title, total=DEFAULT_MODEL.size_bytes, source="")

        def show(progress: Progress) -> None:
            bars.update(bar, completed=progress.done_bytes, source=progress.source)

        return await pull_model(store, on_progress=show)


def _find(store: Path) -> LocalFile | None:
    try:
        return find_model(store)
    except LocalModelError:
        return None


def _tell(text: str) -> None:
    print(text)  # noqa: T201
