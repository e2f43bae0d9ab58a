"""The event loop of a command: uvloop where there is one."""

from __future__ import annotations

import asyncio
import sys


def make_runner() -> asyncio.Runner:
    if sys.platform == "win32":
        return asyncio.Runner()
    import uvloop

    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
