"""`python -m tests.behaviours [--dialect NAME] [FB05 ...]`: one row per script and face; fails if one is
wrong. With a text dialect: the twins of the scripts that have tools."""

from __future__ import annotations

import argparse
import asyncio
import sys

from .corpus import Case, load_cases
from .faces import check, faces_of
from .twins import TEXT_DIALECTS, twin_of


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m tests.behaviours")
    options.add_argument("only", nargs="*", default=[""])
    options.add_argument("--dialect", choices=["native", *TEXT_DIALECTS], default="native")
    given = options.parse_args(arguments)
    cases = [case for prefix in given.only for case in load_cases(prefix)]
    if given.dialect != "native":
        cases = [twin for case in cases if (twin := twin_of(case, given.dialect)) is not None]
    rows = [row for case in cases for row in _rows(case)]
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
