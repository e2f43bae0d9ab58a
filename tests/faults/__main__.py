"""`python -m tests.faults --seed N [--runs 200] [--only K4]`: one row per id, and the sum."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.faults.cases import CASES, Case


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the same seed injects the same faults")
    parser.add_argument("--runs", type=int, default=200, help="how many injections in all")
    parser.add_argument("--only", default="", help="only ids that begin so")
    options = parser.parse_args(arguments)
    cases = [case for case in CASES if case.id.startswith(options.only)]
    if not cases:
        parser.error(
            f"there is no id {options.only!r}; the ids are {', '.join(c.id for c in CASES)}"
        )
    total = sum(_row(case, n, options) for n, case in enumerate(cases))
    print(f"{options.runs} runs, seed {options.seed}: {total} violations")
    return 1 if total else 0


def _row(case: Case, at: int, options: argparse.Namespace) -> int:
    """Do a case's share of the runs; print its row, and every violation with what repeats it."""
    count = sum(1 for c in CASES if c.id.startswith(options.only))
    share = options.runs // count + (at < options.runs % count)
    began, bad = time.monotonic(), 0
    for n in range(share):
        found = _once(case, Random(f"{options.seed}:{case.id}:{n}"))
        bad += len(found)
        for problem in found:
            print(f"     {case.id} run {n}: {problem}", flush=True)
    took = time.monotonic() - began
    print(f"{case.id:3}  {share:3} runs  {bad} violations  {took:6.1f} s  {case.about}", flush=True)
    return bad


def _once(case: Case, random: Random) -> list[str]:
    folder = Path(tempfile.mkdtemp(prefix="wenfang-faults-"))
    try:
        return case.run(folder, random)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
