"""Fetch the embedded model before the first start, unless another one answers.

Nothing is fetched when a provider or another model is set (in the environment or in the studio), when
`WENFANG_MODEL=none`, or when the model is there. A failure is not fatal: the studio opens without a
model and says so.
"""

from __future__ import annotations

import subprocess
import sys

from wenfang.problems import Problem
from wenfang.settings import SettingsStore, data_dir


def is_wanted() -> bool:
    try:
        settings = SettingsStore(data_dir()).current()
    except Problem:
        return False  # `wenfang serve` says what is wrong
    return settings.provider == "embedded" and not settings.model


def main() -> None:
    if not is_wanted():
        return
    if subprocess.run([sys.executable, "-m", "wenfang", "model", "pull"], check=False).returncode:
        print("Going on without the embedded model.", file=sys.stderr)


if __name__ == "__main__":
    main()
