"""The scripts, one file per row (FB01 ...), each with the expectation that makes it right."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wenfang.core import DIALECTS, Dialect
from wenfang.core.dialects.told import Told
from wenfang.testing import Script, parse_script

DATA = Path(__file__).parent / "data"
FACES = ("direct", "whole", "sse", "replay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One script of a row.

    `drive` is what the person does: `say` starts a run; with `stop_at` (a tool's name, or a text that
    was shown) it is stopped there, with `leave_at` the viewer goes away there, with `crash_at` the
    process dies there and another one takes over. `tools`, `limits`, `tool_choice` and `clients` (the
    models to fall back on) set up the run; `store_fails` are the places in the journal where the
    store fails once. `faces` are those the row means something on. `schemas` are tools given by their
    schemas, by name, each with the text that it returns; `dialect` may also be a format that models were
    trained on.
    """

    id: str
    about: str
    script: Script
    expect: dict[str, Any]
    drive: list[dict[str, Any]] = field(default_factory=lambda: [{"say": "Go."}])
    tools: list[str] = field(default_factory=lambda: ["add"])
    limits: dict[str, Any] = field(default_factory=dict)
    tool_choice: str = "auto"
    dialect: str = "native"
    store_fails: list[str] = field(default_factory=list)
    clients: list[str] = field(default_factory=lambda: ["m"])
    faces: list[str] = field(default_factory=lambda: list(FACES))
    schemas: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)

    @property
    def spoken(self) -> Dialect:
        """The dialect of the run."""
        known: dict[str, Dialect] = {**DIALECTS}
        return known.get(self.dialect) or Told(self.dialect, self.dialect)


def load_cases(only: str = "") -> list[Case]:
    """All cases in order, or those whose id begins with `only`."""
    found: list[Case] = []
    for path in sorted(DATA.iterdir()):
        text = path.read_text("utf-8")
        value = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
        found += [_case(path, each, value) for each in value["scripts"]]
    return [case for case in found if case.id.startswith(only)]


def _case(path: Path, value: dict[str, Any], whole: dict[str, Any]) -> Case:
    script = parse_script(value, name=f"{path.name} {value['id']}")
    fields = dict(script.extra)
    streams_only = any(reply.chunks or reply.raw for reply in script.replies)
    fields.setdefault("faces", [f for f in FACES if f != "whole" or not streams_only])
    for name in ("tools", "limits", "clients", "tool_choice"):
        if name in whole:
            fields.setdefault(name, whole[name])
    return Case(script=script, **fields)
