"""From the name a model wrote to a registered tool, and from a call written as one object to a call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from ...arguments import real_names
from ...messages import JSON
from ...models import ToolSpec
from .events import Call, Reason
from .observe import restored
from .source import INVISIBLE
from .values import GUESSED, ReadError, as_object, check, only_property

NAME_KEYS = ("name", "tool", "action", "tool_name", "function")
ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "action_input",
    "args",
    "input",
    "inputs",
    "tool_input",
    "params",
)
WRAPPER_KEYS = ("tool_call", "function_call", "function", "tool_calls", "action", "call")
# Keys that may stand beside the name of a call and say nothing about its arguments.
_OTHER_KEYS = frozenset(("type", "id", "index", "thought", "thoughts", "reasoning", "reason"))
CALL_KEYS = frozenset((*NAME_KEYS, *ARGUMENT_KEYS, *WRAPPER_KEYS, *_OTHER_KEYS))

NO_TOOL = frozenset(
    (
        "none",
        "n/a",
        "na",
        "null",
        "no action",
        "no tool",
        "none needed",
        "无",
        "没有",
        "无需",
        "不需要",
    )
)
_FINISH = frozenset(("finish", "finalanswer"))
_PREFIXES = ("functions.", "function.", "default_api.", "tools.", "tool:", "tool.", "functions:")
_AROUND = INVISIBLE + " \t\n\r\u3000\"'`*“”‘’「」"
_INVISIBLE = str.maketrans("", "", INVISIBLE)
_SEPARATORS = re.compile(r"[\s_\-]+")
_MAX_NAME = 200


class Refusal(NamedTuple):
    """Why a call cannot run. `tool` is the tool that was meant, registered or not."""

    reason: Reason
    detail: str
    tool: str | None = None


Item: TypeAlias = Call | Refusal


class Named(NamedTuple):
    spec: ToolSpec
    normalised: bool


def clean(name: str) -> str:
    """A name without what models put around it."""
    name = name[:_MAX_NAME].partition("<")[0].translate(_INVISIBLE).strip(_AROUND)
    name = name.replace("\\_", "_")  # as Markdown has it
    while name.endswith("\\n"):
        name = name[:-2]
    return name.rstrip(".:：。").strip(_AROUND)


def _folded(name: str) -> str:
    return _SEPARATORS.sub("", name).lower()


def is_finish(name: str) -> bool:
    return _folded(clean(name)) in _FINISH


class Tools:
    """The tools a reply can call."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._by_name = {spec.name: spec for spec in specs}
        self._by_folded: dict[str, list[ToolSpec]] = {}
        for spec in self._by_name.values():
            self._by_folded.setdefault(_folded(spec.name), []).append(spec)

    def find(self, written: str) -> Named | None:
        """The tool that `written` names: exactly, without a known prefix, or, if only one tool fits,
        without regard to case and separators. Never by similarity."""
        name = clean(written)
        if name in self._by_name:
            return Named(self._by_name[name], name != written.strip())
        for prefix in _PREFIXES:
            if name.lower().startswith(prefix):
                name = name[len(prefix) :].strip(_AROUND)
                break
        spec = self._by_name.get(name)
        if spec is None:
            alike = self._by_folded.get(_folded(name), ())
            spec = alike[0] if len(alike) == 1 else None
        return None if spec is None else Named(spec, True)

    def unknown(self, written: str) -> Refusal:
        name = clean(written)
        names = ", ".join(self._by_name)
        return Refusal(
            "unknown_tool", f"There is no tool {name[:80]!r}. The tools are: {names}.", name
        )


def make_call(named: Named, arguments: Mapping[str, JSON], repairs: Iterable[str] = ()) -> Item:
    """A call, or what is wrong with its arguments. They keep the names that were written."""
    steps = tuple(dict.fromkeys(repairs))
    if GUESSED in steps and not named.spec.read_only:
        detail = 'They are not valid JSON: a quote inside a string is not written as \\".'
        return Refusal("bad_json", detail, named.spec.name)
    error = check(real_names(arguments, named.spec.aliases), named.spec.parameters)
    if error is not None:
        return Refusal(error.reason, error.detail, named.spec.name)
    return Call(
        name=named.spec.name,
        arguments=restored(arguments),
        repairs=steps,
        name_normalised=named.normalised,
    )


