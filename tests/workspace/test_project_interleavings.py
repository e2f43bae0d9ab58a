"""Two writers at the same time do what one after the other would have done, whichever comes first (TL-24).

On PostgreSQL their transactions are interleaved statement by statement, in an order that is drawn. SQLite has
one transaction that writes; there two connections come in any order.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy.util import await_only
from tests.workspace.stores import PROJECTS, Home, OnePostgres, add_projects, wipe

from wenfang.storage import Store
from wenfang.workspace import WorkspaceError
from wenfang.workspace.project import By, ProjectFiles

AUTHOR, AI = By(actor="author"), By(actor="ai", run_id="run_1")
LONG = "文房四宝，笔墨纸砚。" * 60
PASSES_S = (
    0.05  # longer than a statement takes: a writer that does not take its turn is not able to
)

Work: TypeAlias = tuple[str, *tuple[str, ...]]
WORKS: tuple[Work, ...] = (
    ("write", "a.md", "mine"),
    ("write", "a.md", LONG),
    ("write", "a.md", LONG + "!"),
    ("write", "夹/b.md", ""),
    ("write", "夹/c.md", "mine"),
    ("write", "new/c.md", LONG),
    ("compare", "a.md", "one"),
    ("compare", "a.md", "two"),
    ("compare", "夹/b.md", LONG),
    ("create", "夹/c.md"),
    ("folder", "new"),
    ("move", "a.md", "夹/a.md"),
    ("move", "夹/b.md", "b.md"),
    ("move", "夹", "new"),
    ("move", "夹", "空/夹"),
    ("move", "空", "夹/空"),
    ("delete", "a.md"),
    ("delete", "夹"),
    ("delete", "夹/b.md"),
    ("delete", "空"),
    ("restore", "old.md"),
    ("back", "a.md"),
    ("back", "夹/b.md"),
    ("arrange", "夹/b.md"),
    ("add", "夹/b.md", LONG),
    ("add", "夹/b.md", "mine"),
    ("import", "夹", LONG),
    ("import", "new", "mine"),
)


class Turns:
    """Lets two writers go on one statement at a time, in the order that was drawn."""

    WHO: ContextVar[int | None] = ContextVar("who", default=None)

    def __init__(self, order: list[int]) -> None:
        self._order = order
        self._changed = asyncio.Condition()

    async def wait(self, who: int) -> None:
        async with self._changed:
            try:
                async with asyncio.timeout(PASSES_S):
                    await self._changed.wait_for(lambda: not self._order or self._order[0] == who)
            except TimeoutError:  # the other waits for what this one holds, or has ended
                self._order.clear()
            else:
                del self._order[:1]
            self._changed.notify_all()


@contextmanager
def turns(order: list[int]) -> Iterator[None]:
    """Within, a statement of a writer that `Turns.WHO` names waits for its turn."""
    taken = Turns(order)

    def before(*_: Any) -> None:
        who = Turns.WHO.get()
        if who is not None:
            await_only(taken.wait(who))

    sa.event.listen(sa.Engine, "before_cursor_execute", before)
    try:
        yield
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", before)


class Desk:
    """A project that was begun, and two writers with a connection of their own."""

    def __init__(self, stores: list[Store]) -> None:
        self.now = 1000.0
        self.hands = [self._hand(store, by) for store, by in zip(stores, (AUTHOR, AI), strict=True)]
        self.hashes: dict[str, str] = {}
        self.trash = ""

    def _hand(self, store: Store, by: By) -> ProjectFiles:
        number = count()
        return ProjectFiles(
            store,
            PROJECTS[0],
            by=by,
            clock=lambda: self.now,
            new_id=lambda prefix: f"{prefix}_{by.actor}_{next(number)}",
        )

    async def begin(self) -> None:
        author, ai = self.hands
        await author.write("a.md", "first", base=None)
        await ai.write("a.md", LONG + "?", base="*")
        await author.write("夹/b.md", LONG, base=None)
        await author.create("空", "folder")
        await author.write("old.md", LONG, base=None)
        self.trash = await author.delete("old.md")
        self.hashes = {item.path: item.hash or "" for item in await author.list()}
        self.now = 1300.0

    async def do(self, who: int, work: Work) -> object:
        """What a piece of work says, without what belongs to its order: the path that a text was at."""
        Turns.WHO.set(who)
        try:
            return await self._do(self.hands[who], work)
        except WorkspaceError as error:
            return error.code
        finally:
            Turns.WHO.set(None)

    async def _do(self, hand: ProjectFiles, work: Work) -> object:
        match work:
            case ("write" | "compare" as how, path, text):
                base = "*" if how == "write" else self.hashes[path]
                saved = await hand.write(path, text, base=base)
                return saved.previous, saved.revision, saved.item.hash
            case ("create" | "folder" as how, path):
                return (await hand.create(path, "folder" if how == "folder" else None)).path
            case ("move", path, to):
                return (await hand.move(path, to)).path
            case ("delete", path):
                await hand.delete(path)
            case ("restore", _):
                return (await hand.restore(self.trash)).path
            case ("back", path):
                saved = await hand.restore_revision(path, 1)
                return saved.previous, saved.revision, saved.item.hash
            case ("add" | "import" as how, path, text):
                content = text if how == "add" else {"b.md": text, "c.md": "", "d.md": "mine"}
                return [item.path for item in await hand.add(path, content)]
            case (_, path):
                folder, _, name = path.rpartition("/")
                await hand.arrange(folder, [name])
        return None

    async def state(self) -> object:
        """Everything that can be seen."""
        hand = self.hands[0]
        seen: list[object] = []
        for item in await hand.list():
            seen.append((item.path, item.kind, item.position))
            if item.kind != "folder":
                seen.append((await hand.read(item.path)).text)
                for each in await hand.revisions(item.path):
                    text = (await hand.read(item.path, each.n)).text
                    seen.append((each.n, each.parent, each.actor, each.change, text))
        return seen


Outcome: TypeAlias = tuple[list[object], object]


@asynccontextmanager
async def two_stores(home: Home, folder: Path) -> AsyncGenerator[list[Store]]:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(home.open(folder))
        if home.address(folder).startswith("postgresql"):
            yield [first, first]  # two connections of one event loop
        else:
            yield [first, await stack.enter_async_context(home.open(folder))]


async def outcome(stores: list[Store], run: Callable[[Desk], Awaitable[list[object]]]) -> Outcome:
    await stores[0].write(wipe)
    await add_projects(stores[0])
    desk = Desk(stores)
    await desk.begin()
    results = await run(desk)
    return results, await desk.state()


async def holds(home: Home, folder: Path, works: tuple[Work, Work], order: list[int]) -> None:
    async def at_once(desk: Desk) -> list[object]:
        with turns(order):
            return list(await asyncio.gather(*(desk.do(who, works[who]) for who in (0, 1))))

    def in_order(first: int) -> Callable[[Desk], Awaitable[list[object]]]:
        async def run(desk: Desk) -> list[object]:
            results: dict[int, object] = {}
            for who in (first, 1 - first):
                results[who] = await desk.do(who, works[who])
            return [results[0], results[1]]

        return run

    async with two_stores(home, folder) as stores:
        found = await outcome(stores, at_once)
        assert found in [await outcome(stores, in_order(first)) for first in (0, 1)]


@pytest.mark.slow
@pytest.mark.timeout(300)
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    works=st.tuples(st.sampled_from(WORKS), st.sampled_from(WORKS)),
    order=st.lists(st.integers(0, 1), max_size=24),
)
@example(works=(("move", "夹", "空/夹"), ("move", "空", "夹/空")), order=[0, 1] * 12)
@example(works=(("write", "夹/c.md", "mine"), ("delete", "夹")), order=[0, 1] * 12)
@example(works=(("write", "a.md", LONG), ("write", "夹/b.md", "")), order=[0, 1] * 12)
@example(works=(("compare", "a.md", "one"), ("compare", "a.md", "two")), order=[0, 1] * 12)
@example(works=(("compare", "a.md", "one"), ("delete", "a.md")), order=[1, 0] * 12)
@example(works=(("add", "夹/b.md", LONG), ("add", "夹/b.md", "mine")), order=[0, 1] * 12)
def test_TL_24_two_at_once_are_one_after_the_other(
    home: Home,
    tmp_path_factory: pytest.TempPathFactory,
    works: tuple[Work, Work],
    order: list[int],
) -> None:
    """Nothing is lost, no text is compared with one that is gone, and no tree comes out that neither made."""
    asyncio.run(holds(home, tmp_path_factory.mktemp("both"), works, list(order)))


def test_two_imports_of_the_same_texts_do_not_wait_in_a_circle(
    on_postgres: OnePostgres, tmp_path: Path
) -> None:
    """Each in its own project, in opposite orders: one waits for the other, and nobody is asked to try again."""

    async def run() -> None:
        async with on_postgres.open(tmp_path) as store:
            await add_projects(store)
            hands = [
                ProjectFiles(store, project, by=AUTHOR, clock=lambda: 1.0) for project in PROJECTS
            ]
            await hands[0].create("blank.md")
            texts = {f"{n}.md": f"{n}{LONG}" for n in range(4)}
            orders = texts, dict(zip(texts, reversed(texts.values()), strict=True))
            runs = [0, 0]

            async def bring(who: int) -> None:
                Turns.WHO.set(who)
                await hands[who].add("book", orders[who])

            def began(connection: sa.Connection) -> None:
                del connection
                if (who := Turns.WHO.get()) is not None:
                    runs[who] += 1

            sa.event.listen(sa.Engine, "begin", began)
            try:
                with turns([0, 1] * 100):
                    await asyncio.gather(bring(0), bring(1))
            finally:
                sa.event.remove(sa.Engine, "begin", began)
            assert runs == [1, 1]

    asyncio.run(run())
