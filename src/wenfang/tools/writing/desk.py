"""What the writing tools of one request share: the files, what the model has seen, what waits for its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from wenfang.core import Effect
from wenfang.problems import Language
from wenfang.workspace import WorkspaceError
from wenfang.workspace.project import FileLocks, Manuscript, RootFolder

from .blanks import BlankGuard, Waiting
from .seen import Seen

Codec: TypeAlias = Literal["tags", "call"]
_HOW: Mapping[Codec, str] = {
    "tags": "begin your next reply with <file> and the whole text, and end it with </file>",
    "call": "call write_text with its id and the whole text",
}
RESULT_CHARS = 200_000
"""How long a tool's result may be (writing.md §3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """One for each request of an author. `files` writes as the agent; `locks` are those of the process.
    `roots` are the folders of the project's template. `language` is the author's.

    Fed by effects (`observe`; the tools do that for their own) and by the moments the model is asked
    (`seen.next_call`, or `seen.prepare` as a hook). After a crash the same feeding makes the same desk.
    `codec` is how a text reaches its file: between `<file>` tags in a reply, or by a call of write_text.
    """

    files: Manuscript
    locks: FileLocks = field(default_factory=FileLocks)
    roots: Sequence[RootFolder] = ()
    language: Language = "zh"
    codec: Codec = "tags"
    overwrite_author_text: bool = False
    result_chars: int = RESULT_CHARS
    seen: Seen = field(default_factory=Seen)
    blanks: BlankGuard = field(default_factory=BlankGuard)

    def observe(self, *effects: Effect) -> None:
        """Something was read or changed, by a tool or by a body that was stored."""
        for effect in effects:
            self.seen.observe(effect)
            self.blanks.observe(effect)

    @property
    def how_to_write(self) -> str:
        """What the model does after create_file."""
        return _HOW[self.codec]

    async def blocker(self) -> Waiting | None:
        """The file that has to be written before another one is created."""
        return await self.blanks.blocker(self._present)

    async def _present(self, file_id: str) -> str | None:
        try:
            return (await self.files.at(file_id)).hash
        except WorkspaceError:
            return None

    def title_of(self, path: str) -> str:
        """A file's title: its name without the ending that all files have."""
        return path.rpartition("/")[2].removesuffix(self.files.suffix)
