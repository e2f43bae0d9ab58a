"""What has to be done so that a project and a folder are the same: a pure function of three states.

A file is decided by its text on both sides and at the last sync, as rows of a table. Before that, files
that were renamed on one side are renamed on the other, so that what the other side wrote in them stays
in them. No action destroys a text that the other side, a version or a trash does not hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import PurePosixPath
from typing import Final

from ..paths import free_name, natural_key
from .renames import renamed
from .values import (
    Action,
    Collide,
    Delete,
    Forget,
    Left,
    MakeFolder,
    Move,
    Node,
    Plan,
    Put,
    Record,
    Side,
    State,
    key_of,
)

_OTHER: Final[dict[Side, Side]] = {"project": "folder", "folder": "project"}
_LONGEST_STEM_BYTES: Final = 150


def plan(
    base: State, project: State, folder: State, *, today: str, kept: Collection[str] = ()
) -> Plan:
    """Compare a project and a folder with what both were at the last sync. `kept` are keys of what stands
    in the folder and is no mirrored text: nothing at or below them is touched. `today` is the date that
    a conflict is named by."""
    clashes = sorted(
        key
        for key in project.keys() & folder.keys()
        if (project[key].hash is None) != (folder[key].hash is None)
    )
    blocked = {*kept, *clashes}
    open_base, open_project, open_folder = (
        {key: node for key, node in state.items() if blocked.isdisjoint((key, *_above(key)))}
        for state in (base, project, folder)
    )
    work = _Work(
        base=open_base,
        sides={"project": open_project, "folder": open_folder},
        taken={*base, *project, *folder, *kept},
        today=today,
    )
    return Plan(
        actions=work.actions({above for key in kept for above in _above(key)}),
        left=tuple(Left(path=project[key].path, reason="kind") for key in clashes),
    )


class _Work:
    """The three states while they are compared: what is planned is done to them at once."""

    def __init__(
        self,
        *,
        base: dict[str, Node],
        sides: dict[Side, dict[str, Node]],
        taken: set[str],
        today: str,
    ) -> None:
        self._base = base
        self._sides = sides
        self._taken = taken
        self._today = today

    def actions(self, kept: Collection[str]) -> tuple[Action, ...]:
        """All of them in order. `kept` are folders in which something stands that is not mirrored."""
        moves = self._moves()
        states = (self._base, *self._sides.values())
        keys = {key for state in states for key, node in state.items() if node.hash is not None}
        files = [action for key in sorted(keys) if (action := self._file(key)) is not None]
        folders = list(self._folders(kept))
        files.sort(key=lambda action: [natural_key(name) for name in action.path.split("/")])
        found = (*files, *folders)
        return (
            *moves,
            *(action for action in found if isinstance(action, Forget)),
            *(action for action in folders[::-1] if isinstance(action, MakeFolder)),
            *(action for action in folders if isinstance(action, Record)),
            *(action for action in files if not isinstance(action, Forget)),
            *(action for action in folders if isinstance(action, Delete)),
        )

    # Names

    def _moves(self) -> list[Move]:
        """The project's names win where both sides renamed a file."""
        project = renamed(self._base, self._sides["project"])
        folder = renamed(self._base, self._sides["folder"])
        found = [self._move("folder", old, folder.pop(old, old), to) for old, to in project.items()]
        found += [self._move("project", old, old, to) for old, to in folder.items()]
        return [move for move in found if move is not None]

    def _move(self, side: Side, old: str, here: str, new: str) -> Move | None:
        """Give what was at `old` at the last sync, and is at `here` on `side`, the name `new`."""
        nodes = self._sides[side]
        is_there = here == new
        node = nodes.get(here)
        if node is None or node.hash is None or (new in nodes and not is_there):
            return None
        to = self._sides[_OTHER[side]][new].path
        was = self._base.pop(old)
        del nodes[here]
        nodes[new] = Node(path=to, hash=node.hash, id=node.id)
        self._base[new] = Node(path=to, hash=was.hash, id=was.id)
        return Move(
            side=None if is_there else side,
            was=was.path,
            path=node.path,
            to=to,
            hash=was.hash or "",
            id=was.id,
        )

    # Texts

    def _file(self, key: str) -> Action | None:
        """The table: the first row that holds for a file."""
        was, mine, theirs = (
            None if (node := state.get(key)) is None else node.hash
            for state in (self._base, *self._sides.values())
        )
        if mine == theirs:
            return self._agreed(key, mine)
        if mine == was:
            return self._take("project", key, theirs, mine)
        if theirs == was:
            return self._take("folder", key, mine, theirs)
        if mine is None:
            return self._take("project", key, theirs, mine)
        if theirs is None:
            return self._take("folder", key, mine, theirs)
        beside = self._beside(self._path(key))
        for nodes in self._sides.values():
            nodes[key_of(beside)] = Node(path=beside, hash=theirs)
        return Collide(path=self._path(key), beside=beside, base=was, project=mine, folder=theirs)

    def _agreed(self, key: str, text: str | None) -> Action | None:
        if text is None:
            return Forget(path=self._base.pop(key).path)
        was, now = self._base.get(key), self._sides["project"][key]
        if was is not None and (was.hash, was.id) == (text, now.id):
            return None
        return Record(path=now.path, hash=text, id=now.id)

    def _take(self, side: Side, key: str, text: str | None, present: str | None) -> Action:
        """What the other side has, also if that is nothing."""
        path = self._path(key)
        if text is None:
            del self._sides[side][key]
            return Delete(side=side, path=path, hash=present)
        self._sides[side][key] = Node(path=path, hash=text)
        return Put(side=side, path=path, hash=text, replaces=present)

    def _beside(self, path: str) -> str:
        """A free name for the folder's text."""
        where = PurePosixPath(path)
        stem = where.stem.encode()[:_LONGEST_STEM_BYTES].decode(errors="ignore").rstrip()
        parent = path[: len(path) - len(where.name)]
        prefix = key_of(parent)
        names = {key.removeprefix(prefix) for key in self._taken if key.startswith(prefix)}
        found = parent + free_name(f"{stem} (conflict {self._today})", where.suffix, names)
        self._taken.add(key_of(found))
        return found

    # Folders

    def _folders(self, kept: Collection[str]) -> Iterable[Action]:
        """From the bottom up; the texts are decided already."""
        texts: dict[Side, set[str]] = {
            side: _folders_of(nodes) for side, nodes in self._sides.items()
        }
        states = (self._base, *self._sides.values())
        keys = {key for state in states for key, node in state.items() if node.hash is None}
        for key in sorted(keys, key=lambda key: (-key.count("/"), key)):
            sides: list[Side] = [
                side for side, nodes in self._sides.items() if _is_folder(nodes, key)
            ]
            action = self._folder(key, sides, texts, kept)
            if action is not None:
                yield action
            if len(sides) == 2 or isinstance(action, MakeFolder):
                for full in texts.values():
                    full.update(_above(key))

    def _folder(
        self, key: str, sides: list[Side], texts: dict[Side, set[str]], kept: Collection[str]
    ) -> Action | None:
        """The row for one folder. `sides` have it; `texts` are the folders that are needed there."""
        path, was_there = self._path(key), _is_folder(self._base, key)
        if not sides:
            is_file = any(key in nodes for nodes in self._sides.values())
            return None if is_file else Forget(path=path)
        if len(sides) == 2:
            return None if was_there else Record(path=path, hash=None, id=None)
        (here,) = sides
        if not was_there or key in texts[here]:
            return MakeFolder(side=_OTHER[here], path=path)
        is_kept = here == "folder" and key in kept
        return None if is_kept else Delete(side=here, path=path, hash=None)

    def _path(self, key: str) -> str:
        """As the project spells it, else as the folder does."""
        states = (*self._sides.values(), self._base)
        return next(state[key].path for state in states if key in state)


def _above(key: str) -> tuple[str, ...]:
    """The folders that a key is in."""
    parts = key.split("/")
    return tuple("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _folders_of(nodes: State) -> set[str]:
    """The folders in which texts stand."""
    return {above for key, node in nodes.items() if node.hash is not None for above in _above(key)}


def _is_folder(nodes: State, key: str) -> bool:
    return key in nodes and nodes[key].hash is None
