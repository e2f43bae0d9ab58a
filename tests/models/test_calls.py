"""FB05, FB13 at the table itself; the corpus holds the same shapes end to end."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from wenfang.core import ModelError
from wenfang.models.calls import Call, CallTable, finish_calls
from wenfang.models.chunks import CallPart, Function


def part(
    index: int | None = None, given: Any = None, name: str | None = None, args: Any = None
) -> CallPart:
    function = None if name is None and args is None else Function(name=name, arguments=args)
    return CallPart(index=index, id=given, function=function)


def assemble(*parts: CallPart) -> list[Call]:
    calls: list[Call] = []

    def open_call() -> Call:
        calls.append(Call("call", len(calls)))
        return calls[-1]

    table = CallTable(open_call)
    for each in parts:
        found = table.add(each)
        if found is not None:
            found[0].fresh.append(found[1])
    return calls


def shapes(*parts: CallPart) -> list[tuple[str, str]]:
    return [(call.name, call.text) for call in assemble(*parts)]


_TABLE: list[tuple[str, list[CallPart], list[tuple[str, str]]]] = [
    ("plain", [part(0, "x", "add", ""), part(0, args="{}")], [("add", "{}")]),
    ("nothing at all", [part(), part(0), part(0, None, "", "")], []),
    ("id repeated with the name", [part(0, "x", "add", "{"), part(0, "x", "add", "}")], [("add", "{}")]),
    ("blank after a complete call", [part(0, "x", "add", "{}"), part(0, "x", "add", " ")], [("add", "{} ")]),
    ("same id, same index, again", [part(0, "x", "add", "{}"), part(0, "x", "add", "{}")], [("add", "{}"), ("add", "{}")]),
    ("same id, next index, begun empty", [part(0, "x", "add", "{}"), part(1, "x", "add", ""), part(1, args="{}")], [("add", "{}"), ("add", "{}")]),
    ("same id, other tool", [part(0, "x", "add", "{}"), part(1, "x", "mul", "{}")], [("add", "{}"), ("mul", "{}")]),
    ("nothing but names", [part(name="add", args="{}"), part(name="add", args='{"a":1}')], [("add", "{}"), ("add", '{"a":1}')]),
    ("name repeated, unfinished", [part(name="add", args="{"), part(name="add", args="}")], [("add", "{}")]),
    ("new id on a taken index", [part(0, "x", "add", "{"), part(0, "y", "add", "{}"), part(0, args=" ")], [("add", "{"), ("add", "{} ")]),
    ("known id, shifted index, then index only", [part(0, "x", "add", "{"), part(1, "x", args="}"), part(1, args=" ")], [("add", "{} ")]),
    ("id first, name second", [part(0, "x"), part(0, name="add", args="{}")], [("add", "{}")]),
    ("object", [part(0, "x", "add", {"a": 1})], [("add", '{"a":1}')]),
    ("number as id", [part(0, 0, "add", "{"), part(0, 0, args="}")], [("add", "{}")]),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "expected"), [pytest.param(p, e, id=i) for i, p, e in _TABLE])
def test_shapes(parts: list[CallPart], expected: list[tuple[str, str]]) -> None:
    assert shapes(*parts) == expected


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([part(args="{}")], id="no-call-yet"),
        pytest.param([part(0, "x", "add", "{}"), part(1, args="{}")], id="unknown-index"),
        pytest.param([part(0, "x", "ad", ""), part(0, "x", "d", "{}")], id="split-name"),
        pytest.param(
            [part(0, name="add", args="{"), part(0, name="mul", args="}")], id="other-name"
        ),
        pytest.param([part(name="ad"), part(name="d")], id="names-only"),
        pytest.param([part(0, "x", "add", "[" * 100_000), part(0, "x", "mul", "")], id="deep"),
    ],
)
def test_ambiguous_is_a_protocol_error(parts: list[CallPart]) -> None:
    with pytest.raises(ModelError):
        assemble(*parts)


def finished(
    *parts: CallPart, complete: bool = True
) -> list[tuple[str, str, dict[str, Any], bool]]:
    numbers = count(1)
    made = finish_calls(
        assemble(*parts), complete=complete, new_id=lambda prefix: f"{prefix}{next(numbers)}"
    )
    return [(c.id, c.name, dict(c.arguments), c.error is not None) for c in made.values()]


def test_ids_are_minted_and_duplicates_dropped() -> None:
    same = [part(at, "x", "add", '{"a":1}') for at in (0, 1)]
    assert finished(*same) == [("call1", "add", {"a": 1}, False)]
    without_ids = [part(at, None, "add", '{"a":1}') for at in (0, 1)]
    assert len(finished(*without_ids)) == 2


def test_unreadable_duplicates_are_compared_as_text() -> None:
    parts = [part(0, "x", "add", "["), part(1, "y", "add", "[")]
    assert [error for *_, error in finished(*parts)] == [True, True]


def test_a_call_that_was_cut_keeps_what_was_written() -> None:
    made = finish_calls(assemble(part(0, "x", "add", '{"a":')), complete=False, new_id=str)
    assert made[0].raw == '{"a":'
    assert made[0].error is not None


def test_a_call_without_a_name_is_a_protocol_error() -> None:
    with pytest.raises(ModelError, match="without a name"):
        finished(part(0, "x", args="{}"))
