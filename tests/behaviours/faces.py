"""The faces of a run that the corpus is checked on."""

from __future__ import annotations

from typing import Protocol

from .corpus import Case
from .direct import Direct
from .outcome import Outcome, wrongs
from .served import Served


class Face(Protocol):
    @property
    def name(self) -> str: ...

    async def start(self, case: Case) -> Outcome:
        """Do what the case drives, through this face, and tell what came of it."""
        ...


FACES: dict[str, Face] = {
    face.name: face
    for face in (Direct(), Direct(streaming=False), Served(replay=False), Served(replay=True))
}


async def check(case: Case, face: Face) -> list[str]:
    """What is wrong with a case on a face; empty is right."""
    return wrongs(await face.start(case), case.expect)
