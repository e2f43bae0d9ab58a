"""A conversation as a model of a text dialect reads it: always well-formed, whatever was really written."""

from __future__ import annotations

import json

from ...messages import ToolCall
from .forms import Form
from .observe import render_observation
from .parser import parse
from .shapes import Shape


def write_action(shape: Shape, form: Form, thought: str, call: ToolCall) -> str:
    """One step with a tool. In the arguments an escape stands for what would be protocol, which means
    the same; a thought that looks like protocol is made harmless."""
    written = json.dumps(dict(call.arguments), ensure_ascii=False)
    action = form.action.format(name=call.name, arguments=render_observation(written, shape))
    if not thought.strip():
        return action
    safe = render_observation(thought.strip(), shape)
    return f"{form.thought.format(thought=safe)}\n{action}"


def write_answer(shape: Shape, form: Form, answer: str) -> str:
    """The answer, as it is if it is read as itself; else with its protocol words made harmless."""
    text = form.answer.format(answer=answer)
    outcome = parse(text, shape, ())
    if outcome.kind == "final" and outcome.answer == answer.strip():
        return text
    return form.answer.format(answer=render_observation(answer, shape))


def write_result(shape: Shape, form: Form, text: str) -> str:
    """What a tool gave, for the message that follows its call."""
    return form.result.format(result=render_observation(text, shape))
