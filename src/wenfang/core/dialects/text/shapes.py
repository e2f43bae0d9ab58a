"""The text dialects as data. The parser is one; a shape says what counts in it."""

from __future__ import annotations

from dataclasses import dataclass

# Kinds of tags that begin a call in the format some model was trained on (dialects 5.13).
OPENERS = frozenset(
    ("tool_call", "calls", "function", "section", "token_call", "python_tag", "mistral")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`labels`: lines such as `Action:` count. `tags`: `<tool_name>` and `<final_answer>` count.
    `is_open`: text without any mark is the answer; else it is thought. `raw_input`: the input of a tool
    with one text argument may be written without JSON. `own`: the native openers that are this
    dialect's own, so that one of them in running text is a doubt and not an example. `parallel`:
    several calls in one reply. `bare_calls`: a JSON object alone is how this dialect calls, also with a
    name that is unknown. `pythonic`: so is `[name(key="value")]`. `loose_close`: a closing tag makes a
    call of the JSON object before it. `bare_channels`: channel names count without their tokens.
    `stop`: sequences at which a server may end the generation; an optimisation, never trusted."""

    name: str
    labels: bool = False
    tags: bool = False
    is_open: bool = False
    raw_input: bool = False
    own: frozenset[str] = frozenset()
    parallel: bool = False
    bare_calls: bool = False
    pythonic: bool = False
    loose_close: bool = False
    bare_channels: bool = False
    stop: tuple[str, ...] = ()


def _native(
    name: str,
    *own: str,
    bare_calls: bool = False,
    pythonic: bool = False,
    loose_close: bool = False,
    bare_channels: bool = False,
) -> Shape:
    return Shape(
        name=name,
        is_open=True,
        parallel=True,
        own=frozenset(own),
        bare_calls=bare_calls,
        pythonic=pythonic,
        loose_close=loose_close,
        bare_channels=bare_channels,
        stop=("<tool_response>",),
    )


_ALL = (
    Shape(name="tagged", labels=True, tags=True, stop=("\nObservation:", "<tool_result>")),
    Shape(name="bold", labels=True, stop=("\n**Observation**", "\nObservation:")),
    Shape(name="simple", labels=True, is_open=True, stop=("\nObservation:", "\n观察")),
    Shape(name="bracket", labels=True, raw_input=True, stop=("\nObservation:", "\nQuestion:")),
    Shape(name="classic", labels=True, raw_input=True, stop=("\nObservation:", "\nQuestion:")),
    _native("hermes", "tool_call", loose_close=True),
    _native("qwen3_coder", "tool_call", "function", loose_close=True),
    _native("deepseek_v3", "section", "token_call"),
    _native("deepseek_v31", "section", "token_call"),
    _native("deepseek_dsml", "calls", "function"),
    _native("llama3", "python_tag", bare_calls=True, pythonic=True),
    _native("mistral", "mistral"),
    _native("kimi_k2", "section", "token_call"),
    _native("glm45", "tool_call"),
    _native("minimax_m2", "calls", "function"),
    _native("harmony", bare_channels=True),
)
_ALIASES = {"markdown": "bold", "plain_zh": "simple"}

SHAPES: dict[str, Shape] = {shape.name: shape for shape in _ALL}
SHAPES.update({alias: SHAPES[name] for alias, name in _ALIASES.items()})

# Reads a thought that never ended: only calls in a native format count.
RESCUE = Shape(name="rescue", is_open=True, parallel=True)
