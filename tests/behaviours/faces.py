"""The faces of a run that the corpus is checked on."""

from __future__ import annotations

from typing import Protocol

from .corpus import Case
from .direct import Direct
from .outcome import Outcome, wrongs
from .served import Served


class Face(Protocol):
    """A way to run a case; it gives one outcome for each of its `names`."""

    @property
    def names(self) -> tuple[str, ...]: ...

    async def start(self, case: Case) -> dict[str, Outcome]:
        """Do what the case drives and tell what came of it."""
        ...


FACES: tuple[Face, ...] = (Direct(), Direct(streaming=False), Served())


async def check(case: Case, face: Face) -> dict[str, list[str]]:
    """What is wrong with a case, for each name of the face that it is for; empty is right."""
    outcomes = await face.start(case)
    return {
        name: wrongs(outcome, case.expect)
        for name, outcome in outcomes.items()
        if name in case.faces
    }


def faces_of(case: Case) -> list[Face]:
    """The faces that a case is for."""
    return [face for face in FACES if set(face.names) & set(case.faces)]
