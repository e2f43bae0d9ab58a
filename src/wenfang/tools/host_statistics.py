"""The `statistics` module that the sandbox lacks, computed by the host (tools.md §1.2).

The values come from untrusted code: only finite amounts of plain numbers are taken, and no error text
but our own or the library's goes back.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any, cast

_MAX_VALUES = 100_000  # in all calls of one run
_MAX_BITS = 1024
_NAMES = (
    *("mean", "fmean", "geometric_mean", "harmonic_mean", "median", "median_low", "median_high"),
    *("mode", "multimode", "stdev", "pstdev", "variance", "pvariance", "quantiles"),
)


def make_statistics() -> dict[str, Callable[..., Any]]:
    """The functions by name, for one run: together they take a bounded number of values."""
    left = [_MAX_VALUES]
    return {name: _guarded(getattr(statistics, name), left) for name in _NAMES}


def _guarded(compute: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    def guarded(data: Any, *, n: int = 4) -> Any:
        values = _numbers(data)
        left[0] -= len(values)
        if left[0] < 0:
            raise ValueError(f"statistics takes at most {_MAX_VALUES} values in one run")
        try:
            if compute is statistics.quantiles:
                return statistics.quantiles(values, n=min(_numbers([n])[0], 1000))
            return compute(values)
        except (ValueError, OverflowError) as error:  # StatisticsError is a ValueError
            raise ValueError(str(error)) from None

    return guarded


def _numbers(data: Any) -> list[Any]:
    if not isinstance(data, list | tuple):
        raise TypeError("statistics functions take a list or tuple of numbers")
    values = list(cast("list[Any]", data))
    for value in values:
        if not isinstance(value, int | float):
            raise TypeError("statistics functions take int and float values only")
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise ValueError("a number is too large for statistics")
    return values
