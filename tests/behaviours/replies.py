"""A corpus of model replies as runs: what a model wrote in a text dialect, and its native twin, in which the
provider's own field carries the same calls and answers. Both have to come to the same run on every face.

A corpus is a folder with `*.jsonl` (one record a line: `id`, `symptom`, `dialect`, `mode`, `text` or `gen`,
`finish`, `expected`) and one `*tools.json` with the schemas of the tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.behaviours.corpus import Case
from tests.behaviours.faces import Face
from tests.behaviours.outcome import Outcome, wrongs

from wenfang.core import Assistant, ToolResult
from wenfang.core.dialects.text import SHAPES
from wenfang.core.dialects.text.forms import FORMS, Form
from wenfang.testing import Reply, Script, ToolUse
from wenfang.testing.dialects import parse

_BROKEN = '{"a": '  # arguments that nobody can read
_DONE = "It is done."
_PIECE = 7  # characters a piece
_SAMPLES: Mapping[str, Any] = {
    "string": "x",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}
# Results that refuse a call for what was written; which of them it is depends on who looks first.
_UNUSABLE = ("malformed", "truncated", "invalid_arguments")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """`compared` says what is the same: "run", or "end" where the native field cannot say what the text
    said, so that only what comes after the repair turn is. `must_not` and `must_keep` hold for what the
    model reads last."""

    id: str
    about: str
    spoken: Case
    native: Case
    compared: str = "run"
    must_not: Sequence[str] = ()
    must_keep: Sequence[str] = ()


def load_pairs(folder: Path) -> list[Pair]:
    """All records of the folder's corpora, in order."""
    (tools,) = folder.glob("*tools.json")
    specs = [{"access": "read", **spec} for spec in json.loads(tools.read_text("utf-8"))]
    lines = [
        line
        for path in sorted(folder.glob("*.jsonl"))
        for line in path.read_text("utf-8").split("\n")
    ]
    return [make_pair(json.loads(line), specs) for line in lines if line.strip()]


def make_pair(record: Mapping[str, Any], specs: Sequence[Mapping[str, Any]]) -> Pair:
    """A record as two runs."""
    if record.get("mode") == "observation":
        return _observed(record, specs)
    text, finish = _text_of(record), record.get("finish")
    outcome = parse(text, record["dialect"], specs, finish or "stop")
    kinds = {_kind(each) for each in (record["expected"]["kind"], *_accepted(record))}
    kind = _kind(outcome["kind"]) if _kind(outcome["kind"]) in kinds else min(kinds)
    said = Reply(text=_pieces(text), finish=finish)
    if kind == "tool":
        return _pair(record, specs, said, Reply(tools=_calls(record)))
    if kind == "final":
        return _pair(record, specs, said, Reply(text=record["expected"]["answer"], finish=finish))
    return _repaired(record, specs, said)


def _kind(kind: str) -> str:
    return "tool" if kind == "mixed" else kind


def _accepted(record: Mapping[str, Any]) -> Sequence[str]:
    return record["expected"].get("accept", ())


