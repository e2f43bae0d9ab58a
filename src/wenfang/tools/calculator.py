"""The calculator: arithmetic that always ends, on an evaluator without names to escape through.

simpleeval walks the syntax tree; operators and functions are ours, so that every intermediate number
stays printable and small (tools.md §2.2). `eval` is not involved.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from statistics import fmean, median, pstdev, stdev
from typing import Annotated, Any, cast

from pydantic import Field

from wenfang.core import JSON, ToolError, ToolOutput, tool

from .notation import NotationError, to_python

_MAX_CHARS = 1000
_MAX_BITS = 14_000  # a longer integer has more than the 4,300 digits that Python prints
_MAX_FACTORIAL = 1500
_MAX_CHOOSE = 5000
_EXACT = 2**53  # beyond it, JSON readers round integers


class _Refused(Exception):  # noqa: N818 - never leaves this module
    """Not computed. The text is for the model."""


def _number(value: Any) -> Any:
    if isinstance(value, int | float):
        return value
    raise _Refused("numbers are needed here, not lists or texts.")


def _bits(value: Any) -> int:
    return value.bit_length() if isinstance(value, int) else 64


def _small(bits: int) -> None:
    if bits > _MAX_BITS:
        raise _Refused("the result would have more than 4,000 digits; use smaller numbers.")


def _real(value: Any) -> Any:
    if isinstance(value, complex):
        raise _Refused("the result is not a real number.")
    return value


def _plain(compute: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *values: compute(*map(_number, values))


def _divide(a: Any, b: Any) -> Any:
    return _number(a) / _number(b)


def _floor_divide(a: Any, b: Any) -> Any:
    return _number(a) // _number(b)


def _times(a: Any, b: Any) -> Any:
    _small(_bits(_number(a)) + _bits(_number(b)))
    return a * b


def _power(a: Any, b: Any) -> Any:
    if (
        isinstance(_number(a), int)
        and isinstance(_number(b), int)
        and b > 0
        and a not in (0, 1, -1)
    ):
        _small(_bits(a) * b)
    return _real(a**b)


def _round(value: Any, digits: Any = None) -> Any:
    if digits is not None and abs(_number(digits)) > 300:
        raise _Refused("round takes at most 300 digits.")
    return round(_number(value), digits)


def _root(value: Any, degree: Any = 2) -> Any:
    if degree != 2:
        return _power(value, 1 / _number(degree))
    if _number(value) < 0:
        raise _Refused("the square root of a negative number is not a real number.")
    exact = math.isqrt(value) if isinstance(value, int) else 0
    return exact if exact and exact * exact == value else math.sqrt(value)


def _factorial(value: Any) -> int:
    if _number(value) > _MAX_FACTORIAL:
        raise _Refused(f"factorial takes at most {_MAX_FACTORIAL}.")
    return math.factorial(int(value) if float(value).is_integer() else value)


def _choosing(compute: Callable[..., int]) -> Callable[..., int]:
    def choose(n: Any, k: Any) -> int:
        if max(_number(n), _number(k)) > _MAX_CHOOSE:
            raise _Refused(f"comb and perm take at most {_MAX_CHOOSE}.")
        return compute(n, k)

    return choose


def _over(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function of some numbers, given one by one or as one list."""

    def over(*values: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], list | tuple):
            values = tuple(cast("list[Any]", values[0]))
        return compute([_number(each) for each in values])

    return over


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _plain(operator.add),
    ast.Sub: _plain(operator.sub),
    ast.Mult: _times,
    ast.Div: _divide,
    ast.FloorDiv: _floor_divide,
    ast.Mod: _plain(operator.mod),
    ast.Pow: _power,
    ast.USub: _plain(operator.neg),
    ast.UAdd: _plain(operator.pos),
    ast.Eq: _plain(operator.eq),
    ast.NotEq: _plain(operator.ne),
    ast.Lt: _plain(operator.lt),
    ast.LtE: _plain(operator.le),
    ast.Gt: _plain(operator.gt),
    ast.GtE: _plain(operator.ge),
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": _root,
    "root": _root,
    "cbrt": _plain(math.cbrt),
    "pow": _power,
    "mod": _plain(operator.mod),
    "round": _round,
    "factorial": _factorial,
    "comb": _choosing(math.comb),
    "perm": _choosing(math.perm),
    "ln": _plain(math.log),
    "lg": _plain(math.log10),
    "min": _over(min),
    "max": _over(max),
    "sum": _over(sum),
    "mean": _over(fmean),
    "average": _over(fmean),
    "median": _over(median),
    "stdev": _over(stdev),
    "pstdev": _over(pstdev),
    "abs": _plain(abs),
    "int": _plain(int),
    "float": _plain(float),
} | {
    name: _plain(getattr(math, name))
    for name in (
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
        *("exp", "log", "log2", "log10", "floor", "ceil", "trunc", "hypot", "gcd"),
        *("degrees", "radians"),
    )
}
_NAMES = {"pi": math.pi, "PI": math.pi, "e": math.e, "tau": math.tau}
_NODES = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.Name, ast.Call),
    *(ast.List, ast.Tuple),
)


