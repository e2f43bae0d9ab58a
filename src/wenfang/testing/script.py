"""Scripts: what a scripted model answers, request by request. A value, read from JSON or TOML.

    [[replies]]
    text = "Let me compute."
    tools = [{ name = "add", args = { a = 2, b = 3 } }]

    [[replies]]
    text = "5"

The fields of a reply are those of `Reply`. A file may hold other tables beside `replies`; they are the
business of whoever wrote them and are kept in `extra`.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Struct

from wenfang.core import JSON

End: TypeAlias = Literal["done", "eof", "cut", "reset"]


class ScriptError(Exception):
    """A script that cannot be used. The text names the file, the step and what is wrong, in one line."""


class ToolUse(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call. `args` is an object, or the text itself if it is to be odd. `id` defaults to a fresh one."""

    name: str
    args: dict[str, Any] | str = {}
    id: str | None = None


class RawItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A piece of a raw body: text, or bytes in hex, or a wait, or a reset of the connection."""

    text: str = ""
    hex: str = ""
    sleep_ms: float = 0
    reset: bool = False


class Reply(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One reply.

    What is said: `text` (a list is sent piece by piece), `thinking`, `tools`; or `chunks`, the delta
    objects of a stream as they are; or `raw`, the bytes of the body; or `body` (JSON or text) as it is,
    with `http` as its status. `headers` are added to the response. With `http` 0 there is no response at
    all: the connection just ends, or is reset if `end` says so.

    How it ends: `finish` is the finish reason, by default what fits, "" for none. `end` "done" sends
    [DONE]; "eof" ends cleanly without it (and without a finish reason, unless one is given); "cut" ends
    the connection in the middle of the body; "reset" resets it.

    `usage` is sent with the end; a list is spread over the chunks, one each, the last with the end.
    `latency_ms` is waited before the reply, `pace_ms` before each chunk. `repeat` uses the reply so many
    times, 0 without end. `model` keeps it for requests of that model.
    """

    text: str | list[str] = ""
    thinking: str = ""
    tools: list[ToolUse] = []
    chunks: list[dict[str, Any]] = []
    raw: list[str | RawItem] = []
    body: Any = None
    http: int = 200
    headers: dict[str, str] = {}
    finish: str | None = None
    end: End = "done"
    usage: dict[str, Any] | list[dict[str, Any]] | None = None
    latency_ms: float = 0
    pace_ms: float = 0
    repeat: int = 1
    model: str | None = None

    @property
    def pieces(self) -> list[str]:
        """The text as it is streamed."""
        if isinstance(self.text, list):
            return self.text
        return re.findall(r"\s*\S+|\s+", self.text)

    @property
    def whole_text(self) -> str:
        return "".join(self.text)

    @property
    def finish_reason(self) -> str | None:
        if self.finish is not None:
            return self.finish or None
        if self.end != "done":
            return None
        return "tool_calls" if self.tools else "stop"


class Script(Struct, frozen=True, kw_only=True):
    """`name` is for messages: the file's name, or what it calls itself."""

    name: str
    replies: tuple[Reply, ...]
    extra: dict[str, Any] = {}


def say(text: str, *, thinking: str = "", finish: str | None = None) -> Reply:
    """A reply that is an answer."""
    return Reply(text=text, thinking=thinking, finish=finish)


def call(name: str, /, *, preamble: str = "", **arguments: JSON) -> Reply:
    """A reply that is one call, after a few words if `preamble` is given."""
    return Reply(text=preamble, tools=[ToolUse(name=name, args=arguments)])


def load_script(path: str | Path) -> Script:
    """Read a script from a `.json` or `.toml` file. Raises `ScriptError`."""
    path = Path(path)
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no UTF-8 text"
        raise ScriptError(f"{path}: cannot be read: {reason}") from error
    try:
        value: Any = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise ScriptError(f"{path}: {error}") from error
    return parse_script(value, name=str(path))


def parse_script(value: Any, *, name: str) -> Script:
    """A script from data. Raises `ScriptError`, with `name` in front."""
    if not isinstance(value, dict):
        raise ScriptError(f"{name}: a script is a table with a list named 'replies'")
    fields = dict(cast("dict[str, Any]", value))
    replies = fields.pop("replies", None)
    if not isinstance(replies, list) or not replies:
        raise ScriptError(f"{name}: 'replies' must be a list of at least one reply")
    steps = enumerate(cast("list[Any]", replies), 1)
    parsed = tuple(_reply(reply, f"{name}: step {number}") for number, reply in steps)
    return Script(name=name, replies=parsed, extra=fields)


_WAYS = ("text", "chunks", "raw", "body")


def _reply(value: Any, where: str) -> Reply:
    try:
        reply = msgspec.convert(value, Reply)
    except msgspec.ValidationError as error:
        raise ScriptError(f"{where}: {str(error).replace('$.', '')}") from error
    said = bool(reply.text or reply.thinking or reply.tools)
    ways = [said, bool(reply.chunks), bool(reply.raw), reply.body is not None]
    if sum(ways) > 1:
        used = [way for way, is_used in zip(_WAYS, ways, strict=True) if is_used]
        raise ScriptError(f"{where}: {' and '.join(used)} exclude each other")
    for item in reply.raw:
        if isinstance(item, RawItem) and not _is_hex(item.hex):
            raise ScriptError(f"{where}: {item.hex!r} is no text of hex digits")
    if reply.http not in (0, 200) and reply.body is None:
        raise ScriptError(f"{where}: http = {reply.http} needs a body")
    return reply


def _is_hex(text: str) -> bool:
    try:
        bytes.fromhex(text)
    except ValueError:
        return False
    return True


class Steps:
    """Hands out the replies of a script in order and remembers what did not fit."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._used = [0] * len(script.replies)
        self.extra: list[str] = []  # requests without a reply

    def next(self, model: str) -> tuple[int, Reply] | None:
        """The next reply to a request of `model` and its place, or None if there is none left."""
        for at, reply in enumerate(self._script.replies):
            is_left = reply.repeat == 0 or self._used[at] < reply.repeat
            if is_left and reply.model in (None, model):
                self._used[at] += 1
                return at, reply
        self.extra.append(f"an extra request (model {model!r}) after the last step")
        return None

    def problems(self) -> list[str]:
        """Steps that were not used as often as they say, and requests without a step."""
        unused = [
            f"step {at} was used {used} of {max(reply.repeat, 1)} times"
            for at, (reply, used) in enumerate(
                zip(self._script.replies, self._used, strict=True), 1
            )
            if used < max(reply.repeat, 1)
        ]
        return unused + self.extra
