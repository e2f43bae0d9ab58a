"""A whole server run: `wenfang serve` on SQLite, one viewer of the event stream, the scripted model.

CPU and memory are those of the server process, read from the kernel. Gates (design §8): 1.5 ms per step,
60 us per delta with persistence, below 80 MB when idle.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import httpx2

TICKS = os.sysconf("SC_CLK_TCK")
STEPS, DELTAS, WARM = 20, 2000, 3
STEP_MS, DELTA_US, IDLE_MB = 1.5, 60.0, 80.0


class Server:
    def __init__(self, model_url: str, data: str) -> None:
        env = os.environ | {
            "WENFANG_DATA": data,
            "WENFANG_PROVIDER": "openai",
            "WENFANG_BASE_URL": model_url,
            "WENFANG_MODEL": "bench",
            "WENFANG_API_KEY": "x",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wenfang", "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=env,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "http://" in line:
                self.url = "http://" + line.split("http://", 1)[1].split()[0].rstrip("/")
                break
        else:
            raise SystemExit("the server did not start")
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        self.client = httpx2.Client(base_url=self.url, timeout=60, trust_env=False)

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def rss_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        response = self.client.post(path, json=body)
        response.raise_for_status()
        return response.json()

    def run(self, session: str, prompt: str) -> dict[str, Any]:
        """Start a run and read its event stream to the end; the closing event."""
        run = self.post(f"/api/sessions/{session}/runs", {"text": prompt})
        last: dict[str, Any] = {}
        with self.client.stream("GET", f"/api/runs/{run['id']}/events") as response:
            pending = b""
            for data in response.iter_bytes():
                *events, pending = (pending + data).split(b"\n\n")
                for event in events:
                    for line in event.split(b"\n"):
                        if line.startswith(b"data:"):
                            last = json.loads(line[5:])
        if last.get("type") != "run.finished" or last.get("status") != "done":
            raise SystemExit(f"a run ended with {last}")
        return last

    def close(self) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait(20)


def measure_server(model_url: str, bare_us: float | None, rounds: int) -> bool:
    """Print the figures; False if a gate does not hold. `bare_us` is the bare loop's CPU per step."""
    with tempfile.TemporaryDirectory() as data:
        Server(model_url, data).close()  # makes the database, which no later start does
        server = Server(model_url, data)
        try:
            idle = server.rss_mb()
            project = server.post("/api/projects", {"title": "bench"})
            counter = iter(range(10_000))

            def once(steps: int, answer: int, pace: int) -> float:
                session = server.post(f"/api/projects/{project['id']}/sessions", {})
                name = f"calculator-{time.monotonic_ns()}-{next(counter)}"
                before = server.cpu_s()
                server.run(session["id"], f"bench:{steps}:10:20:{answer}:0:{pace}:{name}")
                return server.cpu_s() - before

            for _ in range(WARM):
                once(STEPS, 5, 0)
            # One run is a few ticks of the kernel's clock, so several are taken together.
            step_ms = statistics.median(
                sum(once(STEPS, 5, 0) for _ in range(5)) * 1e3 / (5 * (STEPS + 1))
                for _ in range(rounds)
            )
            delta_us = statistics.median(
                once(0, DELTAS, 1000) * 1e6 / DELTAS for _ in range(rounds)
            )
        finally:
            server.close()
    ratio = f"{step_ms * 1e3 / bare_us:.2f} x bare" if bare_us else ""
    rows = [
        ("CPU per step", step_ms, "ms", STEP_MS, ratio),
        ("CPU per delta, paced", delta_us, "us", DELTA_US, ""),
        ("memory when idle", idle, "MB", IDLE_MB, ""),
    ]
    for what, value, unit, gate, note in rows:
        verdict = "ok" if value <= gate else "OVER"
        print(f"RUN {what:<30} {value:>10.1f} {unit:<3} gate {gate:g} {unit}  {note}  {verdict}")
    return all(value <= gate for _, value, _, gate, _ in rows)
