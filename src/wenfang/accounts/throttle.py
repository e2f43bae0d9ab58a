"""How often something may be tried: counters in the database, the same for all replicas."""

from __future__ import annotations

from collections.abc import Iterable

import sqlalchemy as sa

from wenfang.problems import Problem
from wenfang.storage import Tx, attempts

WINDOW_S = 900.0
_PER_PAIR, _PER_NAME, _PER_ADDRESS = 5, 50, 50


def login_limits(name_key: str, address: str) -> tuple[tuple[str, int], ...]:
    """Guessing one password from one place ends soon; so that nobody can lock out others from elsewhere,
    a name and an address alone may fail more often."""
    return (
        (f"login:{address}:{name_key}", _PER_PAIR),
        (f"name:{name_key}", _PER_NAME),
        (f"address:{address}", _PER_ADDRESS),
    )


def take(tx: Tx, limits: Iterable[tuple[str, int]], now: float) -> Problem | None:
    """Count a try before it is made, so that tries at the same time count too. The problem
    `login_throttled` if there were too many; then nothing more is counted."""
    names = dict(limits)
    for name in sorted(names):
        tx.lock(name)
    tx.sa.execute(attempts.delete().where(attempts.c.until <= now))
    known = {
        row.name: (row.until, row.tries) for row in tx.sa.execute(_OF, {"names": sorted(names)})
    }
    waits = [until - now for name, (until, tries) in known.items() if tries >= names[name]]
    if waits:
        return Problem("login_throttled", seconds=int(max(waits)) + 1)
    for name in names:
        if name in known:
            more = attempts.update().where(attempts.c.name == name)
            tx.sa.execute(more.values(tries=attempts.c.tries + 1))
        else:
            tx.sa.execute(attempts.insert().values(name=name, tries=1, until=now + WINDOW_S))
    return None


def forgive(tx: Tx, limits: Iterable[tuple[str, int]]) -> None:
    """It was no guess: it does not count, nor do the typing errors before it from the same place."""
    pair, *others = (name for name, _ in limits)
    tx.sa.execute(attempts.delete().where(attempts.c.name == pair))
    tx.sa.execute(
        attempts.update()
        .where(attempts.c.name.in_(others), attempts.c.tries > 0)
        .values(tries=attempts.c.tries - 1)
    )


_OF = sa.select(attempts).where(attempts.c.name.in_(sa.bindparam("names", expanding=True)))
