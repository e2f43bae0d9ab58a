"""Scripts as files and as data: what is read, and what is said about a file with an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from wenfang.testing import Reply, ScriptError, ToolUse, call, load_script, parse_script, say


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        'note = "mine"\n[[replies]]\ntext = "hm"\ntools = [{ name = "add", args = { a = 1 } }]\n'
    )
    (tmp_path / "a.json").write_text(
        '{"note": "mine", "replies": [{"text": "hm", "tools": [{"name": "add", "args": {"a": 1}}]}]}'
    )
    toml, json = load_script(tmp_path / "a.toml"), load_script(str(tmp_path / "a.json"))
    assert (
        toml.replies
        == json.replies
        == (Reply(text="hm", tools=[ToolUse(name="add", args={"a": 1})]),)
    )
    assert toml.extra == {"note": "mine"}
    assert toml.name.endswith("a.toml")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "x: a script is a table"),
        ({}, "x: 'replies' must be a list"),
        ({"replies": []}, "x: 'replies' must be a list"),
        ({"replies": ["hi"]}, "x: step 1: Expected `object`, got `str`"),
        (
            {"replies": [{"text": "a"}, {"txet": "b"}]},
            "x: step 2: Object contains unknown field `txet`",
        ),
        ({"replies": [{"text": 5}]}, "step 1: Expected"),
        ({"replies": [{"end": "bang"}]}, "step 1: Invalid enum value 'bang' - at `end`"),
        (
            {"replies": [{"tools": [{"args": {}}]}]},
            "step 1: Object missing required field `name` - at `tools[0]`",
        ),
        ({"replies": [{"text": "a", "raw": ["b"]}]}, "step 1: text and raw exclude each other"),
        ({"replies": [{"chunks": [{}], "body": 1}]}, "step 1: chunks and body exclude each other"),
        ({"replies": [{"raw": [{"hex": "zz"}]}]}, "step 1: 'zz' is no text of hex digits"),
        ({"replies": [{"http": 500}]}, "step 1: http = 500 needs a body"),
    ],
)
def test_errors_name_the_step_and_the_fault(value: Any, words: str) -> None:
    with pytest.raises(ScriptError) as caught:
        parse_script(value, name="x")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("no.toml", None, "cannot be read: No such file"),
        ("bad.toml", b"replies = [", "bad.toml: "),
        ("bad.json", b'{"replies": [', "bad.json: "),
        ("latin.json", b"\xff\xfe", "no UTF-8 text"),
    ],
)
def test_files_with_errors(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ScriptError) as caught:
        load_script(tmp_path / name)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (say("x"), "stop"), (call("add", a=1), "tool_calls"), (Reply(text="x", finish=""), None),
        (Reply(text="x", finish="length"), "length"), (Reply(text="x", end="eof"), None),
        (Reply(text="x", end="eof", finish="stop"), "stop"),
    ],
)  # fmt: skip
def test_the_finish_reason_that_fits(reply: Reply, reason: str | None) -> None:
    assert reply.finish_reason == reason


def test_text_is_streamed_in_pieces_that_add_up() -> None:
    text = "  two words\n\n文房 end "
    assert "".join(Reply(text=text).pieces) == text
    assert Reply(text=["a", "b c"]).pieces == ["a", "b c"]
    assert Reply(text=["a", "b c"]).whole_text == "ab c"
