"""A process that works on a project's files as told, for tests with several of them.

    python -m tests.workspace.hammer ADDRESS WORK NAME TIMES

It prints "ready", waits for a line, and prints what it did as lines of JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from itertools import count
from typing import TypeVar

from tests.workspace.stores import PROJECTS, open_at

from wenfang.storage import Store
from wenfang.workspace import Kind, WorkspaceError
from wenfang.workspace.project import By, ProjectFiles

T = TypeVar("T")

KINDS: tuple[Kind, ...] = ("folder", "document")
AT_ONCE = 3  # works of one process


def tell(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


async def patiently(make: Callable[[], Awaitable[T]]) -> T:
    """The result of `make()`, made again while others are at the same things all the time."""
    while True:
        try:
            return await make()
        except WorkspaceError as error:
            if error.code != "file_busy":
                raise


class Hammer:
    def __init__(self, store: Store, name: str, times: int) -> None:
        self.store = store
        self.name = name
        self.times = times
        self.chance = random.Random(name)
        self.now = 1000.0

    def hand(self, clock: Callable[[], float] | None = None, project: int = 0) -> ProjectFiles:
        by = By(actor="author")
        return ProjectFiles(self.store, PROJECTS[project], by=by, clock=clock or (lambda: self.now))

    async def append(self) -> None:
        """Add words to one file, each to a text that was read before."""
        files = self.hand()
        for n in range(self.times):
            word = f"{self.name}{n} "
            while True:
                content = await files.read("a.md")
                try:
                    await files.write("a.md", content.text + word, base=content.item.hash)
                except WorkspaceError as error:
                    if error.code not in ("revision_conflict", "file_busy"):
                        raise
                    tell(refused=error.code)
                else:
                    tell(base=content.item.hash, word=word)
                    break

    async def create(self) -> None:
        """Make files in one folder; every name is tried by everybody."""
        files = self.hand()
        for n in range(self.times):
            try:
                await patiently(partial(files.write, f"夹/{n}.md", self.name, base=None))
            except WorkspaceError as error:
                tell(refused=error.code)
            else:
                tell(made=n)

    async def rearrange(self) -> None:
        """Write, make, move, delete and restore at a few places."""
        await asyncio.gather(*(self._rearrange() for _ in range(AT_ONCE)))

    async def _rearrange(self) -> None:
        files, trash = self.hand(), list[str]()
        for _ in range(self.times):
            path, to = self._path(), self._path()
            try:
                match self.chance.choice(("write", "write", "create", "move", "delete", "restore")):
                    case "write":
                        text = self.chance.choice(("", path, to, "common " * 50))
                        await patiently(partial(files.write, path, text, base="*"))
                    case "create":
                        kind = self.chance.choice(KINDS)
                        await patiently(partial(files.create, path, kind))
                    case "move":
                        await patiently(partial(files.move, path, to))
                    case "delete":
                        trash.append(await patiently(partial(files.delete, path)))
                    case _ if trash:
                        await patiently(partial(files.restore, trash.pop()))
                    case _:
                        names = [path.partition("/")[0]]
                        await patiently(partial(files.arrange, "", names))
            except WorkspaceError as error:
                tell(refused=error.code)
            else:
                tell(done=path)

    def _path(self) -> str:
        return "/".join(self.chance.choices("abc", k=self.chance.randint(1, 3)))

    async def share(self) -> None:
        """Give files of one's own the same few texts as others, again and again."""
        await asyncio.gather(*(self._share(n) for n in range(AT_ONCE)))

    async def _share(self, number: int) -> None:
        texts = ["".join(random.Random(n).choices("文房四宝笔墨纸砚", k=400)) for n in range(3)]
        files = self.hand(project=number % 2)
        last = ""
        for _ in range(self.times):
            last = self.chance.choice(texts) + self.chance.choice(("", "!"))
            await patiently(partial(files.write, f"{self.name}{number}.md", last, base="*"))
        tell(path=f"{self.name}{number}.md", project=number % 2, text=last)

    async def bring(self) -> None:
        """Import the same new texts as others, in an order of one's own."""
        files = self.hand(project=int(self.name == "y"))
        for n in range(self.times):
            texts = [f"{n} {each}" for each in range(40)]
            self.chance.shuffle(texts)
            chapters = {f"{at}.md": text for at, text in enumerate(texts)}
            await patiently(partial(files.add, self.name, chapters))
            tell(brought=n)

    async def stay(self) -> None:
        """Write the file that is called like oneself, and stop in the middle of the transaction until a line
        comes."""
        await self._stay(0, 1)

    async def stay_late(self) -> None:
        """The same with a new file of another project, which is there but for its version."""
        await self._stay(1, 3)

    async def _stay(self, project: int, looks: int) -> None:
        number = count(1)

        def clock() -> float:
            if next(number) == looks:
                tell(inside=True)
                sys.stdin.readline()
            return 2000.0

        with suppress(WorkspaceError):
            await self.hand(clock, project).write(self.name, "half", base="*")


async def main(address: str, work: str, name: str, times: str) -> None:
    async with open_at(address) as store:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await getattr(Hammer(store, name, int(times)), work)()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
