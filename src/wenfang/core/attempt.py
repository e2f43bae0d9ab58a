"""The one place in the core that catches everything: foreign code ends here and becomes a value."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")
_log = logging.getLogger("wenfang.core")


async def attempt(work: Awaitable[T]) -> T | Exception:
    """Await foreign code (a tool, a hook, a listener). Its exception is returned and logged with its
    trace for developers; cancellation passes through."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - the driver boundary
        _log.debug("foreign code failed", exc_info=error)
        return error
