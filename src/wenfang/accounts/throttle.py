"""How often something may be tried: counters in the database, the same for all replicas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import sqlalchemy as sa

from wenfang.storage import Tx, attempts


class Limit(NamedTuple):
    """What is called `name` may be done `most` times in a window that begins with the first time."""

    name: str
    most: int
    window_s: float


_QUARTER_S, HOUR_S = 900.0, 3600.0


def login_limits(name_key: str, address: str) -> tuple[Limit, ...]:
    """Guessing one password from one place ends soon; so that nobody can lock out others from elsewhere,
    a name and an address alone may fail more often."""
    return (
        Limit(f"login:{address}:{name_key}", 5, _QUARTER_S),
        Limit(f"name:{name_key}", 50, _QUARTER_S),
        Limit(f"address:{address}", 50, _QUARTER_S),
    )


def take(tx: Tx, limits: Sequence[Limit], now: float) -> int:
    """Count a try before it is made, so that tries at the same time count too. The seconds to wait if there
    were too many, for which nothing more is counted; 0 if there were not."""
    for limit in sorted(limits):
        tx.lock(limit.name)
    tx.sa.execute(attempts.delete().where(attempts.c.until <= now))
    names = {"names": [limit.name for limit in limits]}
    known = {row.name: (row.until, row.tries) for row in tx.sa.execute(_OF, names)}
    waits = [
        known[limit.name][0] - now
        for limit in limits
        if limit.name in known and known[limit.name][1] >= limit.most
    ]
    if waits:
        return int(max(waits)) + 1
    for limit in limits:
        if limit.name in known:
            more = attempts.update().where(attempts.c.name == limit.name)
            tx.sa.execute(more.values(tries=attempts.c.tries + 1))
        else:
            first = {"name": limit.name, "tries": 1, "until": now + limit.window_s}
            tx.sa.execute(attempts.insert().values(first))
    return 0


def forgive(tx: Tx, limits: Sequence[Limit]) -> None:
    """It was no guess: it does not count, nor do the typing errors before it from the same place."""
    pair, *others = (limit.name for limit in limits)
    tx.sa.execute(attempts.delete().where(attempts.c.name == pair))
    tx.sa.execute(
        attempts.update()
        .where(attempts.c.name.in_(others), attempts.c.tries > 0)
        .values(tries=attempts.c.tries - 1)
    )


_OF = sa.select(attempts).where(attempts.c.name.in_(sa.bindparam("names", expanding=True)))
