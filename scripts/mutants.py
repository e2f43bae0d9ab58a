"""A seeded, sampled mutation run: do the tests notice when the code is wrong?

    python scripts/mutants.py [--seed N] [--sample N] [--jobs N] [--room core|runs]

Takes a random sample of the mutations of `src/wenfang/core` and `src/wenfang/runs` (scripts/mutations.py),
puts each into a copy of the tree and runs the room's tests that reach it, the quickest first. Prints
the survivors and `killed/total`; exits with 1 under 85 %. Why not a library: docs/notes/mutation-testing.md.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from xml.etree import ElementTree

import coverage
from mutations import Mutation, mutate, mutations

ROOT = Path(__file__).resolve().parent.parent
BOUND = 0.85
SAMPLE = 100
ROOMS = {"core": ("tests/core",), "runs": ("tests/runs",)}
MEMORY_BYTES = 6 << 30  # a mutant that collects without end fails instead of filling the machine
USAGE_ERROR = 4  # pytest: among others, a named test does not exist
TESTS = "not slow and not alone"  # a clock that runs under coverage tells nothing
OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", "-m", TESTS)
OPTIONS += (
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)  # plugins are imported before the fork
CONTROL_S = 20.0
MUTANT_S = 25.0  # the quickest tests of a mutant that fit into this; slower ones are left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A mutation of one file. `index` is its place in `mutations` of that file."""

    room: str
    file: str
    index: int
    mutation: Mutation

    def __str__(self) -> str:
        change = f"{self.mutation.before}  ->  {self.mutation.after}"
        return f"{self.file}:{self.mutation.lines[0]}  {change}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The tests as they are: how long each takes, which tests reach each line of a file."""

    seconds: dict[str, float]
    reach: dict[str, dict[int, set[str]]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The room's tests that can notice the mutant, the quickest first. What runs at import is in
        force in every test."""
        tests = self.tests_of_room(mutant.room)
        if mutant.mutation.is_global:
            return tests
        first, last = mutant.mutation.lines
        lines = self.reach.get(mutant.file, {})
        reaching = {test for line in range(first, last + 1) for test in lines.get(line, ())}
        return [test for test in tests if test in reaching]

    def fitting(self, tests: list[str], limit_s: float) -> list[str]:
        """The first tests that fit into a time; at least one."""
        ends = accumulate(self.seconds[test] for test in tests)
        return [
            test
            for test, end in zip(tests, ends, strict=True)
            if end <= limit_s or test == tests[0]
        ]

    def tests_of_room(self, room: str) -> list[str]:
        """All tests of a room, the quickest first."""
        tests = [test for test in self.seconds if test.startswith(ROOMS[room])]
        return sorted(tests, key=lambda test: (self.seconds[test], test))


def all_mutants(rooms: list[str]) -> Iterator[Mutant]:
    for room in rooms:
        for path in sorted((ROOT / "src/wenfang" / room).rglob("*.py")):
            file = path.relative_to(ROOT).as_posix()
            for index, mutation in enumerate(mutations(ast.parse(path.read_text("utf-8")))):
                yield Mutant(room=room, file=file, index=index, mutation=mutation)


def copy_tree(target: Path) -> None:
    """The files git knows or would take, as they are now."""
    command = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file() and not name.startswith("web/"):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def environment(tree: Path) -> dict[str, str]:
    """Processes that a test starts import from the copy too. CI makes hypothesis repeatable."""
    return {**os.environ, "PYTHONPATH": str(tree / "src"), "CI": "true"}


def measure(tree: Path, rooms: list[str]) -> Baseline:
    """Run the tests once as they are, with coverage by test."""
    tests = sorted({path for room in rooms for path in ROOMS[room]})
    sources = [f"--cov=wenfang.{room}" for room in rooms]
    report = tree / "baseline.xml"
    command = [sys.executable, "-m", "pytest", *tests, "-q", "-n", str(os.cpu_count() or 1)]
    command += [*sources, "--cov-context=test", "--cov-report=", f"--junitxml={report}"]
    command += ["-m", TESTS, "-o", "junit_family=xunit1", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=tree, env=environment(tree), capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"The tests fail without any mutation:\n{done.stdout[-4000:]}{done.stderr[-1000:]}"
        )
    return Baseline(seconds=_seconds(report), reach=_reach(tree))


def _seconds(report: Path) -> dict[str, float]:
    times: dict[str, float] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        file, name = case.get("file", ""), case.get("name", "")
        owner = case.get("classname", "").removeprefix(file.removesuffix(".py").replace("/", "."))
        times["::".join((file, *filter(None, owner.split(".")), name))] = float(case.get("time", 0))
    return times


def _reach(tree: Path) -> dict[str, dict[int, set[str]]]:
    data = coverage.CoverageData(str(tree / ".coverage"))
    data.read()
    return {
        Path(file).relative_to(tree).as_posix(): {
            line: {context.rpartition("|")[0] for context in contexts if context}
            for line, contexts in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }


class Bench:
    """A copy of the tree that holds one mutant at a time, and the process that tests it."""

    def __init__(self, tree: Path, log: Path) -> None:
        self.tree, self.log, self.turn = tree, log, 0
        self.pid = 0

    def start(self, mutant: Mutant, tests: list[str], limit_s: float) -> None:
        """Put the mutant in and begin its tests."""
        self.mutant, self.original = mutant, (self.tree / mutant.file).read_text("utf-8")
        self._write(mutate(self.original, mutant.index))
        self._begin(tests, limit_s)

    def control(self, tests: list[str]) -> bool:
        """Whether the tests pass here as they are. If not, every mutant would count as killed."""
        self._begin(tests, 10 * CONTROL_S)
        _, status = os.waitpid(self.pid, 0)
        return status == 0

    def _begin(self, tests: list[str], limit_s: float) -> None:
        self.tests, self.limit_s, self.until = tests, limit_s, time.monotonic() + limit_s
        self._fork()

    def poll(self) -> bool | None:
        """True if the mutant was killed, False if it survived, None while its tests run."""
        done, status = os.waitpid(self.pid, os.WNOHANG)
        if not done and time.monotonic() < self.until:
            return None
        code = os.waitstatus_to_exitcode(status) if done else -1
        self._end(is_running=not done)
        by_file = sorted({test.partition("::")[0] for test in self.tests})
        if (
            code == USAGE_ERROR and self.tests != by_file
        ):  # names of tests come from a changed table
            self._begin(by_file, self.limit_s)
            return None
        self._write(self.original)
        return code != 0

    def _write(self, source: str) -> None:
        """Each writing has a time of its own, so that no compiled file of another mutant fits."""
        path, self.turn = self.tree / self.mutant.file, self.turn + 1
        path.write_text(source, "utf-8")
        os.utime(path, (self.turn, self.turn))

    def _fork(self) -> None:
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                code = self._test()
            except BaseException:  # noqa: BLE001 - what would pass through here would go on as a second parent
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _test(self) -> int:
        import pytest

        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.chdir(self.tree)
        os.environ.update(environment(self.tree))
        sys.path.insert(0, str(self.tree / "src"))
        return int(pytest.main([*OPTIONS, *self.tests]))

    def _end(self, is_running: bool) -> None:
        """End what the tests started too; they share the session of the forked process."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        if is_running:
            os.waitpid(self.pid, 0)


def check_bench(bench: Bench, baseline: Baseline, rooms: list[str]) -> None:
    """Exit with a message if a room's tests fail without any mutation, as many as fit into `CONTROL_S`."""
    for room in rooms:
        if not bench.control(baseline.fitting(baseline.tests_of_room(room), CONTROL_S)):
            sys.exit(
                f"The tests of {room} fail without any mutation:\n{bench.log.read_text()[-4000:]}"
            )


def preload() -> None:
    """Import what the tests import, but nothing of the package: the forked processes start fast."""
    import aiohttp  # noqa: F401
    import fastapi  # noqa: F401
    import hypothesis  # noqa: F401
    import sqlalchemy  # noqa: F401


def run(mutants: list[Mutant], baseline: Baseline, benches: list[Bench]) -> list[Mutant]:
    """Test every mutant; the survivors."""
    waiting, survivors, free, busy = mutants[::-1], [], list(benches), []
    while waiting or busy:
        while waiting and free:
            mutant = waiting.pop()
            tests = baseline.fitting(baseline.tests_of(mutant), MUTANT_S)
            if not tests:
                survivors.append(mutant)
                continue
            bench = free.pop()
            bench.start(mutant, tests, 15 + 4 * sum(baseline.seconds[test] for test in tests))
            busy.append(bench)
        for bench in list(busy):
            killed = bench.poll()
            if killed is None:
                continue
            busy.remove(bench)
            free.append(bench)
            if not killed:
                survivors.append(bench.mutant)
        time.sleep(0.02)
    return survivors


def report(mutants: list[Mutant], survivors: list[Mutant]) -> int:
    for survivor in sorted(survivors, key=lambda each: (each.file, each.index)):
        print(f"survived  {survivor}")
    total, alive = (Counter(each.room for each in group) for group in (mutants, survivors))
    for room in total:
        killed = total[room] - alive[room]
        print(f"{room}: {killed}/{total[room]} killed ({100 * killed / total[room]:.0f} %)")
    killed = len(mutants) - len(survivors)
    print(f"mutants: {killed}/{len(mutants)} killed, {math.floor(100 * killed / len(mutants))} %")
    return int(killed < BOUND * len(mutants))


def main() -> int:
    parser = argparse.ArgumentParser(description="Seeded, sampled mutation run over core and runs.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many mutants; 0 for all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--room", choices=sorted(ROOMS), help="only this room")
    args = parser.parse_args()
    rooms = [args.room] if args.room else list(ROOMS)
    started = time.monotonic()
    every = list(all_mutants(rooms))
    count = min(args.sample or len(every), len(every))
    sample = random.Random(args.seed).sample(every, count)
    with tempfile.TemporaryDirectory(prefix="wenfang-mutants-") as scratch:
        benches = []
        for number in range(args.jobs):
            tree = Path(scratch).resolve() / str(number)
            copy_tree(tree)
            benches.append(Bench(tree, Path(scratch) / f"{number}.log"))
        baseline = measure(benches[0].tree, rooms)
        print(
            f"{count} of {len(every)} mutants, seed {args.seed}, {len(baseline.seconds)} tests",
            flush=True,
        )
        preload()
        check_bench(benches[0], baseline, rooms)
        survivors = run(sample, baseline, benches)
    code = report(sample, survivors)
    print(f"{time.monotonic() - started:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
