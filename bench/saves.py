"""One save of a file of a project on SQLite and, given an address, on PostgreSQL.

    python bench/saves.py [postgresql://user@host:port/empty_database]

Prints, for a chapter and a book: the median time and the CPU of this process for one save, and how many saves
of chapters a second eight writers make of eight files.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from wenfang.storage import FILE, Store, open_database, projects
from wenfang.storage.postgres import open_postgres
from wenfang.workspace.project import By, ProjectFiles

SIZES = {"chapter": 5_000, "book": 1_000_000}
ROUNDS = {"chapter": 200, "book": 20}
WRITERS, EACH = 8, 50
PARAGRAPH = 80
TEXT = "".join(
    chr(0x4E00 + n * n * 7919 % 6007) if n % PARAGRAPH else "\n" for n in range(max(SIZES.values()))
)


def text(size: int, n: int) -> str:
    at = n * 4096 % size
    return f"{TEXT[:at]}改动{n}{TEXT[at:size]}"


async def measure(name: str, opening: AbstractAsyncContextManager[Store]) -> None:
    async with opening as store:
        project = f"bench_{os.urandom(4).hex()}"
        row = {"id": project, "path": project, "title": "", "managed": 1}
        row |= {"created_at": 0.0, "updated_at": 0.0}
        await store.write(lambda tx: tx.sa.execute(projects.insert(), row) and None)
        files = ProjectFiles(store, project, by=By(actor="ai"), clock=time.time)
        for what, size in SIZES.items():
            times: list[float] = []
            await files.write(f"{what}.md", TEXT[:size], base=None)
            cpu = time.process_time()
            for n in range(ROUNDS[what]):
                began = time.perf_counter()
                await files.write(f"{what}.md", text(size, n), base="*")
                times.append(time.perf_counter() - began)
            cpu_ms = (time.process_time() - cpu) / ROUNDS[what] * 1e3
            print(
                f"{name:8} {what:8} {statistics.median(times) * 1e3:6.1f} ms, {cpu_ms:5.1f} ms of CPU"
            )

        async def write(who: int) -> None:
            for n in range(EACH):
                await files.write(f"{who}.md", text(SIZES["chapter"], who * EACH + n), base="*")

        began = time.perf_counter()
        await asyncio.gather(*(write(who) for who in range(WRITERS)))
        rate = WRITERS * EACH / (time.perf_counter() - began)
        print(f"{name:8} {WRITERS} writers {rate:5.0f} saves/s")


async def main(url: str | None = None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        await measure("sqlite", open_database(Path(folder) / FILE))
    if url is not None:
        await measure("postgres", open_postgres(url))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:2]))