@lru_cache(maxsize=1)
def _evaluator() -> Any:
    made: Any = import_module("simpleeval").EvalWithCompoundTypes(
        operators=_OPERATORS, functions={}, names=_NAMES
    )
    made.functions = _FUNCTIONS  # without those that it adds for making lists
    made.nodes = {node: made.nodes[node] for node in _NODES}
    return made


def calculate(expression: str) -> tuple[str, int | float | bool]:
    """The expression as it was understood, and its value. Raises `ToolError`."""
    if len(expression) > _MAX_CHARS:
        raise ToolError(
            f"The expression has {len(expression)} characters; the limit is {_MAX_CHARS}. "
            "Compute it in parts."
        )
    try:
        normalized = to_python(expression)
        value = _evaluate(normalized)
        if isinstance(value, int):
            _small(_bits(value))
    except (_Refused, NotationError) as error:
        raise ToolError(f"{expression[:200]!r} was not computed: {error}") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise ToolError(f"{expression[:200]!r} was not computed: the result is not finite.")
    return normalized, value


def _evaluate(normalized: str) -> Any:
    invalid: type[Exception] = import_module("simpleeval").InvalidExpression
    try:
        tree = ast.parse(normalized, mode="eval").body
        return _number(_evaluator().eval(normalized, previously_parsed=tree))
    except ZeroDivisionError:
        raise _Refused("division by zero.") from None
    except OverflowError:
        raise _Refused("a number became too large.") from None
    except invalid:
        known = ", ".join(sorted({*_FUNCTIONS, *_NAMES}))
        raise _Refused(f"only numbers, + - * / // % ^ and these are known: {known}.") from None
    except (SyntaxError, RecursionError, MemoryError):
        raise _Refused(
            f"it is not one arithmetic expression (read as {normalized[:200]!r})."
        ) from None
    except (ValueError, TypeError) as error:
        raise _Refused(f"{error} (read as {normalized[:200]!r}).") from None


def display(value: int | float | bool) -> str:
    """A number as a person reads it: 12 significant digits, so that 0.1 + 0.2 is 0.3."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return str(int(value))
    return f"{value:.12g}" if isinstance(value, float) else str(value)


@tool(
    aliases={"expr": "expression", "input": "expression", "formula": "expression"},
    patterns={"expression": r"^[0-9+*/(). -]{1,60}$"},
)
async def calculator(
    expression: Annotated[
        str,
        Field(description="Arithmetic, for example (15*12)*0.9, 2^10, sqrt(2), 20% or max(3, 5)"),
    ],
) -> ToolOutput:
    """Compute an arithmetic expression exactly. Use it for every calculation."""
    normalized, value = calculate(expression)
    exact: JSON = value if abs(value) <= _EXACT else str(value)
    return ToolOutput(
        content=f"{normalized} = {display(value)}",
        details={
            "expression": expression,
            "normalized": normalized,
            "result": exact,
            "display": display(value),
        },
    )
