"""The folder of local models: what is there, by name or path."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .catalogue import DEFAULT_MODEL
from .errors import LocalModelError

_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalFile:
    """A model file that is there. `name` is its file name without ".gguf"."""

    name: str
    path: Path
    size_bytes: int
    is_default: bool


def default_store() -> Path:
    """Where models are kept unless a caller says otherwise: a cache, they can be fetched again."""
    from platformdirs import user_cache_path

    return user_cache_path("wenfang", appauthor=False) / "models"


def list_models(store: Path) -> list[LocalFile]:
    """The models in the store by name; a missing store is empty."""
    paths = sorted(store.glob("*.gguf")) if store.is_dir() else []
    return [_described(path) for path in paths if path.is_file()]


def find_model(store: Path, name: str = "") -> LocalFile:
    """The model called `name` in the store, the GGUF file at the path `name`, or for "" the default.

    Raises `LocalModelError` "model_not_found".
    """
    name = name or DEFAULT_MODEL.name
    path = Path(name).expanduser()
    if path.parent == Path():
        path = store / f"{name.removesuffix('.gguf')}.gguf"
    if not _is_gguf(path):
        raise LocalModelError("model_not_found", name=name)
    return _described(path.absolute())


def remove_model(store: Path, name: str) -> LocalFile:
    """Delete a model of the store. Files elsewhere are not ours and are never touched.

    Raises `LocalModelError` "model_not_found", "pull_active".
    """
    name = name.removesuffix(".gguf")
    with lock(store):
        for model in list_models(store):
            if model.name == name:
                model.path.unlink(missing_ok=True)
                return model
    raise LocalModelError("model_not_found", name=name)


@contextmanager
def lock(store: Path) -> Generator[None]:
    """Hold the store for changes; ends with the process, however it ends.

    Raises `LocalModelError` "pull_active" if another process or task holds it.
    """
    import fcntl

    store.mkdir(parents=True, exist_ok=True)
    with (store / ".lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LocalModelError("pull_active") from None
        yield


def _is_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):  # ValueError: a null character in the name
        return False


def _described(path: Path) -> LocalFile:
    return LocalFile(
        name=path.name.removesuffix(".gguf"),
        path=path,
        size_bytes=path.stat().st_size,
        is_default=path.name == DEFAULT_MODEL.file_name,
    )
