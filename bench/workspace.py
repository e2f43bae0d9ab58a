"""Files of a project: what a large one costs, and how much room its history takes.

    python bench/workspace.py           # about a minute

Gates: open, edit and save of a 1,000,000-character file in 50 ms of CPU; 10,000 versions of a
5,000-character chapter in 30 MB; a phrase in 5,000,000 characters in 200 ms. Exit code 1 if one fails.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from wenfang.storage import Database, open_database, projects
from wenfang.workspace.project import By, ProjectFiles

SAVE_MS, HISTORY_MB, FIND_MS = 50.0, 30.0, 200.0
VERSIONS, CHAPTER, BOOK, LIBRARY = 10_000, 5_000, 1_000_000, 5_000_000
AT_ONCE = 100
ROUNDS = 5
HAN = [chr(code) for code in range(0x4E00, 0x57C4)]
WEIGHTS = [1 / rank for rank in range(1, len(HAN) + 1)]


def prose(chance: random.Random, characters: int) -> str:
    """Characters as frequent as a language has them, in paragraphs of 80."""
    text = "".join(chance.choices(HAN, WEIGHTS, k=characters))
    return "\n".join(text[at : at + 80] for at in range(0, characters, 80))


async def cpu_ms(work: Callable[[], Awaitable[object]]) -> float:
    before = time.process_time()
    await work()
    return (time.process_time() - before) * 1e3


class Bench:
    def __init__(self, database: Database, folder: Path) -> None:
        self.path = folder
        self.now = 0.0
        self.chance = random.Random(1)
        self.ai = ProjectFiles(database, "bench", by=By(actor="ai"), clock=lambda: self.now)

    def size_mb(self) -> float:
        return sum(each.stat().st_size for each in self.path.iterdir()) / 1e6

    async def open_edit_save(self) -> float:
        await self.ai.write("book.md", prose(self.chance, BOOK), base="*")

        async def once() -> None:
            content = await self.ai.read("book.md")
            at = self.chance.randrange(BOOK)
            text = f"{content.text[:at]}改动{content.text[at:]}"
            await self.ai.write("book.md", text, base=content.item.hash)

        return statistics.median([await cpu_ms(once) for _ in range(ROUNDS)])

    async def versions(self) -> float:
        """Each of the versions replaces 30 characters somewhere."""
        before = self.size_mb()
        text = prose(self.chance, CHAPTER)
        for first in range(0, VERSIONS, AT_ONCE):
            writes: list[Awaitable[object]] = []
            for _ in range(AT_ONCE):
                at = self.chance.randrange(len(text) - 30)
                text = text[:at] + prose(self.chance, 30) + text[at + 30 :]
                writes.append(self.ai.write("chapter.md", text, base="*"))
            await asyncio.gather(*writes)
            print(f"\r{first + AT_ONCE} versions", end="", file=sys.stderr)
        print(file=sys.stderr)
        assert len(await self.ai.revisions("chapter.md")) == VERSIONS
        return self.size_mb() - before

    async def find(self) -> float:
        for n in range(LIBRARY // CHAPTER):
            await self.ai.write(f"part/{n}.md", prose(self.chance, CHAPTER), base=None)
        phrases = ["改动", "没有这句话", "Nowhere"]
        return statistics.median([await cpu_ms(lambda p=p: self.ai.find(p)) for p in phrases])


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        async with open_database(path / "bench.sqlite3") as database:
            row = {"id": "bench", "title": "bench", "path": "/bench", "managed": 1}
            row |= {"created_at": 0.0, "updated_at": 0.0}
            await database.write(lambda tx: tx.sa.execute(projects.insert(), row) and None)
            bench = Bench(database, path)
            rows = [
                (
                    "open, edit, save 1,000,000 characters",
                    await bench.open_edit_save(),
                    "ms",
                    SAVE_MS,
                ),
                ("10,000 versions of 5,000 characters", await bench.versions(), "MB", HISTORY_MB),
                ("find in 5,000,000 characters", await bench.find(), "ms", FIND_MS),
            ]
    all_ok = True
    for what, value, unit, gate in rows:
        ok = value <= gate
        all_ok = all_ok and ok
        print(f"{what:<40}{value:>8.1f} {unit}   gate {gate:g} {unit}   {'ok' if ok else 'OVER'}")
    return 0 if all_ok else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
