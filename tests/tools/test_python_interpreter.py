"""The sandbox: what it computes, sixty ways to break it (tools.md §1.3), and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wenfang.core import ToolCall, ToolContext, ToolError, ToolOutput
from wenfang.core.arguments import bind
from wenfang.tools import PythonSandbox, SandboxLimits, make_python_tool

LIMITS = SandboxLimits(wall_s=0.5, memory_bytes=64 * 1024 * 1024)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def sandbox(anyio_backend: str) -> AsyncIterator[PythonSandbox]:
    made = PythonSandbox(LIMITS)
    yield made
    before = workers()
    assert before
    await made.aclose()
    assert not workers() & before


def workers() -> set[int]:
    """Processes that are children of this one."""
    found: set[int] = set()
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
                with open(f"/proc/{entry}/cmdline") as file:
                    command = file.read()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and "monty" in command and fields[0] != "Z":
                found.add(int(entry))
    return found


TARGET = Path(__file__).with_name("attacked.txt")


def attack_left_a_file() -> bool:
    return TARGET.exists()


async def run(sandbox: PythonSandbox, code: str) -> ToolOutput:
    made = make_python_tool(sandbox)
    context = ToolContext(call_id="c1", key="k1", update=lambda text, fraction: None)
    call = ToolCall(id="c1", name=made.name, arguments={"code": code})
    output = await made.handler(context, bind(made, call))
    assert isinstance(output, ToolOutput)
    return output


PROGRAMS = {
    "value": ("1 + 1", "2"),
    "print": ("print('你好')\nprint(3)", "你好\n3"),
    "both": ("print('a')\n{'b': [1, (2,), {3}]}", "a\nValue of the last line: {'b': [1, (2,), {3}]}"),
    "nothing": ("x = 1", "(No output. Print the result or end with it.)"),
    "none": ("None", "(No output. Print the result or end with it.)"),
    "text": ("'a' * 3", "'aaa'"),
    "object": ("class A:\n    def __init__(self):\n        self.x = 1\nA()", "A{'x': 1}"),
    "named-tuple": ("from collections import namedtuple\nnamedtuple('P', 'x y')(1, 2)", "P(1, 2)"),
    "sets": ("[set(), frozenset([1])]", "[set(), frozenset(1)]"),
    "statistics": ("import statistics\nstatistics.mean([1, 2, 4.5])", "2.5"),
    "statistics-from": ("from statistics import stdev, median\n[stdev([1, 2, 3]), median([3, 1])]", "[1.0, 2.0]"),
    "quantiles": ("import statistics\nstatistics.quantiles([1, 2, 3, 4], n=2)", "[2.5]"),
    "json": ("import json\njson.dumps({'a': 1})", "'{\"a\": 1}'"),
    "date": ("import datetime\ndatetime.date(2026, 1, 31)", "datetime.date(2026, 1, 31)"),
    "long-integer": ("2 ** 20000", "<integer of 20001 bits>"),
    "fibonacci": ("def f(n):\n    return n if n < 2 else f(n-1) + f(n-2)\nf(15)", "610"),
}  # fmt: skip


@pytest.mark.anyio
@pytest.mark.parametrize("row", PROGRAMS.values(), ids=PROGRAMS)
async def test_programs(sandbox: PythonSandbox, row: tuple[str, str]) -> None:
    code, content = row
    output = await run(sandbox, code)
    assert output.content == content
    assert output.details == {"ending": "ok"}
    assert not output.is_error


FAULTS = {
    "exception": ("print('before')\n1/0", "error", "before\nTraceback"),
    "line": ("x = 1\ny = x / 0", "error", "line 2"),
    "syntax": ("1 +", "syntax", "SyntaxError"),
    "inheritance": ("class A(Exception): pass", "unsupported", "class inheritance"),
    "generator": ("def f():\n    yield 1", "unsupported", "yield"),
    "module": ("import numpy", "unsupported", "numpy"),
    "advice": ("import numpy", "unsupported", "see the description of this tool"),
    "statistics-empty": ("import statistics\nstatistics.mean([])", "error", "at least one"),
    "statistics-type": ("import statistics\nstatistics.mean('ab')", "error", "list or tuple"),
    "statistics-values": ("import statistics\nstatistics.mean(['a'])", "error", "int and float"),
    "statistics-large": ("import statistics\nstatistics.mean([2**2000])", "error", "too large"),
    "statistics-many": (
        "import statistics\nfor i in range(20): statistics.fmean([1] * 10000)",
        "error",
        "at most 100000 values",
    ),
}


@pytest.mark.anyio
@pytest.mark.parametrize("row", FAULTS.values(), ids=FAULTS)
async def test_faults_say_what_is_wrong(sandbox: PythonSandbox, row: tuple[str, str, str]) -> None:
    code, ending, words = row
    output = await run(sandbox, code)
    assert output.details == {"ending": ending}
    assert words in str(output.content)
    assert output.is_error


LOOP = "while True:\n    try:\n        while True: pass\n    except {}: pass"
WALK = "[c for c in ().__class__.__bases__[0].__subclasses__()]"
# Each attack with the endings that hold it: limits (time, memory), refusals (error, unsupported,
# syntax), or a harmless end (ok).
ATTACKS: dict[str, tuple[str, str]] = {
    "endless-loop": ("while True: pass", "time"),
    "list-growth": ("x = []\nwhile True: x.append(0)", "time memory"),
    "dict-growth": ("d = {}\ni = 0\nwhile True:\n    d[i] = i\n    i += 1", "time memory"),
    "text-bomb": ("'a' * 10**10", "memory"),
    "list-bomb": ("[0] * 10**10", "memory"),
    "recursion": ("def f(n): return f(n + 1)\nf(0)", "error"),
    "deep-compare": (
        "a, b = [], []\nfor i in range(200000): a, b = [a], [b]\na == b",
        "error memory",
    ),
    "deep-repr": ("a = []\nfor i in range(1000000): a = [a]\nrepr(a)", "error memory ok time"),
    "deep-result": ("a = []\nfor i in range(100000): a = [a]\na", "ok"),
    "shared-result": ("a = [0] * 1000\nb = [a] * 1000\n[b] * 1000", "ok"),
    "power-tower": ("9 ** 9 ** 9", "memory error"),
    "squaring": ("x = 3\nwhile True: x = x * x", "time memory"),
    "factorial": ("import math\nmath.factorial(10**7)", "time memory error"),
    "regex": ("import re\nre.match('(a+)+$', 'a' * 40 + 'b')", "ok"),
    "regex-backreference": ("import re\nre.match(r'(a+)+\\1+$', 'a' * 40 + 'b')", "ok error time"),
    "list-root": ("import os\nos.listdir('/')", "error"),
    "shell": ("import os\nos.system('id')", "error"),
    "popen": ("import os\nos.popen('id').read()", "error"),
    "subprocess": ("import subprocess\nsubprocess.run(['id'])", "unsupported"),
    "socket": ("import socket\nsocket.create_connection(('127.0.0.1', 80))", "unsupported"),
    "urllib": ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1')", "unsupported"),
    "read-passwd": ("open('/etc/passwd').read()", "error"),
    "read-environ": ("open('/proc/self/environ').read()", "error"),
    "read-pathlib": ("from pathlib import Path\nPath('/etc/passwd').read_text()", "error"),
    "write": (f"open({str(TARGET)!r}, 'w').write('x')", "error"),
    "write-relative": ("open('x.txt', 'w').write('x')", "error"),
    "environment": ("import os\nos.environ['PATH']", "error"),
    "environment-get": ("import os\nos.getenv('HOME')", "ok error"),
    "subclasses": (WALK, "error"),
    "globals": ("(lambda: 1).__globals__", "error"),
    "builtins": ("__builtins__['open']", "error"),
    "import-call": ("__import__('os').system('id')", "error unsupported"),
    "eval": ('eval(\'__import__("os").system("id")\')', "error unsupported"),
    "exec": ("exec('import os; os.system(\"id\")')", "error unsupported"),
    "compile": ("compile('1', 'x', 'eval')", "error"),
    "format-walk": ("'{0.__class__.__mro__}'.format(1)", "error"),
    "traceback-frames": (
        "try:\n    1/0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_globals",
        "error",
    ),
    "generator-frames": ("(x for x in [1]).gi_frame.f_back", "error"),
    "wide-dunder": ("().__ｃlass__", "error ok"),
    "pickle": ("import pickle\npickle.loads(b'cos\\nsystem\\n')", "unsupported"),
    "ctypes": ("import ctypes\nctypes.string_at(0)", "unsupported"),
    "large-print": ("print('x' * 10**7)", "ok"),
    "print-flood": ("while True: print('x' * 1000)", "time"),
    "large-value": ("'a' * 30_000_000", "ok"),
    "sleep": ("import time\ntime.sleep(60)", "time"),
    "sleep-async": ("import asyncio\nawait asyncio.sleep(60)", "time"),
    "signals": ("import signal\nsignal.signal(15, 1)\nwhile True: pass", "unsupported"),
    "catch-exception": (LOOP.format("Exception"), "time"),
    "catch-everything": (LOOP.format("BaseException"), "time"),
    "finally": ("try:\n    while True: pass\nfinally:\n    while True: pass", "time"),
    "forks": ("import os\nfor i in range(40): os.fork()", "error"),
    "kill-parent": ("import os\nos.kill(os.getppid(), 9)", "error"),
    "exit": ("import sys\nsys.exit(3)", "error ok"),
    "threads": ("import threading\nthreading.Thread(target=print).start()", "unsupported"),
    "recursion-limit": ("import sys\nsys.setrecursionlimit(10**9)", "error"),
    "parentheses": ("(" * 5000 + "1" + ")" * 5000, "syntax error"),
    "minus": ("-" * 15000 + "1", "syntax error"),
    "recursive-repr": ("class A:\n    def __repr__(self): return repr(self)\nrepr(A())", "error"),
    "recursive-key": ("def k(x): return sorted([x], key=k)\nsorted([1], key=k)", "error"),
    "deep-json": ("import json\njson.loads('[' * 10**6)", "error"),
    "endless-range": ("list(range(10**12))", "time memory"),
    "endless-count": ("import itertools\nlist(itertools.count())", "time memory"),
    "colliding-keys": ("d = {i * (2**61 - 1): 0 for i in range(60000)}\nlen(d)", "ok time"),
    "many-tasks": (
        "import asyncio\nasync def f(): pass\nawait asyncio.gather(*[f() for i in range(10**6)])",
        "time memory error",
    ),
    "host-call-flood": (
        "import statistics\nwhile True:\n    try: statistics.mean([1])\n    except Exception: pass",
        "time error",
    ),
    "host-object": ("import statistics\nstatistics.mean.__globals__", "error"),
}


@pytest.mark.anyio
@pytest.mark.parametrize("row", ATTACKS.values(), ids=ATTACKS)
async def test_attacks(sandbox: PythonSandbox, row: tuple[str, str]) -> None:
    """Half a second is enough where time ends it; where something else does, a busy machine gets the time
    that the product gives."""
    code, endings = row
    if "time" in endings.split():
        await attack(sandbox, code, endings)
        assert len(workers()) <= LIMITS.processes
        return
    patient = PythonSandbox(replace(LIMITS, wall_s=SandboxLimits().wall_s))
    before = workers()
    try:
        await attack(patient, code, endings)
        assert len(workers() - before) <= LIMITS.processes
    finally:
        await patient.aclose()
    assert workers() <= before


async def attack(sandbox: PythonSandbox, code: str, endings: str) -> None:
    started = time.monotonic()
    output = await run(sandbox, code)
    assert isinstance(output.details, dict)
    assert output.details["ending"] in endings.split(), output.content
    assert time.monotonic() - started < sandbox.limits.wall_s + 4
    assert len(str(output.content)) < 140_000
    assert "uid=" not in str(output.content)
    assert "root:" not in str(output.content)
    assert not attack_left_a_file()
    assert (await run(sandbox, "1 + 1")).content == "2"


@pytest.mark.anyio
async def test_long_output_keeps_its_ends(sandbox: PythonSandbox) -> None:
    content = str((await run(sandbox, "print('first')\nprint('x' * 10**6)\nprint('last')")).content)
    assert content.startswith("first\nxxx")
    assert content.endswith("xxx\nlast")
    assert f"({1_000_012 - 65_536} characters left out)" in content


@pytest.mark.anyio
async def test_a_long_value_is_cut(sandbox: PythonSandbox) -> None:
    content = str((await run(sandbox, "list(range(100000))")).content)
    assert content.startswith("[0, 1, 2, ")
    assert content.endswith("... (the value goes on)")
    assert len(content) < 66_000


@pytest.mark.anyio
async def test_long_code_is_refused(sandbox: PythonSandbox) -> None:
    with pytest.raises(ToolError, match="20001 bytes; the limit is 20000"):
        await run(sandbox, "#" * 20_001)


@pytest.mark.anyio
async def test_nothing_is_kept_between_runs(sandbox: PythonSandbox) -> None:
    await run(sandbox, "x = 1")
    assert "NameError" in str((await run(sandbox, "x")).content)


async def until(condition: Any) -> Any:
    async with asyncio.timeout(10):
        while not (value := condition()):
            await asyncio.sleep(0.005)
    return value


@pytest.mark.anyio
async def test_a_worker_that_dies_is_replaced() -> None:
    sandbox = PythonSandbox(SandboxLimits(wall_s=20))
    try:
        before = workers()
        task = asyncio.create_task(run(sandbox, "while True: pass"))
        (pid,) = await until(lambda: workers() - before)
        await until(lambda: busy(pid))
        os.kill(pid, signal.SIGKILL)
        output = await task
        assert output.details == {"ending": "crash"}
        assert output.content == "The interpreter died."
        assert (await run(sandbox, "1")).content == "1"
    finally:
        await sandbox.aclose()
    assert workers() <= before


def busy(pid: int) -> bool:
    """Whether a process has used processor time since it started running code."""
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[11]) > 5


@pytest.mark.anyio
async def test_a_cancelled_run_stops_its_worker_and_no_other() -> None:
    sandbox = PythonSandbox(SandboxLimits(wall_s=20))
    try:
        before = workers()
        running = asyncio.create_task(run(sandbox, "while True: pass"))
        (pid,) = await until(lambda: workers() - before)
        await until(lambda: busy(pid))
        other = asyncio.create_task(run(sandbox, "sum(range(10**6))"))
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert pid not in workers()
        assert (await other).content == "499999500000"
    finally:
        await sandbox.aclose()
    assert workers() <= before


@pytest.mark.anyio
async def test_runs_wait_for_a_free_worker_and_can_be_cancelled_there(
    sandbox: PythonSandbox,
) -> None:
    runs = [asyncio.create_task(run(sandbox, "while True: pass")) for _ in range(2)]
    waiting = asyncio.create_task(run(sandbox, "1"))
    await until(lambda: len(workers()) == 2)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert [(await each).details for each in runs] == [{"ending": "time"}] * 2


@pytest.mark.anyio
async def test_a_sandbox_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MONTY_BIN", "/nonexistent/monty")
    output = await run(PythonSandbox(LIMITS), "1")
    assert output.content == "The sandbox does not start on this machine."
    assert output.details == {"ending": "unavailable"}
    assert output.is_error


@pytest.mark.anyio
async def test_closing_twice_and_before_use() -> None:
    sandbox = PythonSandbox(LIMITS)
    await sandbox.aclose()
    await sandbox.aclose()


def test_the_interpreter_ends_cleanly_and_leaves_no_process() -> None:
    script = (
        "import asyncio, sys\n"
        "from wenfang.tools import PythonSandbox\n"
        "async def main():\n"
        "    sandbox = PythonSandbox()\n"
        "    print((await sandbox.run('1 + 1')).value)\n"
        "    if sys.argv[1] == 'close':\n"
        "        await sandbox.aclose()\n"
        "asyncio.run(main())"
    )
    for how in ("close", "leave"):
        done = subprocess.run(
            [sys.executable, "-c", script, how], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_importing_the_tools_does_not_load_the_sandbox() -> None:
    script = "import sys, wenfang.tools; print('pydantic_monty' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


def test_the_tool_declares_what_it_is() -> None:
    made = make_python_tool(PythonSandbox())
    assert (made.name, made.access, made.replay) == ("python_interpreter", "read", "read")
    assert "no files, no network" in made.description
    assert bind(made, ToolCall(id="c", name="p", arguments={"snippet": "1"})).model_dump() == {
        "code": "1"
    }
