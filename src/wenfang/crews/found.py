"""What probes found out about models, kept in the data directory: one row per provider, address and model.

A row says which dialect `auto` means for a model. A person's own choice is a setting and stands above it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from wenfang.core import DialectName
from wenfang.problems import Problem
from wenfang.settings import Provider, replace_file, storage_problem

from .probing import Score, Search

FILE = "dialects.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A model that was probed. `model` is a provider's name for it, or the path of a local file."""

    provider: Provider
    base_url: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The best dialect for `subject`, found at `at` (Unix seconds), and the scores that say why."""

    subject: Subject
    at: float
    best: Score
    scores: tuple[Score, ...]

    @property
    def dialect(self) -> DialectName:
        return self.best.dialect


@cache
def _rows() -> TypeAdapter[list[Found]]:
    """Built when there is something to read or write, which for most servers is never."""
    return TypeAdapter(list[Found])


class FoundDialects:
    """The rows of one data directory. The file is read each time and replaced as a whole."""

    def __init__(self, data: Path, *, now: Callable[[], float] = time.time) -> None:
        self.file = data / FILE
        self._now = now

    def get(self, subject: Subject) -> Found | None:
        """Raises Problem `settings_invalid`."""
        return next((row for row in self._rows() if row.subject == subject), None)

    def put(self, subject: Subject, search: Search) -> Found:
        """Keep the end of a search that has a best. Raises Problem `settings_invalid`,
        `data_unwritable`, `disk_full`."""
        assert search.best is not None
        found = Found(subject=subject, at=self._now(), best=search.best, scores=search.scores)
        rows = [row for row in self._rows() if row.subject != subject]
        try:
            replace_file(self.file, _rows().dump_json([*rows, found], indent=2) + b"\n")
        except OSError as error:
            raise storage_problem(error, self.file.parent) from error
        return found

    def _rows(self) -> list[Found]:
        try:
            return _rows().validate_json(self.file.read_bytes())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._invalid("it cannot be read") from error
        except ValidationError as error:
            raise self._invalid(error.errors(include_url=False)[0]["msg"]) from error

    def _invalid(self, problem: str) -> Problem:
        return Problem("settings_invalid", file=str(self.file), problem=problem)
