"""python_interpreter: computing that the calculator cannot do, in a sandbox."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from wenfang.core import Tool, ToolError, ToolOutput, tool

from .sandbox import PythonSandbox, SandboxResult

_MAX_CODE_BYTES = 20_000
_DESCRIPTION = """\
Run a short Python program and get what it prints and the value of its last line. For computing, \
analysing and transforming text and data given in the code.

It is a sandbox: no files, no network, no packages; nothing is kept between calls; 5 seconds and 256 MB.
Works: functions, comprehensions, f-strings, match, with, try, dataclasses, classes without inheritance.
Does not work: yield, del, class inheritance (so no own exceptions or enums), property, staticmethod, \
classmethod, from x import *.
Modules: math, statistics, random, re, json, datetime, decimal, collections, itertools, functools, \
bisect, hashlib, base64, copy, csv, unicodedata, asyncio, dataclasses, typing."""


def make_python_tool(sandbox: PythonSandbox) -> Tool:
    """The tool that runs code in `sandbox`. Whoever made the sandbox closes it."""

    @tool(
        description=_DESCRIPTION,
        access="read",  # the code changes nothing outside of itself: mended code may run, and again
        timeout_s=60.0,
        aliases={"python": "code", "snippet": "code", "script": "code", "source": "code"},
    )
    async def python_interpreter(
        code: Annotated[str, Field(description="The program; print() results or end with a value")],
    ) -> ToolOutput:
        size = len(code.encode())
        if size > _MAX_CODE_BYTES:
            raise ToolError(
                f"The code has {size} bytes; the limit is {_MAX_CODE_BYTES}. Send a shorter program."
            )
        return _output(await sandbox.run(code))

    return python_interpreter


def _output(result: SandboxResult) -> ToolOutput:
    parts = [result.output.rstrip("\n")] if result.output else []
    if result.value is not None:
        parts.append(f"Value of the last line: {result.value}" if parts else result.value)
    if result.error is not None:
        parts.append(result.error)
    if result.ending == "unsupported":
        parts.append("Write it with what the sandbox supports; see the description of this tool.")
    return ToolOutput(
        content="\n".join(parts) or "(No output. Print the result or end with it.)",
        details={"ending": result.ending},
        is_error=result.ending != "ok",
    )
