"""Fail when a room's branch coverage is under its bound.

    python scripts/coverage_gate.py REPORT.json ROOM...

Two figures must reach the bound in each room: the branches taken of all branches, and coverage's own
percentage of lines and branches together.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path, PurePath
from typing import Any

BOUND = 95.0
COUNTS = ("covered_branches", "num_branches", "covered_lines", "num_statements")


def room_figures(files: dict[str, Any], room: str) -> tuple[float, float]:
    """Percent of branches, and of lines and branches together, over the files of a room."""
    total: Counter[str] = Counter()
    for name, file in files.items():
        if PurePath(name).parts[:3] == ("src", "wenfang", room):
            total.update({key: file["summary"][key] for key in COUNTS})
    both = total["num_statements"] + total["num_branches"]
    if not both:
        raise SystemExit(f"coverage gate: no file of the room {room!r} in the report")
    branches = total["covered_branches"] / total["num_branches"] if total["num_branches"] else 1
    return 100 * branches, 100 * (total["covered_branches"] + total["covered_lines"]) / both


def weakest(files: dict[str, Any], room: str) -> list[str]:
    """The files of a room with missing lines or branches, worst first."""
    rows = [
        (file["summary"]["missing_branches"] + file["summary"]["missing_lines"], name)
        for name, file in files.items()
        if PurePath(name).parts[:3] == ("src", "wenfang", room)
    ]
    return [
        f"    {missing:4} missing in {name}"
        for missing, name in sorted(rows, reverse=True)
        if missing
    ]


def main(report: str, *rooms: str) -> int:
    try:
        files = json.loads(Path(report).read_text("utf-8"))["files"]
    except (OSError, ValueError, KeyError) as error:
        raise SystemExit(f"coverage gate: {report} cannot be read: {error}") from error
    short = False
    for room in rooms:
        branches, both = room_figures(files, room)
        is_short = min(branches, both) < BOUND
        short |= is_short
        print(f"coverage of {room}: branches {branches:.1f} %, lines and branches {both:.1f} %")
        if is_short:
            print(f"  under the bound of {BOUND:.0f} %", *weakest(files, room)[:8], sep="\n")
    return int(short)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
