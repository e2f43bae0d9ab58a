"""`python -m tests.behaviours [--dialect NAME] [FB05 ...]`: one row per script and face; fails if one is
wrong. With a text dialect: the twins of the scripts that have tools. `--corpus FOLDER [id ...]`: the replies of a
corpus as runs, compared with their native twins."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .corpus import Case, load_cases
from .faces import FACES, check, faces_of
from .replies import Pair, compare, load_pairs
from .twins import TEXT_DIALECTS, twin_of


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(prog="python -m tests.behaviours")
    options.add_argument("only", nargs="*", default=[""])
    options.add_argument("--dialect", choices=["native", *TEXT_DIALECTS], default="native")
    options.add_argument("--corpus", type=Path)
    given = options.parse_args(arguments)
    if given.corpus is not None:
        pairs = [pair for pair in load_pairs(given.corpus) if pair.id.startswith(tuple(given.only))]
        return _report([row for pair in pairs for row in _pair_rows(pair)])
    cases = [case for prefix in given.only for case in load_cases(prefix)]
    if given.dialect != "native":
        cases = [twin for case in cases if (twin := twin_of(case, given.dialect)) is not None]
    return _report([row for case in cases for row in _rows(case)])


def _report(rows: Sequence[bool]) -> int:
    right = sum(rows)
    print(f"{right} of {len(rows)} right")
    return 0 if rows and right == len(rows) else 1


def _rows(case: Case) -> list[bool]:
    """Print a case, one row per face; True for each that is right."""
    return [
        row
        for face in faces_of(case)
        for row in _print(case.id, case.about, asyncio.run(check(case, face)))
    ]


def _pair_rows(pair: Pair) -> list[bool]:
    about = f"{pair.about} ({pair.compared})"
    return [
        row for face in FACES for row in _print(pair.id, about, asyncio.run(compare(pair, face)))
    ]


def _print(name: str, about: str, found: Mapping[str, Sequence[str]]) -> list[bool]:
    for face, wrong in found.items():
        print(f"{name:6} {face:7} {'WRONG' if wrong else 'right'}  {about}", flush=True)
        for each in wrong:
            print(f"{'':15}{each}")
    return [not wrong for wrong in found.values()]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
