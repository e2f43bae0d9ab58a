"""`python -m tests.behaviours [FB05 ...]`: one row per script and face; fails if one is wrong."""

from __future__ import annotations

import asyncio
import sys

from .corpus import load_cases
from .faces import FACES, check


def main(only: list[str]) -> int:
    wrong = total = 0
    for prefix in only or [""]:
        for case in load_cases(prefix):
            for name in [n for n in case.faces if n in FACES]:
                found = asyncio.run(check(case, FACES[name]))
                total += 1
                wrong += bool(found)
                print(f"{case.id:7} {name:7} {'WRONG' if found else 'right'}  {case.about}")
                for each in found:
                    print(f"{'':16}{each}")
    print(f"{total - wrong} of {total} right")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
