"""The files of a project as an agent's tools use them: by id, blank first, and never over an author's text.

Every operation is one transaction, the checks with it (TL-6, TL-7, TL-14, TL-16, TL-20)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from wenfang.core import JSON
from wenfang.lang import read_heading
from wenfang.storage import Tx, files

from ..errors import WorkspaceError
from ..paths import name_key, new_name
from ..texts import decode, encode
from ..values import BODY_KINDS, Content, Item, Kind, Saved
from . import blobs, ids, metadata, roots, tree, versions
from .authors import authored_bodies, is_of_author
from .files import ProjectFiles
from .reading import as_file
from .tree import Place, item_of
from .values import Created, Kept, Opened, RootFolder

T = TypeVar("T")

_EPISODES: tuple[Kind, ...] = ("script", "draft", "document")
_MOST_SIBLINGS = 3


class Manuscript(ProjectFiles):
    """The names of new files get the `suffix`."""

    suffix = ".md"

    # Reading

    async def opened(self, ref: str) -> Opened:
        """Raises `WorkspaceError` "file_not_found", "path_invalid" for a folder."""

        def read(tx: Tx) -> Opened:
            place = self._text_at(tx, ref)
            last = versions.newest(tx, place, of_ai=True)
            return Opened(
                item=item_of(place),
                text=decode(blobs.get(tx, place.row.hash), place.path),
                ai_text=None if last is None else decode(blobs.get(tx, last.hash), place.path),
                is_of_author=is_of_author(tx, place),
            )

        return await self._db.read(read)

    async def survey(self, choose: Callable[[Sequence[Item]], Sequence[Item]]) -> list[Content]:
        """The files and folders that `choose` picks among all of them, with their texts; a folder's is
        empty, and so is what is no text."""

        def read(tx: Tx) -> list[Content]:
            chosen = choose([item_of(place) for place in tree.everything(tx, self._project)])
            texts = blobs.get_all(tx, {item.hash for item in chosen if item.hash is not None})
            return [Content(item=item, text=_text(texts, item)) for item in chosen]

        return await self._db.read(read)

    async def authored(self, ref: str) -> tuple[str, ...]:
        """The body files at or below `ref` that hold an author's work (TL-16). Raises `WorkspaceError`
        "file_not_found", `Kept` "unverified"."""

        def read(tx: Tx) -> tuple[str, ...]:
            return authored_bodies(tx, tree.descendants(tx, self._project, self._at(tx, ref)))

        return await self._db.read(read)

    async def metadata(self) -> dict[str, dict[str, JSON]]:
        """What is noted about files beside their texts, by their ids."""
        return await self._db.read(lambda tx: metadata.of_project(tx, self._project))

    # Changing

    async def begin(
        self,
        name: str,
        kind: Kind,
        *,
        into: str | None = None,
        order: int | None = None,
        roots_of: Sequence[RootFolder] = (),
        notes: Mapping[str, JSON] | None = None,
        may_replace: bool = False,
    ) -> Created:
        """A blank file or folder `name` in the folder `into`; without it, where files of its kind are
        kept. A blank file of that name and kind is taken as it is, and in a project with a folder for
        scripts so is the episode of that name, which becomes a script (TL-6). `notes`, if given, replace what
        is noted about it.

        Raises `WorkspaceError` "path_exists", "file_not_found" (the folder), and `Kept` "author_text"
        for an episode with an author's work, unless it `may_replace` that.
        """

        def begin(tx: Tx) -> Created:
            made = self._begun(tx, name, kind, into, order, roots_of, may_replace=may_replace)
            if notes is not None:
                metadata.put(tx, made.item.id, notes)
            return made

        return await self._alone(name, begin)

    async def compose(
        self,
        name: str,
        kind: Kind | None,
        make: Callable[[Kind, str | None], str],
        *,
        into: str | None = None,
        order: int | None = None,
        roots_of: Sequence[RootFolder] = (),
    ) -> tuple[Created, Saved]:
        """A new file with the text that `make` gives for its kind and for a text of a file beside it, to
        write alike. Without `kind` it is what its folder holds, else a draft (TL-20). A blank file of
        that name gets the text. Raises `WorkspaceError` "path_exists", "file_not_found"."""

        def compose(tx: Tx) -> tuple[Created, Saved]:
            place, actual = roots.place_for(tx, self._project, into, kind, roots_of, self._row)
            found = self._named(tx, place, name)
            found = tree.held(tx, found)
            if found is not None and not _is_blank(tx, found):
                raise WorkspaceError("path_exists", path=found.path)
            file = found or self._insert(tx, place, name, actual, order)
            text = make(file.row.kind, self._beside(tx, file.row.parent, but=file.row.id))
            data = encode(text, file.path, self._text_limit)
            made = Created(item=item_of(file), reused=found is not None)
            return made, self._keeper.put(tx, file, data, "create")

        return await self._alone(name, compose)

    async def fill(self, ref: str, make: Callable[[Kind, str | None], str], *, base: str) -> Saved:
        """`put`, with the text that `make` gives for the file's kind and for a text beside it."""

        def fill(tx: Tx) -> Saved:
            place = as_file(tree.held(tx, self._text_at(tx, ref)), ref)
            if place.row.hash != base:
                raise WorkspaceError("revision_conflict", path=place.path, revision=place.row.hash)
            text = make(place.row.kind, self._beside(tx, place.row.parent, but=place.row.id))
            data = encode(text, place.path, self._text_limit)
            is_first = _is_blank(tx, place)
            return self._keeper.put(tx, place, data, "create" if is_first else self._edit)

        return await self._write(ref, fill)

    async def put(self, ref: str, text: str, *, base: str) -> Saved:
        """Replace the text of a file that has the hash `base`. Raises `WorkspaceError`
        "revision_conflict" if it has another one."""

        def put(tx: Tx) -> Saved:
            place = as_file(tree.held(tx, self._text_at(tx, ref)), ref)
            if place.row.hash != base:
                raise WorkspaceError("revision_conflict", path=place.path, revision=place.row.hash)
            data = encode(text, place.path, self._text_limit)
            return self._keeper.put(tx, place, data, self._edit)

        return await self._write(ref, put)

    async def discard(
        self,
        ref: str,
        *,
        recursive: bool = False,
        protect: bool = True,
        seen: Mapping[str, str] | None = None,
    ) -> tuple[Item, ...]:
        """Put a file, or a folder and with `recursive` all that is in it, in the trash. Returns what went
        there. `seen`: hashes by id that the writer knows; a file with another text is kept.

        Raises `WorkspaceError` "file_not_found", and `Kept`; `protect` keeps authors' texts (TL-16).
        """
        trash_id = self._new_id("trash")

        def discard(tx: Tx) -> tuple[Item, ...]:
            place = self._at(tx, ref)
            found = tree.descendants(tx, self._project, place)
            places = [mine for each in found if (mine := tree.held(tx, each)) is not None]
            if len(places) > 1 and not recursive:
                raise Kept("not_empty", (place.path,))
            if protect and (authored := authored_bodies(tx, places)):
                raise Kept("author_text", authored)
            changed = [
                p.path for p in places if (seen or {}).get(p.row.id, p.row.hash) != p.row.hash
            ]
            if changed:
                raise Kept("stale", tuple(changed))
            values = {"trash_id": trash_id, "updated_at": self._clock()}
            mine = files.c.id.in_([each.row.id for each in places])
            tx.sa.execute(files.update().where(mine).values(values))
            return tuple(item_of(each) for each in places)

        return await self._alone(ref, discard)

    async def rename(self, ref: str, name: str) -> tuple[Item, Item]:
        """Another name in the same folder: what was there, and what is there now. A chapter's number in
        the name decides its place. Raises `WorkspaceError` "path_exists" (TL-8)."""

        def rename(tx: Tx) -> tuple[Item, Item]:
            place = self._at(tx, ref)
            parent = place.row.parent
            path = f"{place.path.rpartition('/')[0]}/{name}".lstrip("/")
            stored = new_name(name, path)
            other = tx.sa.execute(tree.CHILD, self._key(parent, stored)).one_or_none()
            if other is not None and other.id != place.row.id:
                raise WorkspaceError("path_exists", path=path)
            values: dict[str, Any] = {"name": stored, "name_key": name_key(stored)}
            if is_numbered(stored, place.row.kind):
                values["ord"] = tree.position(tx, self._project, parent, stored, place.row.kind)
            values["updated_at"] = self._clock()
            tx.sa.execute(files.update().where(files.c.id == place.row.id).values(values))
            return item_of(place), item_of(self._at(tx, place.row.id))

        return await self._alone(ref, rename)

    # Inside of a transaction

    async def _alone(self, path: str, operation: Callable[[Tx], T]) -> T:
        """Run `operation` as the only one who changes the tree."""

        def locked(tx: Tx) -> T:
            tree.lock(tx, self._project)
            return operation(tx)

        return await self._write(path, locked)

    def _row(self, kind: Kind) -> dict[str, Any]:
        return self._new_row(kind)

    def _key(self, parent: str, name: str) -> dict[str, str]:
        return {"project": self._project, "parent": parent, "key": name_key(name)}

    def _text_at(self, tx: Tx, ref: str) -> Place:
        place = self._at(tx, ref)
        if place.row.hash is None:
            raise WorkspaceError("path_invalid", path=place.path, problem="it is a folder")
        return place

    def _named(self, tx: Tx, into: Place, name: str) -> Place | None:
        parent = tree.ROOT if into.row is None else into.row.id
        row = tx.sa.execute(tree.CHILD, self._key(parent, name)).one_or_none()
        return None if row is None else Place(row, f"{into.path}/{row.name}".lstrip("/"))

    def _begun(
        self,
        tx: Tx,
        name: str,
        kind: Kind,
        into: str | None,
        order: int | None,
        roots_of: Sequence[RootFolder],
        *,
        may_replace: bool,
    ) -> Created:
        episode = self._episode(tx, name, kind, roots_of)
        if episode is not None:
            return self._reuse(tx, episode, may_replace=may_replace)
        place, actual = roots.place_for(tx, self._project, into, kind, roots_of, self._row)
        found = self._named(tx, place, name)
        if found is None:
            return Created(item=item_of(self._insert(tx, place, name, actual, order)))
        if found.row.kind != actual or not _is_blank(tx, found):
            raise WorkspaceError("path_exists", path=found.path)
        return Created(item=item_of(found), reused=True)

    def _insert(self, tx: Tx, into: Place, name: str, kind: Kind, order: int | None) -> Place:
        blank = {} if kind == "folder" else {"hash": blobs.put(tx, b"")}
        path = f"{into.path}/{name}".lstrip("/")
        place = tree.insert(tx, self._project, into, name, path, self._new_row(kind) | blank)
        if order is None or is_numbered(name, kind):
            return place
        tx.sa.execute(files.update().where(files.c.id == place.row.id).values(ord=order))
        return self._at(tx, place.row.id)

    def _episode(
        self, tx: Tx, name: str, kind: Kind, roots_of: Sequence[RootFolder]
    ) -> Place | None:
        """The file of this name below the folder for scripts, if a script or what becomes one is meant."""
        script = next((root for root in roots_of if root.holds == "script"), None)
        if script is None or kind not in _EPISODES:
            return None
        folder = roots.find(tx, self._project, script)
        if folder is None:
            return None
        key = name_key(name)
        return next(
            (
                place
                for place in tree.descendants(tx, self._project, folder)
                if place.row.name_key == key and place.row.kind in _EPISODES
            ),
            None,
        )

    def _reuse(self, tx: Tx, place: Place, *, may_replace: bool) -> Created:
        if not may_replace and is_of_author(tx, place):
            raise Kept("author_text", (place.path,))
        values = {"kind": "script"}
        tx.sa.execute(files.update().where(files.c.id == place.row.id).values(values))
        text = blobs.get(tx, place.row.hash).decode(errors="replace")
        return Created(item=item_of(self._at(tx, place.row.id)), reused=True, characters=len(text))

    def _beside(self, tx: Tx, parent: str, *, but: str) -> str | None:
        """The text of another body file in a folder, of those that were changed last the longest."""
        rows = ids.rows_in(tx, self._project, parent)
        bodies = [r for r in rows if r.kind in BODY_KINDS and r.size_bytes and r.id != but]
        last = sorted(bodies, key=lambda row: row.updated_at)[-_MOST_SIBLINGS:]
        best = max(last, key=lambda row: row.size_bytes, default=None)
        return None if best is None else blobs.get(tx, best.hash).decode(errors="replace")


def is_numbered(name: str, kind: Kind) -> bool:
    """Whether a file's place in its folder is given by a number in its name."""
    heading = read_heading(name.rsplit(".", 1)[0]) if kind in tree.NUMBERED else None
    return heading is not None and heading.number is not None


def _is_blank(tx: Tx, place: Place) -> bool:
    """Whether it is a file with nothing but white space in it."""
    name = place.row.hash
    return name is not None and not blobs.get(tx, name).decode(errors="replace").strip()


def _text(texts: Mapping[str, bytes], item: Item) -> str:
    data = b"" if item.hash is None else texts[item.hash]
    try:
        return decode(data, item.path)
    except WorkspaceError:
        return ""
