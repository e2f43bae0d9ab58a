"""`python -m tests.behaviours [FB05 ...]`: one row per script and face; fails if one is wrong."""

from __future__ import annotations

import asyncio
import sys

from .corpus import Case, load_cases
from .faces import check, faces_of


def main(only: list[str]) -> int:
    rows = [row for prefix in only or [""] for case in load_cases(prefix) for row in _rows(case)]
    right = sum(rows)
    print(f"{right} of {len(rows)} right")
    return 0 if rows and right == len(rows) else 1


def _rows(case: Case) -> list[bool]:
    """Print a case, one row per face; True for each that is right."""
    rows: list[bool] = []
    for face in faces_of(case):
        for name, wrong in asyncio.run(check(case, face)).items():
            print(f"{case.id:6} {name:7} {'WRONG' if wrong else 'right'}  {case.about}", flush=True)
            for each in wrong:
                print(f"{'':15}{each}")
            rows.append(not wrong)
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
