"""Tools from functions (tools.md §7.1)."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, WithJsonSchema

from wenfang.core import Tool, Toolbox, ToolCall, ToolContext, ToolError, ToolOutput, tool
from wenfang.core.arguments import bind

CONTEXT = ToolContext(call_id="c1", key="k1", update=lambda text, fraction: None)


async def run(made: Tool, **arguments: Any) -> ToolOutput | str:
    call = ToolCall(id="c1", name=made.name, arguments=arguments)
    return await made.handler(CONTEXT, bind(made, call))


def google(city: str, days: int = 3) -> str:
    """Forecast the weather.

    Only for cities.

    Args:
        city: where,
            in English
        days (int): how long

    Returns:
        One line a day.
    """
    return f"{city} {days}"


def numpy(city: str, days: int = 3) -> str:
    """Forecast the weather.

    Only for cities.

    Parameters
    ----------
    city : str
        where,
        in English
    days
        how long

    Returns
    -------
    str
        One line a day.
    """
    return f"{city} {days}"


def sphinx(city: str, days: int = 3) -> str:
    """Forecast the weather.

    Only for cities.

    :param city: where,
        in English
    :param int days: how long
    :returns: One line a day.
    """
    return f"{city} {days}"


@pytest.mark.parametrize("function", [google, numpy, sphinx])
def test_docstring_styles(function: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    spec = tool(function).spec()
    assert not caplog.records
    assert spec.name == function.__name__
    assert spec.description == (
        "Forecast the weather.\n\nOnly for cities.\n\nReturns: One line a day."
    )
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "where, in English"},
            "days": {"type": "integer", "description": "how long", "default": 3},
        },
        "required": ["city"],
        "additionalProperties": False,
    }


def test_field_descriptions_win_and_may_be_chinese() -> None:
    @tool
    def 天气(
        city: Annotated[str, Field(description="城市")],
        days: int = Field(3, description="天数", ge=1),
    ) -> str:
        """查询天气。

        Args:
            city: not shown
            days: not shown
        """
        return city * days

    assert 天气.name == "天气"
    assert 天气.description == "查询天气。"
    assert 天气.spec().parameters["properties"] == {
        "city": {"type": "string", "description": "城市"},
        "days": {"type": "integer", "description": "天数", "default": 3, "minimum": 1},
    }


def test_given_names_and_descriptions_win() -> None:
    made = tool(name="look", description="Look.", access="write", timeout_s=2.0)(google)
    assert (made.name, made.description, made.access, made.timeout_s) == (
        "look",
        "Look.",
        "write",
        2,
    )
    assert made.replay == "unsafe"
    assert tool(google).replay == "read"
    assert tool(access="exec", replay="idempotent")(google).replay == "idempotent"
    plain = tool(google)
    assert (plain.mode, plain.access, plain.timeout_s) == ("parallel", "read", None)
    assert (dict(plain.aliases), dict(plain.patterns)) == ({}, {})
    assert tool(description="")(google).description == ""


def shown_schema(schema: dict[str, Any]) -> object:
    """How a parameter with this schema is shown."""

    def make(a: Any) -> str:
        return str(a)

    make.__annotations__["a"] = Annotated[Any, WithJsonSchema(schema)]
    parameters: Any = tool(make).spec().parameters
    return parameters["properties"]["a"]


@pytest.mark.parametrize("key", ["allOf", "anyOf", "oneOf", "prefixItems"])
def test_titles_are_dropped_in_every_alternative(key: str) -> None:
    inner = {"title": "T", "type": "integer"}
    assert shown_schema({key: [inner, inner]}) == {key: [{"type": "integer"}] * 2}


@pytest.mark.parametrize("key", ["items", "additionalProperties"])
def test_titles_are_dropped_inside(key: str) -> None:
    inner = {"title": "T", "properties": {"title": {"title": "T"}}, "enum": [{"title": "T"}]}
    expected = {key: {"properties": {"title": {}}, "enum": [{"title": "T"}]}}
    assert shown_schema({key: inner}) == expected


def test_a_docstring_without_sections_stays_as_it_is() -> None:
    @tool
    def make(a: int) -> str:
        """Make it.

        More: about it,
            indented.
        """
        return str(a)

    assert make.description == "Make it.\n\nMore: about it,\n    indented."


def test_a_choice_that_has_no_schema_is_left_out() -> None:
    @tool
    def make(a: int | Callable[[int], int] = 1) -> str:
        return str(a)

    assert make.spec().parameters["properties"] == {"a": {"type": "integer", "default": 1}}


def test_a_toolbox_is_a_mapping_in_order() -> None:
    one, two = tool(google), tool(numpy)
    box = Toolbox([two, one])
    assert [*box] == ["numpy", "google"]
    assert (len(box), box["google"], box.get("x")) == (2, one, None)
    assert [spec.name for spec in box.specs] == ["numpy", "google"]
    assert len(Toolbox()) == 0
    with pytest.raises(ValueError, match="two tools are named 'google'"):
        Toolbox([one, two, one])


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Node(BaseModel):
    title: str
    children: list[Node] = []
    default: int | None = None


@dataclass
class Pair:
    left: int
    right: int | None


def test_schemas_have_no_titles_and_keep_definitions() -> None:
    @tool
    def make(node: Node, colour: Colour = Colour.RED, title: str | None = None) -> str:
        return title or ""

    assert make.spec().parameters == {
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "title": {"type": "string"},
                    "children": {
                        "type": "array",
                        "items": {"$ref": "#/$defs/Node"},
                        "default": [],
                    },
                    "default": {"type": "integer"},
                },
                "required": ["title"],
            },
            "Colour": {"type": "string", "enum": ["red", "blue"]},
        },
        "type": "object",
        "properties": {
            "node": {"$ref": "#/$defs/Node"},
            "colour": {"$ref": "#/$defs/Colour", "default": "red"},
            "title": {"type": "string"},
        },
        "required": ["node"],
        "additionalProperties": False,
    }


def test_null_is_collapsed_where_it_may_be_left_out() -> None:
    @tool
    def make(
        a: int | None,
        pair: Pair,
        b: Annotated[int | None, Field(description="why")] = None,
        c: int | str | None = 5,
        d: list[int | None] = [],  # noqa: B006 - pydantic copies it
    ) -> str:
        return f"{a} {b} {c}"

    parameters: Any = make.spec().parameters
    assert parameters["properties"] == {
        "a": {"type": "integer"},
        "pair": {"$ref": "#/$defs/Pair"},
        "b": {"type": "integer", "description": "why"},
        "c": {"anyOf": [{"type": "integer"}, {"type": "string"}], "default": 5},
        "d": {
            "type": "array",
            "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "default": [],
        },
    }
    assert parameters["required"] == ["pair"]
    # A field of a nested type that has no default must be given, so null stays a choice there.
    assert parameters["$defs"]["Pair"]["properties"]["right"] == {
        "anyOf": [{"type": "integer"}, {"type": "null"}]
    }


@pytest.mark.anyio
async def test_a_nullable_parameter_may_be_left_out() -> None:
    @tool
    def make(a: int | None) -> str:
        return repr(a)

    assert await run(make) == "None"
    assert await run(make, a=None) == "None"
    assert await run(make, a=1) == "1"


@pytest.mark.anyio
async def test_names_that_pydantic_uses_itself() -> None:
    @tool
    def odd(
        name: str,
        self: str,
        cls: str,
        model_config: str,
        model_fields: str,
        schema: str,
        json: str,
        copy: str,
        _hidden: str,
        p_copy: str = "q",
        model_name: str = "m",
        ctx: str = "c",
    ) -> str:
        return " ".join(
            (name, self, cls, model_config, model_fields, schema, json, copy, _hidden, p_copy, ctx)
        )

    parameters: Any = odd.spec().parameters
    names = [*parameters["properties"]]
    assert names == [
        *("name", "self", "cls", "model_config", "model_fields", "schema", "json", "copy"),
        *("_hidden", "p_copy", "model_name", "ctx"),
    ]
    arguments = {each: each[0] for each in names[:9]}
    assert await run(odd, **arguments) == "n s c m m s j c _ q c"


@pytest.mark.anyio
async def test_the_context_is_injected_and_not_shown() -> None:
    @tool
    async def where(text: str, ctx: ToolContext) -> str:
        return f"{text} {ctx.call_id} {ctx.key}"

    assert where.spec().parameters["properties"] == {"text": {"type": "string"}}
    assert await run(where, text="at") == "at c1 k1"


@pytest.mark.anyio
async def test_sync_functions_run_in_a_thread_and_async_ones_do_not() -> None:
    @tool
    def sync() -> str:
        return threading.current_thread().name

    @tool
    async def direct() -> str:
        return threading.current_thread().name

    class Callable_:
        """An object."""

        async def __call__(self, a: int) -> str:
            return f"{threading.current_thread().name} {a}"

    main = threading.current_thread().name
    assert await run(sync) != main
    assert await run(direct) == main
    assert await run(tool(Callable_(), name="object"), a=1) == f"{main} 1"


def identity(value: Any, /) -> Any:
    return value


@pytest.mark.anyio
async def test_results_of_every_kind() -> None:
    output = ToolOutput(content="x", is_error=True)
    results: list[tuple[Any, Any]] = [
        ("text", "text"),
        (output, output),
        (3, "3"),
        (None, "null"),
        ([1, {"a": "长"}], '[1,{"a":"长"}]'),
        (Pair(1, None), '{"left":1,"right":null}'),
        (Node(title="t"), '{"title":"t","children":[],"default":null}'),
    ]
    for value, expected in results:
        assert await run(tool(partial(identity, value), name="give")) == expected


@pytest.mark.anyio
async def test_a_result_that_is_no_json_is_an_error_without_its_repr() -> None:
    @tool
    def give() -> object:
        return object()

    with pytest.raises(ToolError) as caught:
        await run(give)
    assert str(caught.value) == "give ran, but its result, a object, cannot be shown as text."


def star(*numbers: int) -> str:
    return ""


def double_star(**options: int) -> str:
    return ""


def positional(a: int, /) -> str:
    return str(a)


def unannotated(a) -> str:  # type: ignore[no-untyped-def]
    return str(a)


def unknown_type(a: NotDefined) -> str:  # type: ignore[name-defined]  # noqa: F821
    return ""


def no_schema(a: int, lock: threading.Lock) -> str:
    return str(a)


def a_function(a: Callable[[int], int]) -> str:
    return ""


def generates(a: int) -> Iterator[str]:
    yield ""


async def generates_async(a: int) -> AsyncIterator[str]:
    yield ""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (star, ("'star'", "'numbers'", "take one list")),
        (double_star, ("'double_star'", "'options'", "dict parameter")),
        (positional, ("'positional'", "'a'", "remove the '/'")),
        (unannotated, ("'unannotated'", "'a'", "for example 'a: str'")),
        (unknown_type, ("'unknown_type'", "'NotDefined'", "import it")),
        (no_schema, ("'no_schema'", "'lock'", "no JSON schema")),
        (a_function, ("'a_function'", "'a'", "no JSON schema")),
        (generates, ("'generates'", "return the whole text")),
        (generates_async, ("'generates_async'", "return the whole text")),
    ],
)
def test_signatures_that_cannot_be_a_schema(
    function: Callable[..., Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(TypeError) as caught:
        tool(function)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("extra", [{"aliases": {"town": "cty"}}, {"patterns": {"cty": "^a$"}}])
def test_aliases_and_patterns_must_name_parameters(extra: dict[str, Any]) -> None:
    (kind,) = extra
    with pytest.raises(TypeError, match=rf"'google': {kind} names 'cty', which is no parameter"):
        tool(**extra)(google)


def test_defaults_that_json_cannot_show_are_left_out() -> None:
    @tool
    def make(a: Annotated[Any, Field(description="x")] = object()) -> str:  # noqa: B008
        return ""

    assert make.spec().parameters["properties"] == {"a": {"description": "x"}}


def test_literals_keep_their_choices() -> None:
    @tool
    def make(a: Literal["title", "properties"], title: dict[str, int]) -> str:
        return a

    assert make.spec().parameters["properties"] == {
        "a": {"type": "string", "enum": ["title", "properties"]},
        "title": {"type": "object", "additionalProperties": {"type": "integer"}},
    }