def properties_of(spec: ToolSpec) -> frozenset[str]:
    properties = spec.parameters.get("properties")
    own = frozenset(properties) if isinstance(properties, dict) else frozenset[str]()
    return own | spec.aliases.keys()


def unwrapped(named: Named, arguments: dict[str, JSON], tools: Tools) -> JSON:
    """Arguments without a wrapper that repeats the call: `{"arguments": {...}}`, or the whole call."""
    own = properties_of(named.spec)
    if not arguments or own & arguments.keys() or not arguments.keys() <= CALL_KEYS:
        return arguments
    inner = [key for key in arguments if key in ARGUMENT_KEYS]
    name = next((arguments[key] for key in NAME_KEYS if key in arguments), named.spec.name)
    if len(inner) != 1 or not isinstance(name, str):
        return arguments
    again = tools.find(name)
    return arguments[inner[0]] if again is not None and again.spec is named.spec else arguments


def with_arguments(named: Named, value: JSON, tools: Tools, repairs: tuple[str, ...] = ()) -> Item:
    """The call of a known tool with a decoded value as its arguments."""
    try:
        arguments, repairs = as_object(value, repairs)
        inner = unwrapped(named, arguments, tools)
        if inner is not arguments:
            arguments, repairs = as_object(inner, (*repairs, "wrapper"))
    except ReadError as error:
        return Refusal(error.reason, error.detail, named.spec.name)
    return make_call(named, arguments, repairs)


def plain_text(named: Named, text: str) -> Item:
    """The call of a tool whose one required argument is written as it is."""
    name = only_property(named.spec.parameters)
    if name is None:
        return Refusal("bad_json", "The arguments are not a JSON object.", named.spec.name)
    return make_call(named, {name: text})


def calls_from(value: JSON, tools: Tools, repairs: tuple[str, ...] = ()) -> list[Item]:
    """The calls that a decoded value writes out: one object, or a list of them."""
    if isinstance(value, list):
        items = [item for each in value for item in calls_from(each, tools, repairs)]
        return items or [Refusal("bad_json", "The list of calls is empty.")]
    if not isinstance(value, dict):
        return [Refusal("bad_json", "A call has to be a JSON object.")]
    for key in WRAPPER_KEYS:
        inner = value.get(key)
        if isinstance(inner, dict) or (key == "tool_calls" and isinstance(inner, list)):
            return calls_from(inner, tools, repairs)
    return [_call_from(value, tools, repairs)]


def written_name(value: Mapping[str, JSON]) -> str | None:
    names = (value.get(key) for key in NAME_KEYS)
    return next((name for name in names if isinstance(name, str)), None)


def _call_from(value: dict[str, JSON], tools: Tools, repairs: tuple[str, ...]) -> Item:
    name = written_name(value)
    if name is None:
        return Refusal("bad_json", "The object does not name a tool.")
    named = tools.find(name)
    if named is None:
        return tools.unknown(name)
    key = next((key for key in ARGUMENT_KEYS if key in value), None)
    if key is not None:
        return with_arguments(named, value[key], tools, repairs)
    flat = {key: each for key, each in value.items() if key not in (*NAME_KEYS, *_OTHER_KEYS)}
    own = properties_of(named.spec)
    if not flat.keys() <= own:
        strange = ", ".join(sorted(flat.keys() - own))
        detail = f"Not an argument of {named.spec.name}: {strange[:200]}."
        return Refusal("invalid_arguments", detail, named.spec.name)
    return make_call(named, flat, (*repairs, "flat") if flat else repairs)


def is_call_shaped(value: JSON, tools: Tools) -> bool:
    """Whether an object that stands alone is a call of a registered tool rather than data."""
    if isinstance(value, list):
        return bool(value) and all(is_call_shaped(each, tools) for each in value)
    if not isinstance(value, dict) or not value.keys() & CALL_KEYS:
        return False
    for key in WRAPPER_KEYS:
        inner = value.get(key)
        if isinstance(inner, dict) or (key == "tool_calls" and isinstance(inner, list)):
            return is_call_shaped(inner, tools)
    name = written_name(value)
    named = tools.find(name) if name is not None else None
    if named is None:
        return False
    if any(key in value for key in ARGUMENT_KEYS):
        return True
    rest = value.keys() - {*NAME_KEYS, *_OTHER_KEYS}
    return rest <= properties_of(named.spec)
