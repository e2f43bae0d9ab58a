"""The project's own regression benchmark: ratios to a bare aiohttp loop, measured in the same run.

    python bench/run.py                 # everything, about two minutes
    python bench/run.py --only S1,RUN   # some scenarios; RUN is the whole server, TEXT the text dialects
    python bench/run.py --json out.json

All contenders run in processes of their own against one scripted model server and take turns; a figure
is the median over the rounds of the ratio within a round. CPU is the contender's own. If the `openai`
package is installed, a bare loop on it joins, and the gates of design §8, which are ratios to it, are
checked directly; otherwise they are checked against the bare loop through the measured relation of the
two (bare = 0.065 of the SDK per step, 0.08 per delta, 0.26 at import). Exit code 1 if a gate fails.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server import REFERENCE_BARE_US, measure_server

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """One figure. `gate` is in units of the SDK loop, `bare_in_sdk` is what the bare loop measures
    there; both None for figures without a gate. `more` marks figures where more is better."""

    id: str
    what: str
    do: dict[str, Any]
    key: str
    unit: str
    gate: float | None = None
    bare_in_sdk: float | None = None
    more: bool = False


ROWS = [
    Row("S1", "CPU per request", {"do": "steps", "stream": False}, "us", "us", 0.10, 0.065),
    Row(
        "S2", "CPU per request, streamed", {"do": "steps", "stream": True}, "us", "us", 0.10, 0.065
    ),
    Row("S3", "CPU per delta, burst", {"do": "burst"}, "us", "us", 0.08, 0.08),
    Row("S3", "lag of a delta, p50", {"do": "paced"}, "lag_us", "us", 0.6, 0.37),
    Row(
        "S4",
        "runs per second, 200 at once",
        {"do": "concurrent"},
        "runs_s",
        "/s",
        10,
        14,
        more=True,
    ),
    Row("S4", "peak memory per run", {"do": "concurrent"}, "kb", "kB"),
    Row("S5", "CPU per step at step 300", {"do": "history"}, "us_at_300", "us", 0.01, 0.01),
    Row("S5", "CPU per step at step 10", {"do": "history"}, "us_at_10", "us"),
    Row("S6", "CPU of the import", {"do": "importing"}, "us", "us", 0.35, 0.26),
    Row("S6", "CPU until the first agent", {"do": "importing"}, "ready_us", "us"),
]
KB_GATE = 100.0
ABOVE_NATIVE_US = 3.0


class Process:
    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args} ended with {self.process.wait()}")
        return line

    def ask(self, command: dict[str, Any]) -> dict[str, float]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return json.loads(self.line())

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


def measure(base_url: str, only: set[str], rounds: int) -> dict[str, dict[str, list[float]]]:
    """figure name -> contender -> one value per round."""
    names = ["bare", "wenfang"] + (["sdk"] if importlib.util.find_spec("openai") else [])
    jobs = {json.dumps(row.do): row.do for row in ROWS if not only or row.id in only}
    if not jobs:
        return {}
    seen: dict[str, dict[str, list[float]]] = {}
    for number in range(rounds):
        for name in names:
            worker = Process(str(HERE / "worker.py"), name, base_url)
            worker.line()
            worker.ask({"do": "steps", "stream": True})  # warm
            for key, job in jobs.items():
                if name == "sdk" and number and job["do"] in ("burst", "history"):
                    continue  # minutes, for a figure that does not move
                for figure, value in worker.ask(dict(job)).items():
                    seen.setdefault(key + figure, {}).setdefault(name, []).append(value)
            worker.close()
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return seen


def judge(row: Row, values: dict[str, list[float]]) -> tuple[str, float, bool]:
    """The printed line, the ratio to the bare loop, and whether the gate holds."""
    ours, bare = values["wenfang"], values["bare"]
    to_bare = statistics.median(a / b for a, b in zip(ours, bare, strict=True))
    in_sdk, source = None, ""
    if "sdk" in values:
        in_sdk, source = statistics.median(ours) / statistics.median(values["sdk"]), "measured"
    elif row.bare_in_sdk is not None:
        in_sdk, source = to_bare * row.bare_in_sdk, "derived"
    ok = True
    if row.unit == "kB":
        ok = statistics.median(ours) <= KB_GATE
    elif row.gate is not None and in_sdk is not None:
        ok = in_sdk >= row.gate if row.more else in_sdk <= row.gate
    gate = f"{KB_GATE:g} kB" if row.unit == "kB" else "" if row.gate is None else f"{row.gate:g}"
    sdk = "" if in_sdk is None else f"{in_sdk:.3f} {source}"
    line = (
        f"{row.id}  {row.what:<30} {statistics.median(ours):>10.1f} {row.unit:<3}"
        f"{statistics.median(bare):>10.1f} {to_bare:>7.2f}  {sdk:>16}  {gate:>7}  {'ok' if ok else 'OVER'}"
    )
    return line, to_bare, ok


def measure_dialects(base_url: str, bare_us: Callable[[], float], rounds: int) -> bool:
    """Print what reading each text dialect costs above native calling; False if it is too much."""
    ours = Process(str(HERE / "worker.py"), "wenfang", base_url)
    ours.line()
    seen = [(ours.ask({"do": "dialects"}), bare_us()) for _ in range(rounds)]
    ours.close()
    all_ok = True
    for name in seen[0][0]:
        value = statistics.median(us[name] for us, _ in seen)
        judged = statistics.median(us[name] / bare for us, bare in seen) * REFERENCE_BARE_US
        ok = judged <= ABOVE_NATIVE_US
        all_ok = all_ok and ok
        print(
            f"TEXT {name:<9} per delta above native {value:>6.2f} us: {judged:.2f} us in the design's time,"
            f" gate {ABOVE_NATIVE_US:g}  {'ok' if ok else 'OVER'}"
        )
    return all_ok


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    options.add_argument("--only", default="", help="scenario ids, with commas")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", help="also write the raw values to this file")
    given = options.parse_args()
    only = {each for each in given.only.split(",") if each}
    model = Process(str(HERE / "model.py"))
    base_url = f"http://127.0.0.1:{model.line().strip()}/v1"
    seen = measure(base_url, only, given.rounds)
    if seen:
        print(
            "id  figure                             wenfang           bare  x bare        x SDK loop     gate"
        )
    all_ok = True
    for row in ROWS:
        if not only or row.id in only:
            line, _, ok = judge(row, seen[json.dumps(row.do) + row.key])
            all_ok = all_ok and ok
            print(line)
    bare = Process(str(HERE / "worker.py"), "bare", base_url)
    bare.line()

    def bare_us() -> float:
        return bare.ask({"do": "steps", "stream": True})["us"]

    if not only or "TEXT" in only:
        all_ok = measure_dialects(base_url, bare_us, given.rounds) and all_ok
    if not only or "RUN" in only:
        all_ok = measure_server(base_url, bare_us, given.rounds) and all_ok
    bare.close()
    model.close()
    if given.json:
        Path(given.json).write_text(json.dumps(seen, indent=1), encoding="utf-8")
    return 0 if all_ok else 1


if __name__ == "__main__":
    sys.exit(main())
