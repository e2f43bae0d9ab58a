"""What a project begins with: root folders under ids that everybody can compute, and texts to start from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wenfang.core import new_id
from wenfang.storage import Tx

from ..errors import WorkspaceError
from ..paths import parse_file
from ..texts import encode
from ..values import Kind
from . import blobs, roots, tree
from .history import By
from .tree import Place
from .values import RootFolder
from .versions import Keeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """A text that a project begins with, in the root folder with the key `folder`."""

    folder: str
    name: str
    text: str


class Planter:
    """Plants in one transaction. Its texts are the system's: nobody wrote them, and nobody is asked before
    they are overwritten."""

    def __init__(
        self,
        project_id: str,
        *,
        clock: Callable[[], float],
        new_id: Callable[[str], str] = new_id,
        text_limit_bytes: int,
    ) -> None:
        self._project = project_id
        self._clock = clock
        self._new_id = new_id
        self._keeper = Keeper(By(actor="system"), clock, None)
        self._text_limit = text_limit_bytes

    def plant(self, tx: Tx, folders: Sequence[RootFolder], seeds: Sequence[Seed]) -> None:
        """Raises `WorkspaceError` "path_exists" if something stands where a seed belongs."""
        places = {
            folder.key: roots.ensure(tx, self._project, folder, self._folder_row)
            for folder in folders
        }
        for seed in seeds:
            self._seed(tx, places[seed.folder], seed)

    def _folder_row(self, kind: Kind) -> dict[str, Any]:
        return {"kind": kind, "created_at": self._clock(), "id_of": self._new_id}

    def _seed(self, tx: Tx, into: Place, seed: Seed) -> None:
        path = f"{into.path}/{seed.name}"
        parts = parse_file(path)
        if tree.find(tx, self._project, parts) is not None:
            raise WorkspaceError("path_exists", path=path)
        values: dict[str, Any] = {
            "kind": tree.kind_in(tx, into),
            "created_at": self._clock(),
            "id_of": self._new_id,
            "hash": blobs.put(tx, b""),
        }
        place = tree.insert(tx, self._project, into, parts[-1], path, values)
        self._keeper.put(tx, place, encode(seed.text, path, self._text_limit), "create")
