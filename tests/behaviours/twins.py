"""The same scripts for a model whose calls are text: what it says is written in a dialect's form.

A twin has to come to the same runs, results and ends. What differs follows from the form: words before a
call are a thought, a reply is ended when its action is complete (so its usage is counted, not told), and
arguments that are no use have one name for all that can be wrong with them. A call that is repeated so
often comes with another thought each time, because the same unreadable text ends a run (FB30m).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
from tests.behaviours.corpus import Case

from wenfang.core import DialectName
from wenfang.core.dialects.text.forms import FORMS, Form
from wenfang.testing import Reply, Script

TEXT_DIALECTS: dict[DialectName, str] = {
    "tagged": "tagged",
    "markdown": "bold",
    "plain_zh": "simple",
    "bracket": "bracket",
    "classic": "classic",
}
_FIELDS = ("usage", "ledger", "choices")  # of the provider: a form has none
_UNUSABLE = ("malformed", "truncated", "invalid_arguments")
_ONLY_NATIVE = {
    "FB02c": "a complete action is run, whatever happens to the words behind it",
    "FB06c": "a complete action is run, whatever cut the words behind it",
    "FB26b": "it waits for words that are a thought here",
    "FB07g": "an empty text is no JSON here",
}

# The name stands inside the JSON or the line that is damaged, so nobody can tell what was meant.
_NAME_IS_LOST = {
    "FB07e": {"markdown", "plain_zh"},
    "FB07f": {"markdown", "plain_zh"},
    "FB08b": {"markdown", "plain_zh"},
}


def twin_of(case: Case, dialect: DialectName) -> Case | None:
    """The case in a text dialect; None if it is about something that only native calls have."""
    replies = case.script.replies
    if case.id in _ONLY_NATIVE or dialect in _NAME_IS_LOST.get(case.id, ()):
        return None
    if case.dialect != "native" or not any(reply.tools for reply in replies):
        return None
    if any(reply.raw or reply.chunks or len(reply.tools) > 1 for reply in replies):
        return None
    form = FORMS[TEXT_DIALECTS[dialect]]["en"]
    script = Script(
        name=f"{case.script.name} {dialect}",
        replies=tuple(_reply(form, each) for reply in replies for each in _one_by_one(reply)),
        extra=case.script.extra,
    )
    return replace(case, dialect=dialect, script=script, expect=_expect(case))


def _one_by_one(reply: Reply) -> list[Reply]:
    if not reply.tools or reply.repeat < 2:
        return [reply]
    return [msgspec.structs.replace(reply, repeat=1, text=f"Try {n}.") for n in range(reply.repeat)]


def _reply(form: Form, reply: Reply) -> Reply:
    if reply.http != 200 or reply.body is not None:
        return reply
    if not reply.tools:
        text = form.answer.format(answer=reply.whole_text) if reply.whole_text else ""
        return msgspec.structs.replace(reply, text=text)
    call = reply.tools[0]
    arguments = call.args if isinstance(call.args, str) else json.dumps(call.args)
    text = form.action.format(name=call.name, arguments=arguments)
    if reply.whole_text:
        text = f"{form.thought.format(thought=reply.whole_text)}\n{text}"
    if isinstance(call.args, str) and not _is_json(call.args):
        text = text[: text.index(arguments) + len(arguments)]  # nothing stands behind a broken end
    finish = None if reply.finish == "tool_calls" else reply.finish
    return msgspec.structs.replace(reply, text=text, tools=[], finish=finish)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _expect(case: Case) -> dict[str, Any]:
    expect = {key: value for key, value in case.expect.items() if key not in _FIELDS}
    if "texts" in expect:
        words = [reply.whole_text for reply in case.script.replies if reply.tools]
        expect["texts"] = ["" if text in words else text for text in expect["texts"]]
    if "results" in expect:
        expect["results"] = [
            [name, "malformed"] if state in _UNUSABLE else [name, state, *more]
            for name, state, *more in expect["results"]
        ]
    return expect