def _text_of(record: Mapping[str, Any]) -> str:
    if "gen" not in record:
        return record["text"]
    gen = record["gen"]
    count = max(1, gen["bytes"] // len(gen["unit"].encode()))
    return gen["head"] + gen["unit"] * count + gen["tail"]


def _pieces(text: str) -> list[str]:
    size = max(_PIECE, len(text) // 200)
    return [text[at : at + size] for at in range(0, len(text), size)]


def _calls(record: Mapping[str, Any]) -> list[ToolUse]:
    """The calls that a record expects: several only where the format can carry them."""
    expected = record["expected"]
    calls = expected.get("calls") or [[expected["tool"], expected["arguments"]]]
    kept = calls if SHAPES[record["dialect"]].parallel else calls[:1]
    return [ToolUse(name=name, args=arguments) for name, arguments in kept]


# What stands for a reply that nobody could use. No field of the provider can hold a thought without an action.
def _refused(expected: Mapping[str, Any], some_tool: str) -> tuple[Reply, str]:
    """The native reply that is as unusable, and what can be compared then."""
    reason, tool = expected.get("reason"), expected.get("tool")
    if reason == "empty":
        return Reply(), "run"
    if reason == "unknown_tool":
        unknown = ToolUse(name=tool or "no_such_tool", args={})
        return Reply(tools=[unknown]), "run" if tool else "end"
    return Reply(tools=[ToolUse(name=tool or some_tool, args=_BROKEN)]), "run" if tool else "end"


def _repaired(record: Mapping[str, Any], specs: Sequence[Mapping[str, Any]], said: Reply) -> Pair:
    """The same again, well-formed: an unusable reply, then a sound action."""
    refused, compared = _refused(record["expected"], specs[0]["name"])
    action = ToolUse(name=specs[0]["name"], args=_sample(specs[0]))
    written = Reply(text=_form(record).action.format(name=action.name, arguments=_json(action)))
    return _pair(
        record, specs, said, refused, then=(written, Reply(tools=[action])), compared=compared
    )


def _observed(record: Mapping[str, Any], specs: Sequence[Mapping[str, Any]]) -> Pair:
    """The text is what a tool returns."""
    action = ToolUse(name=specs[0]["name"], args=_sample(specs[0]))
    written = Reply(text=_form(record).action.format(name=action.name, arguments=_json(action)))
    expected = record["expected"]
    return _pair(
        record,
        specs,
        written,
        Reply(tools=[action]),
        result=record["text"],
        must_not=expected["must_not_match"],
        must_keep=expected["must_keep"],
    )


def _pair(
    record: Mapping[str, Any],
    specs: Sequence[Mapping[str, Any]],
    spoken: Reply,
    native: Reply,
    *,
    then: tuple[Reply, Reply] | None = None,
    result: str = "ok",
    **more: Any,
) -> Pair:
    steps = [(spoken, native), *((then,) if then else ())]
    if then or native.tools:
        steps.append((Reply(text=_form(record).answer.format(answer=_DONE)), Reply(text=_DONE)))
    about = f"{record['dialect']}: {record['symptom']}"
    both = [
        Case(
            id=record["id"],
            about=about,
            script=Script(name=record["id"], replies=tuple(replies)),
            expect={},
            tools=[],
            schemas={spec["name"]: (spec, result) for spec in specs},
            dialect=dialect,
        )
        for dialect, replies in zip(
            (record["dialect"], "native"), zip(*steps, strict=True), strict=True
        )
    ]
    return Pair(id=record["id"], about=about, spoken=both[0], native=both[1], **more)


def _form(record: Mapping[str, Any]) -> Form:
    return FORMS[SHAPES[record["dialect"]].name]["en"]


def _sample(spec: Mapping[str, Any]) -> dict[str, Any]:
    parameters = spec["parameters"]
    return {
        name: _SAMPLES[parameters["properties"][name]["type"]]
        for name in parameters.get("required", ())
    }


def _json(call: ToolUse) -> str:
    return json.dumps(call.args, ensure_ascii=False)


# Comparing


async def compare(pair: Pair, face: Face) -> dict[str, list[str]]:
    """What differs between the two runs, for each name of the face; empty is right."""
    spoken, native = await face.start(pair.spoken), await face.start(pair.native)
    for outcome in (spoken, native):
        if (
            "sse" in outcome
        ):  # deltas of a short reply may be left out in favour of the whole message
            seen = outcome["sse"].seen
            seen[:] = [kind for kind in seen if not kind.startswith("message.delta")]
    return {name: _differences(pair, spoken[name], native[name]) for name in face.names}


def _differences(pair: Pair, spoken: Outcome, native: Outcome) -> list[str]:
    found = [*wrongs(spoken, {}), *(f"native: {each}" for each in wrongs(native, {}))]
    is_end = pair.compared == "end"
    for what, view in {"run": _run, "blocks": _blocks, "events": _events}.items():
        one, two = view(spoken, is_end), view(native, is_end)
        if one != two:
            found.append(f"{what}: {one!r}, but native {two!r}")
    shown = str(spoken.requests[-1].body["messages"][-1]["content"]) if pair.must_keep else ""
    found += [f"the model reads {each!r}" for each in pair.must_not if re.search(each, shown)]
    found += [f"the model does not read {each!r}" for each in pair.must_keep if each not in shown]
    return found


def _run(outcome: Outcome, is_end: bool) -> list[Any]:
    executed = [[name, args] for name, args in outcome.executed]
    return [outcome.status, outcome.reason, _plain(outcome.answer), executed, len(outcome.requests)]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _blocks(outcome: Outcome, is_end: bool) -> list[Any]:
    """The transcript without what a model thought, and without the words beside a call."""
    found: list[Any] = []
    for message in outcome.messages:
        if isinstance(message, Assistant):
            calls = [
                [_name(call.name, is_end), _plain_json(call.arguments)] for call in message.calls
            ]
            found.append(calls or _plain(message.text))
        elif isinstance(message, ToolResult):
            state = message.error_type or "ok"
            text = message.text if state == "ok" else ""
            state = "unusable" if state in _UNUSABLE or (is_end and state != "ok") else state
            found.append([_name(message.name, is_end), state, text])
        elif message.role != "system":
            found.append(message.role)
    return found


def _plain_json(arguments: Mapping[str, Any]) -> Any:
    return json.loads(_plain(json.dumps(dict(arguments))))


def _name(name: str, is_end: bool) -> str:
    return "" if is_end else name


def _events(outcome: Outcome, is_end: bool) -> list[str]:
    """The kinds of events; of the deltas of a reply, those of what it came to."""
    found: list[str] = []
    kinds = [re.sub("[._]", " ", kind) for kind in outcome.seen]
    runs = [kind for kind, _ in groupby(kind for kind in kinds if kind != "message delta thinking")]
    for at, kind in enumerate(runs):
        if kind.startswith("message delta") and kind != _told(runs[at:]):
            continue
        found.append(" ".join(kind.split()[:2]) if is_end and kind.startswith("tool ") else kind)
    return [kind for kind, _ in groupby(found)]


def _told(following: Sequence[str]) -> str:
    """The deltas that count for a reply: of its call if that is run, of its text if it has none."""
    after = next((kind for kind in following if not kind.startswith("message")), "")
    if after.startswith(("tool start", "tool started")):
        return "message delta call"
    return "" if after.startswith("tool") else "message delta text"
