"""A sample of the suite; `python -m tests.faults --seed N` does the whole of it."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.faults.cases import CASES


@pytest.mark.timeout(300)
def test_a_sample_has_no_violation() -> None:
    command = [sys.executable, "-m", "tests.faults", "--seed", "1", "--runs", str(len(CASES))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" 0 violations\n")
    assert done.stdout.count("  1 runs  0 violations") == len(CASES)


def test_an_unknown_id_is_said() -> None:
    command = [sys.executable, "-m", "tests.faults", "--only", "X"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no id 'X'" in done.stderr
