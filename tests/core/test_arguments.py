"""Arguments: the repair table of tools.md §7.2-7.3, the malformed shapes of engine.md C#6, FB06, FB07."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from wenfang.core import Tool, ToolCall, tool
from wenfang.core.arguments import ArgumentError, bind, canonical, parse_arguments

# name: (what the model wrote, what it says or a part of the error, the repairs)
REPAIRS: dict[str, tuple[str, dict[str, Any] | str, tuple[str, ...]]] = {
    "plain": ('{"a": 1, "b": [true, null, 1.5]}', {"a": 1, "b": [True, None, 1.5]}, ()),
    "empty": ("", {}, ()),
    "blank": (" \n", {}, ()),
    "spaces-around": (' \n{"a": 1}\n ', {"a": 1}, ()),
    "chinese-quotes-inside": ('{"a": "他说“好”"}', {"a": "他说“好”"}, ()),
    "same-key-same-value": ('{"a": 1, "a": 1.0}', {"a": 1.0}, ()),
    "trailing-comma": ('{"a": [1, 2,], "b": 1,}', {"a": [1, 2], "b": 1}, ("trailing_comma",)),
    "single-quotes": ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}, ("quotes",)),
    "unquoted-keys": ("{a: 1, b_c: 2}", {"a": 1, "b_c": 2}, ("quotes",)),
    "python-literals": ('{"a": True, "b": None}', {"a": True, "b": None}, ("literal",)),
    "every-python-literal": (
        "{a: True, b: False, c: None}",
        {"a": True, "b": False, "c": None},
        ("quotes", "literal"),
    ),
    "every-json-literal": (
        "{a: true, b: false, c: null}",
        {"a": True, "b": False, "c": None},
        ("quotes",),
    ),
    "line-comment": ('{"a": 1, // why\n "b": 2}', {"a": 1, "b": 2}, ("comment",)),
    "block-comment": ('{"a": 1 /* x */, "b": 2}', {"a": 1, "b": 2}, ("comment",)),
    "hash-comment": ('{"a": 1 # x\n}', {"a": 1}, ("comment",)),
    "missing-comma": ('{"a": "x"\n"b": 2}', {"a": "x", "b": 2}, ("missing_comma",)),
    "missing-comma-after-each-kind": (
        "{'a': 'x' 'b': 2 c: true “d”: “y” \"e\": {} ‘f’: [1]\n\"g\": \"z\" }",
        {"a": "x", "b": 2, "c": True, "d": "y", "e": {}, "f": [1], "g": "z"},
        ("quotes", "missing_comma"),
    ),
    "trailing-comma-after-each-kind": (
        "{a: ['x',], b: [2,], c: [true,], d: [“y”,], e: [\"z\",], f: [{},], g: [[],],}",
        {"a": ["x"], "b": [2], "c": [True], "d": ["y"], "e": ["z"], "f": [{}], "g": [[]]},
        ("quotes", "trailing_comma"),
    ),
    "missing-comma-objects": (
        '{"a": [{"b": 1} {"b": 2}]}',
        {"a": [{"b": 1}, {"b": 2}]},
        ("missing_comma",),
    ),
    "plus-sign": ('{"a": +1}', {"a": 1}, ("number",)),
    "bare-point": ('{"a": .5, "b": -.5, "c": 2.}', {"a": 0.5, "b": -0.5, "c": 2.0}, ("number",)),
    "raw-newline": ('{"a": "x\ny"}', {"a": "x\ny"}, ("control_characters",)),
    "raw-tab": ('{"a": "x\ty"}', {"a": "x\ty"}, ("control_characters",)),
    "fence": ('```json\n{"a": 1}\n```', {"a": 1}, ("fence",)),
    "fence-and-prose": ('Sure:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}, ("fence", "prose")),
    "prose": ('I call it with {"a": 1} now', {"a": 1}, ("prose",)),
    "call-syntax": ('add({"a": 1})', {"a": 1}, ("prose",)),
    "bom": ('\ufeff{"a": 1}', {"a": 1}, ("bom",)),
    "double-encoded": ('"{\\"a\\": 1}"', {"a": 1}, ("double_encoded",)),
    "double-encoded-newline": (
        '"{\\"a\\": \\"x\\ny\\"}"',
        {"a": "x\ny"},
        ("double_encoded",),
    ),
    "chinese-quotes": ('{“a”：“x"y”，“b”：2}', {"a": 'x"y', "b": 2}, ("quotes", "punctuation")),
    "wide-braces": ('｛"a"：［1，2］｝', {"a": [1, 2]}, ("punctuation",)),
    "several-faults": (
        "```\n{'a': 'x\ny', b: True,}\n```",
        {"a": "x\ny", "b": True},
        ("fence", "quotes", "control_characters", "literal", "trailing_comma"),
    ),
    "missing-last-brace": ('{"a": 1, "b": 2', "cut off", ()),
    "missing-inner-brace": ('{"a": {"b": 1}', "cut off", ()),
    "extra-brace": ('{"a": 1}}', "more text follows", ()),
    "extra-brace-of-words": ("{a: 1}}", "more text follows", ()),
    "two-commas": ('{"a": 1,,}', "not valid JSON", ()),
    "leading-comma": ('{"a": [,1]}', "not valid JSON", ()),
    "key-that-touches": ('{"a": "x""b": 2}', "a comma is missing before character 10 of", ()),
    "key-that-touches-a-bracket": (
        '{"a": [1]"b": 2}',
        "a comma is missing before character 10",
        (),
    ),
    "value-then-object": ('{"a": 1 {"b": 2}}', "a comma is missing before character 9 of", ()),
    "object-then-value": ('{"a": {} "b"}', "a comma is missing before character 10 of", ()),
    "only-closing": ("hello}", "'hello' at character 1 of", ()),
    "only-opening": ("hello{", "not valid JSON at character 1,", ()),
    "array-not-closed": ("[1,", "cut off", ()),
    "text-not-closed": ('"abc', "cut off", ()),
    "wide-brace-not-closed": ("｛a: 1", "cut off", ()),
    "truncated-string": ('{"a": "hello wor', "cut off", ()),
    "truncated-after-colon": ('{"a": 1, "b":', "cut off", ()),
    "truncated-number": ('{"a": 1', "cut off", ()),
    "truncated-double-encoded": ('"{\\"a\\": 1', "cut off", ()),
    "two-objects": ('{"a": 1}{"a": 2}', "exactly one", ()),
    "two-objects-two-lines": ('{"a": 1}\n{"a": 2}', "exactly one", ()),
    "two-objects-mended": ("{'a': 1} {'a': 2}", "exactly one", ()),
    "lost-outer-braces": ('"path": "a", "more": {"b": 1}', "not valid JSON", ()),
    "inner-quotes": ('{"q": "say "hi" now"}', 'not written as \\"', ()),
    "inner-quotes-code": ('{"code": "print("a", "b")"}', 'not written as \\"', ()),
    "inner-quotes-in-array": ('{"a": ["x" "y"]}', 'not written as \\"', ()),
    "apostrophe": ("{'a': 'it's', 'b': 1}", "not written as", ()),
    "regex-backslash": ('{"a": "\\d"}', "backslash", ()),
    "windows-path": ('{"a": "C:\\Users\\new"}', "backslash", ()),
    "nan": ('{"a": NaN}', "NaN is no JSON value", ()),
    "infinity": ('{"a": -Infinity}', "-Infinity is no JSON value", ()),
    "overflow": ('{"a": 1e999}', "too large", ()),
    "nan-mended": ("{'a': NaN}", "NaN", ()),
    "duplicate": ('{"a": 1, "a": 2}', "'a' appears twice", ()),
    "duplicate-true": ('{"a": 1, "a": true}', "'a' appears twice", ()),
    "duplicate-mended": ("{'a': 1, 'a': 2}", "'a' appears twice", ()),
    "triple-quotes": ('{"code": """x"""}', 'not written as \\"', ()),
    "backquotes": ('{"code": `x`}', "'`' at character 10", ()),
    "bare-word": ("hello", "not valid JSON at character 1", ()),
    "bare-value": ('{"a": hello}', "'hello' at character 7", ()),
    "missing-value": ('{"a": }', "not valid JSON", ()),
    "missing-colon": ('{"a" 1}', "comma is missing", ()),
    "only-comma": ("{,}", "not valid JSON", ()),
    "array": ("[1, 2]", "they are an array", ()),
    "null": ("null", "they are null", ()),
    "string": ('"x"', "they are a string", ()),
    "number": ("3", "they are a number", ()),
    "boolean": ("true", "they are true or false", ()),
    "double-encoded-array": ('"[1]"', "they are a string", ()),
    "double-encoded-broken": ('"{\\"a\\": x}"', "inside it", ()),
    "lone-surrogate": ('{"a": "\\ud83d"}', "\\ud83d", ()),
    "lone-surrogate-raw": ('{"a": "\ud83d"}', "\\ud83d", ()),
    "lone-surrogate-key": ('{"\\ude00": 1}', "\\ude00", ()),
    "long-integer": ('{"a": ' + "9" * 5000 + "}", "too many digits", ()),
    "deep": ('{"a":' * 200 + "1" + "}" * 200, "100 levels", ()),
    "deeper-than-allowed": ('{"a":' * 101 + "1" + "}" * 101, "100 levels", ()),
    "deeper-in-arrays": ('{"a": ' + "[" * 100 + "1" + "]" * 100 + "}", "100 levels", ()),
    "deeper-in-half": ('{"a":' * 51 + "[" * 50 + "1" + "]" * 50 + "}" * 51, "100 levels", ()),
    "as-deep-as-allowed": (
        '{"a": ' + "[" * 99 + "1" + "]" * 99 + "}",
        {"a": json.loads("[" * 99 + "1" + "]" * 99)},
        (),
    ),
    "wide-is-not-deep": (
        '{"a": [' + ", ".join(["{}", "[]"] * 60) + "]}",
        {"a": [{}, []] * 60},
        (),
    ),
    "very-deep": ('{"a":' * 20_000, "100 levels", ()),
    "too-long-to-mend": ("{'a': '" + "x" * 65_536 + "'}", "not valid JSON", ()),
    "longer-than-mended": ("{'a': '" + "x" * (65_537 - 9) + "'}", "not valid JSON", ()),
    "as-long-as-mended": (
        "{'a': '" + "x" * (65_536 - 9) + "'}",
        {"a": "x" * (65_536 - 9)},
        ("quotes",),
    ),
}


@pytest.mark.parametrize("row", REPAIRS.values(), ids=REPAIRS)
def test_repair_table(row: tuple[str, dict[str, Any] | str, tuple[str, ...]]) -> None:
    text, expected, repaired = row
    parsed = parse_arguments(text, complete=True)
    if isinstance(expected, dict):
        assert parsed == (expected, None, repaired)
    else:
        assert parsed.arguments == {}
        assert parsed.error is not None
        assert expected in parsed.error
        assert parsed.error.endswith(".")
        assert parsed.repaired == ()


def test_surrogate_pairs_are_characters() -> None:
    assert parse_arguments('{"a": "\\ud83d\\ude00"}', complete=True).arguments == {"a": "😀"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x" * 50, "not valid JSON at character 1, near 'xxxxxxxxxxxxxxxxxxxx': expecting value."),
        (
            "0123456789 0123456789 0123456789",
            "not valid JSON at character 2, near '0123456789 0123456789': extra data.",
        ),
        (
            "123456789012345678901234567890 0123456789 0123456789",
            "not valid JSON at character 32, near '2345678901234567890 0123456789 012345678': "
            "extra data.",
        ),
        (
            '{"0123456789":}',
            "not valid JSON at character 15, near '{\"0123456789\":}': expecting value.",
        ),
        (
            '"{\\"a\\": x}"',
            "they are a string, and inside it, not valid JSON at character 7, "
            "near '{\"a\": x}': expecting value.",
        ),
    ],
)
def test_an_error_names_its_place_and_what_stands_there(text: str, error: str) -> None:
    assert parse_arguments(text, complete=True).error == error


def test_a_reply_that_hit_the_limit_is_not_mended() -> None:
    assert parse_arguments("{'a': 1}", complete=True).error is None
    assert "cut off" in (parse_arguments("{'a': 1}", complete=False).error or "")
    assert "cut off" in (parse_arguments("", complete=False).error or "")


def test_truncation_names_the_size_and_smaller_calls() -> None:
    error = parse_arguments('{"path":"a","text":"hello wor', complete=True).error or ""
    assert "29 characters" in error
    assert "smaller" in error


texts = st.text("ab\"\\/{}[]:,é长😀\n\u0000'“”#*`1", max_size=8)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, json_values, max_size=4)


@given(objects, st.booleans(), st.sampled_from([None, 1]))
def test_json_objects_come_back_unrepaired(
    value: dict[str, Any], ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert parse_arguments(text, complete=True) == (value, None, ())


@given(objects, st.booleans(), st.data())
def test_a_cut_object_is_an_error_or_the_same(
    value: dict[str, Any], complete: bool, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cut = text[: data.draw(st.integers(1, len(text)))]
    parsed = parse_arguments(cut, complete=complete)
    assert parsed.error is not None or parsed.arguments == value


@given(objects, st.data())
def test_a_cut_python_literal_is_an_error_or_the_same(
    value: dict[str, Any], data: st.DataObject
) -> None:
    text = repr(value)
    parsed = parse_arguments(text[: data.draw(st.integers(1, len(text)))], complete=True)
    assert parsed.error is not None or parsed.arguments == value


@given(st.text("{}[]\"'“”：,:/*#\\ntru1.-e \n`", max_size=40))
def test_garbage_never_raises_and_mended_text_keeps_its_words(text: str) -> None:
    parsed = parse_arguments(text, complete=True)
    if parsed.error is None:
        json.dumps(parsed.arguments, allow_nan=False).encode()


class Point(BaseModel):
    x: int
    y: int = 0


class Exact(BaseModel, extra="forbid"):
    must: int | None
    more: list[int] | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str = ""


@dataclass
class Row:
    name: str
    tags: list[str] | None = None


@tool(aliases={"file": "path", "numbers": "counts"})
def shapes(
    path: str = "",
    count: int = 3,
    ratio: float = 1.0,
    flag: bool = False,
    counts: list[int] = [],  # noqa: B006 - pydantic copies it
    point: Point | None = None,
    points: list[Point] = [],  # noqa: B006
    table: dict[str, int] = {},  # noqa: B006
    row: Row | None = None,
    mixed: int | str = 0,
    kind: Literal["a", "b"] = "a",
    small: Annotated[int, Field(le=5)] = 1,
    limit: int | None = 5,
    either: int | bool = 0,
    exact: Exact | None = None,
    animal: Annotated[Cat | Dog, Field(discriminator="kind")] = Cat(kind="cat"),  # noqa: B008
    gaps: dict[str, int | None] = {},  # noqa: B006
) -> str:
    """Take anything."""
    return "done"


def call(arguments: dict[str, Any], **more: Any) -> ToolCall:
    return ToolCall(id="c1", name="shapes", arguments=arguments, **more)


# arguments: the values that arrive (engine.md C#6: the first twelve), or lines of the error
SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any] | list[str]]] = {
    "json-string-for-object": ({"point": '{"x": 1}'}, {"point": Point(x=1)}),
    "json-string-for-array": ({"counts": "[1, 2]"}, {"counts": [1, 2]}),
    "json-string-raw-newline": ({"point": '{"x":\n1}'}, {"point": Point(x=1)}),
    "json-string-of-object-for-array": ({"points": '{"x": 1}'}, {"points": [Point(x=1)]}),
    "single-value-for-array": ({"counts": 1}, {"counts": [1]}),
    "single-object-for-array": ({"points": {"x": 1}}, {"points": [Point(x=1)]}),
    "text-number": ({"count": "5", "ratio": "0.5"}, {"count": 5, "ratio": 0.5}),
    "whole-float": ({"count": 5.0}, {"count": 5}),
    "null-for-default": ({"count": None, "counts": None}, {"count": 3, "counts": []}),
    "null-inside": ({"point": {"x": 1, "y": None}}, {"point": Point(x=1)}),
    "alias": ({"file": "a.txt", "numbers": 1}, {"path": "a.txt", "counts": [1]}),
    "text-boolean": ({"flag": "true"}, {"flag": True}),
    "json-strings-inside": ({"row": '{"name": "n", "tags": "t"}'}, {"row": Row("n", ["t"])}),
    "objects-in-strings-in-array": ({"points": ['{"x": 1}']}, {"points": [Point(x=1)]}),
    "text-stays-text": ({"path": '{"x": 1}', "mixed": "[1]"}, {"path": '{"x": 1}', "mixed": "[1]"}),
    "free-keys": ({"table": {"a": "1", "b": 2}}, {"table": {"a": 1, "b": 2}}),
    "null-for-nullable-default": ({"limit": None}, {"limit": 5}),
    "true-for-a-choice-of-it": ({"either": True}, {"either": True}),
    "null-that-must-be-given": ({"exact": {"must": None}}, {"exact": Exact(must=None)}),
    "single-value-for-nullable-array": (
        {"exact": {"must": 1, "more": "2"}},
        {"exact": Exact(must=1, more=[2])},
    ),
    "json-string-for-one-of": ({"animal": '{"kind": "dog"}'}, {"animal": Dog(kind="dog")}),
    "null-under-a-free-key": ({"gaps": {"a": None, "b": "1"}}, {"gaps": {"a": None, "b": 1}}),
    "true-for-integer": ({"count": True}, ["count: expected a number, got true"]),
    "false-for-float": ({"ratio": False}, ["ratio: expected a number, got false"]),
    "true-inside": ({"points": [{"x": True}]}, ["points[0].x: expected a number, got true"]),
    "true-in-array": ({"counts": [1, True]}, ["counts[1]: expected a number, got true"]),
    "true-in-free-keys": ({"table": {"a": True}}, ["table.a: expected a number, got true"]),
    "fraction": ({"count": 5.5}, ["count: input should be a valid integer"]),
    "number-for-text": ({"path": 5}, ["path: input should be a valid string"]),
    "no-json-for-object": ({"point": "x=1"}, ["point: input should be"]),
    "text-for-numbers": ({"counts": "a"}, ["counts[0]: input should be a valid integer"]),
    "unknown": ({"pth": "a"}, ["pth: unknown argument, did you mean 'path'?"]),
    "unknown-far": ({"zzzzzz": "a"}, ["zzzzzz: unknown argument; the arguments are path, count"]),
    "unknown-inside": ({"point": {"x": 1, "zz": 1}}, {"point": Point(x=1)}),
    "alias-and-name": ({"file": "a", "path": "b"}, ["file: unknown argument"]),
    "missing-inside": ({"point": {}}, ["point.x: missing"]),
    "choice": ({"kind": "c"}, ["kind: input should be 'a' or 'b'"]),
    "range": ({"small": 9}, ["small: input should be less than or equal to 5"]),
    "two-problems": ({"count": True, "small": 9}, ["count: expected", "small: input should be"]),
}


@pytest.mark.parametrize("row", SHAPES.values(), ids=SHAPES)
def test_shapes(row: tuple[dict[str, Any], dict[str, Any] | list[str]]) -> None:
    arguments, expected = row
    if isinstance(expected, dict):
        bound = bind(shapes, call(arguments))
        got = {name: getattr(bound, name) for name in expected}
        assert got == expected
        assert {name: type(each) for name, each in got.items()} == {
            name: type(each) for name, each in expected.items()
        }
        return
    with pytest.raises(ArgumentError) as caught:
        bind(shapes, call(arguments))
    assert caught.value.error_type == "invalid_arguments"
    lines = caught.value.text.splitlines()
    for each in expected:
        assert any(line.startswith(each) for line in lines), caught.value.text


def test_an_error_names_the_place_inside_an_argument() -> None:
    with pytest.raises(ArgumentError) as caught:
        bind(shapes, call({"exact": {"must": 1, "zz": 2}}))
    assert "exact.zz: unknown argument" in caught.value.text.splitlines()
    for name, value in (("points", [{"x": True}]), ("exact", {})):
        with pytest.raises(ArgumentError) as caught:
            bind(shapes, call({name: value}))
        assert f'\nExpected: {{"{name}": ' in caught.value.text


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (400, '{"a": "' + "x" * 391 + '"}'),
        (401, '{"a": "' + "x" * 392 + '"... (401 characters)'),
    ],
)
def test_what_came_is_shown_up_to_400_characters(size: int, shown: str) -> None:
    @tool
    def nothing() -> str:
        return ""

    with pytest.raises(ArgumentError) as caught:
        bind(nothing, call({"a": "x" * (size - 9)}))
    assert caught.value.text.splitlines()[-1] == f"Received: {shown}"


def test_an_error_shows_the_schema_and_what_came() -> None:
    with pytest.raises(ArgumentError) as caught:
        bind(shapes, call({"small": 9, "path": "长" * 1000}))
    *_, expected, received = caught.value.text.splitlines()
    assert expected == 'Expected: {"small": {"default": 1, "maximum": 5, "type": "integer"}}'
    assert received.startswith('Received: {"small": 9, "path": "长')
    assert received.endswith("... (1024 characters)")


def test_a_missing_argument_is_named() -> None:
    @tool
    def needs(a: int) -> str:
        return str(a)

    with pytest.raises(ArgumentError) as caught:
        bind(needs, call({}))
    assert caught.value.text.splitlines()[:3] == [
        "The arguments of needs do not fit:",
        "a: missing",
        'Expected: {"a": {"type": "integer"}}',
    ]


def test_a_tool_without_arguments_says_so() -> None:
    @tool
    def nothing() -> str:
        return ""

    assert bind(nothing, call({})) is not None
    with pytest.raises(ArgumentError, match="there are no arguments"):
        bind(nothing, call({"a": 1}))


def test_unreadable_calls_are_malformed() -> None:
    with pytest.raises(ArgumentError) as caught:
        bind(shapes, call({}, error="the text ends.", raw="{"))
    assert caught.value.error_type == "malformed"
    assert caught.value.text == "The arguments of shapes could not be read: the text ends."


@pytest.mark.parametrize("access", ["read", "write", "exec"])
def test_repaired_arguments_run_on_reading_tools_only(
    access: Literal["read", "write", "exec"],
) -> None:
    @tool(access=access)
    def touch(path: str) -> str:
        return path

    repaired = call({"path": "a"}, repaired=("trailing_comma", "quotes"))
    if access == "read":
        assert bind(touch, repaired) is not None
        return
    with pytest.raises(ArgumentError) as caught:
        bind(touch, repaired)
    assert caught.value.error_type == "malformed"
    assert "trailing_comma, quotes" in caught.value.text
    assert "Nothing was run" in caught.value.text


@given(objects)
def test_bind_raises_nothing_else(arguments: dict[str, Any]) -> None:
    anything: Tool = shapes
    try:
        bind(anything, call(arguments))
    except ArgumentError as error:
        assert error.text  # noqa: PT017 - any other exception fails the test


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": [{"b": 2.0}]}, {"a": [{"b": 2}]}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1.5}, {"a": 1}, False),
        ({"a": [1, 2]}, {"a": [2, 1]}, False),
        ({}, {"a": None}, False),
    ],
)
def test_canonical(one: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    assert (canonical("t", one) == canonical("t", other)) is same
    assert canonical("t", one) != canonical("u", one)


def test_the_text_of_a_call() -> None:
    assert canonical("t", {"b": [1.0], "a": "文"}) == 't {"a": "文", "b": [1]}'
