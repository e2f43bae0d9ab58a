"""A file that is being fetched: always a prefix of the whole, so that any source can go on with it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from .catalogue import ModelFile

_CHUNK = 1024 * 1024


class SourceError(Exception):
    """One source did not deliver; the text says why. The next one may."""


class Partial:
    """The beginning of `model`'s file in `store`, with what an earlier pull left. Blocking; use it from
    a worker thread."""

    def __init__(self, store: Path, model: ModelFile) -> None:
        self._path = store / f".{model.file_name}.partial"
        self._target = store / model.file_name
        self._model = model
        self._hash = hashlib.sha256()
        self._file = self._path.open("ab+")
        self._file.seek(0)
        self.size = 0
        while data := self._file.read(_CHUNK):
            self._hash.update(data)
            self.size += len(data)
        if self.size > model.size_bytes:
            self.clear()

    def close(self) -> None:
        self._file.close()

    @property
    def is_whole(self) -> bool:
        return self.size == self._model.size_bytes

    def write(self, data: bytes) -> None:
        """Append. Raises `SourceError` for more bytes than the file has, OSError for a full disk."""
        if self.size + len(data) > self._model.size_bytes:
            raise SourceError("it sent more bytes than the file has")
        self._file.write(data)
        self._hash.update(data)
        self.size += len(data)

    def clear(self) -> None:
        """Start again from nothing."""
        self._file.truncate(0)
        self._hash = hashlib.sha256()
        self.size = 0

    def keep(self) -> Path:
        """Give the whole file its name if it is the pinned one, else drop it and raise `SourceError`."""
        found = self._hash.hexdigest()
        if found != self._model.sha256:
            self.clear()
            raise SourceError(f"its bytes are not the model's: SHA-256 {found[:16]}...")
        self._file.flush()
        os.fsync(self._file.fileno())
        os.replace(self._path, self._target)
        return self._target
