"""Print the counts of test reports as one closing line: `N passed, N failed`."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree


def main(*reports: str) -> None:
    suites = [
        suite
        for report in reports
        for suite in ElementTree.fromstring(Path(report).read_text("utf-8")).iter("testsuite")
    ]
    total, skipped, failures, errors = (
        sum(int(suite.get(key, 0)) for suite in suites)
        for key in ("tests", "skipped", "failures", "errors")
    )
    failed = failures + errors
    print(f"tests: {total - skipped - failed} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    main(*sys.argv[1:])
