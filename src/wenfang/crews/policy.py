"""What a turn may do (design M3): one object, computed from route, mode and facts; one table that judges
calls by it; one text that tells the model the same.

A rule stands in the table once: `forbids` decides about a call, `zh` and `en` are its sentence in the
directive. So a model is never refused for what it was not told, and never told what does not hold.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from wenfang.core import Allow, Deny, Hooks, Tool, ToolCall
from wenfang.problems import Language
from wenfang.tools.writing import (
    Desk,
    ErrorType,
    Part,
    World,
    author_text,
    envelope_text,
    look,
    parts_of,
    refusal_details,
)
from wenfang.workspace.project import BODY_KINDS

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "NOT_THIS_ROUND",
    "RULES",
    "Denial",
    "LengthBounds",
    "Rule",
    "TurnPolicy",
    "authorize",
    "directive",
    "listed",
    "policy_hooks",
]

NOT_THIS_ROUND = "[Not available this round] "
"""Stands before the description of a tool that a round cannot use; the tool stays listed (TL-21)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthBounds:
    """How many words the author wants; None: no bound on that side."""

    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPolicy:
    """What one role may do in one round.

    `write`: files at all (a read-only request does not). `role_writes`: whether the role has tools that
    write. `body`: prose (draft, script). `overwrite_author_text` is for doors that an author opens by
    hand; no wording in a chat sets it (TL-16). `handoff_targets` None: every role. `clarify_only`: ask
    first. `review`: the finished text may be reviewed, at most `max_reviews` times. `scope`: the author's
    limits, in a few words. `summary_owner`: the role that tells the author what was done.
    """

    write: bool = True
    role_writes: bool = True
    body: bool = True
    delete: bool = True
    rename: bool = True
    overwrite_author_text: bool = False
    handoff_targets: frozenset[str] | None = None
    clarify_only: bool = False
    review: bool = True
    max_reviews: int = 2
    scope: str = ""
    language: Language = "zh"
    length: LengthBounds = LengthBounds()
    summary_owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A call that is not run: its type, and why, for the model and for the author."""

    error_type: ErrorType
    for_model: str
    for_author: str


Judgement: TypeAlias = Allow | Denial


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that a turn may not do. `holds`: whether it applies under a policy; `forbids`: whether it
    forbids this part of a call. `for_model` may name {title} and {paths}. A rule that depends on nothing
    but the moment has no sentence in the directive."""

    error_type: ErrorType
    holds: Callable[[TurnPolicy], bool]
    forbids: Callable[[Part, TurnPolicy, World], bool]
    for_model: str
    zh: str = ""
    en: str = ""


def _writes(part: Part, policy: TurnPolicy, world: World) -> bool:
    del policy, world
    return part.writes


def _writes_or_leaves(part: Part, policy: TurnPolicy, world: World) -> bool:
    del policy, world
    return part.writes or part.tool == "handoff_to_agent"


def _writes_prose(part: Part, policy: TurnPolicy, world: World) -> bool:
    del policy
    if part.tool in ("edit_file", "write_text"):
        target = world.targets.get(part.ref or "")
        return target is not None and target.kind in BODY_KINDS
    if part.tool == "write_chapter":
        return part.kind is None or part.kind in BODY_KINDS
    return part.tool == "create_file" and part.kind in BODY_KINDS


def _uses(tool: str) -> Callable[[Part, TurnPolicy, World], bool]:
    def forbids(part: Part, policy: TurnPolicy, world: World) -> bool:
        del policy, world
        return part.tool == tool

    return forbids


def _hands_elsewhere(part: Part, policy: TurnPolicy, world: World) -> bool:
    del world
    targets = policy.handoff_targets or frozenset()
    if part.tool != "handoff_to_agent":
        return False
    return part.target not in targets if part.target is not None else not targets


def _deletes_author_text(part: Part, policy: TurnPolicy, world: World) -> bool:
    del policy
    target = world.targets.get(part.ref or "") if part.tool == "delete_file" else None
    return target is not None and target.authored != ()


def _begins_another(part: Part, policy: TurnPolicy, world: World) -> bool:
    del policy
    return world.blocks(part)


RULES: tuple[Rule, ...] = (
    Rule(
        error_type="clarify_first",
        holds=lambda policy: policy.clarify_only,
        forbids=_writes_or_leaves,
        for_model="Not run: what the author wants is not clear yet, so this round changes no file and hands "
        "nothing over. Ask with request_clarification, or answer in words.",
        zh="先问清楚：这一轮不改动任何文件，也不交接；用一个问题确认作者想要什么。",
        en="Ask first: this round changes no file and hands nothing over; find out with one question what "
        "the author wants.",
    ),
    Rule(
        error_type="read_only_request",
        holds=lambda policy: not policy.write,
        forbids=_writes,
        for_model="Not run: the author asked for reading only, so this round changes no file. Answer in words.",
        zh="这一轮只读：可以查看文件，不能新建、修改、改名或删除。",
        en="This round only reads: look at files, but create, change, rename and delete none.",
    ),
    Rule(
        error_type="permission_denied",
        holds=lambda policy: not policy.role_writes,
        forbids=_writes,
        for_model="Not run: your role reads and judges, it does not change files. Say what should be changed.",
        zh="你的职责是阅读和判断，不改动文件；需要修改的地方写清楚即可。",
        en="Your part is to read and to judge, not to change files; say what should be changed.",
    ),
    Rule(
        error_type="permission_denied",
        holds=lambda policy: not policy.body,
        forbids=_writes_prose,
        for_model="Not run: the author wants no prose in this round. Outlines, characters, settings and notes "
        "may be written.",
        zh="这一轮不写正文：可以写大纲、人物、设定和笔记。",
        en="No prose in this round: outlines, characters, settings and notes may be written.",
    ),
    Rule(
        error_type="permission_denied",
        holds=lambda policy: not policy.delete,
        forbids=_uses("delete_file"),
        for_model="Not run: nothing is deleted in this round.",
        zh="这一轮不删除文件。",
        en="Nothing is deleted in this round.",
    ),
    Rule(
        error_type="permission_denied",
        holds=lambda policy: not policy.rename,
        forbids=_uses("rename_file"),
        for_model="Not run: nothing is renamed in this round.",
        zh="这一轮不给文件改名。",
        en="Nothing is renamed in this round.",
    ),
    Rule(
        error_type="permission_denied",
        holds=lambda policy: policy.handoff_targets is not None,
        forbids=_hands_elsewhere,
        for_model="Not run: the work cannot be handed there in this round. Finish it yourself and say what is "
        "left.",
        zh="这一轮只能交接给：{targets}。",
        en="In this round, work can be handed to: {targets}.",
    ),
    Rule(
        error_type="author_edit_protected",
        holds=lambda policy: not policy.overwrite_author_text,
        forbids=_deletes_author_text,
        for_model="Not run: the author wrote in {paths}. It is not deleted from the chat, whatever was said; the "
        "author can do it in the studio. Use edit_file for changes.",
        zh="作者亲手写过或改过的正文不删除、不整篇替换；要改就用引文修改，并保留作者的改动。",
        en="Prose that the author wrote or changed is neither deleted nor replaced as a whole; change it by "
        "quoting, and keep what the author changed.",
    ),
    Rule(
        error_type="pending_empty_file_unwritten",
        holds=lambda policy: True,  # noqa: ARG005 - a fact of the moment, under every policy
        forbids=_begins_another,
        for_model="Not run: {title!r} was created and is still blank. Write its text first, or fill it with "
        "edit_file, or delete it.",
    ),
)


def authorize(call: ToolCall, policy: TurnPolicy, world: World) -> Judgement:
    """Whether the call may run. The first rule that forbids any part of it decides about all of it."""
    parts = parts_of(call)
    for rule in RULES:
        if rule.holds(policy):
            for part in parts:
                if rule.forbids(part, policy, world):
                    return _denial(rule, part, policy, world)
    return Allow()


def _denial(rule: Rule, part: Part, policy: TurnPolicy, world: World) -> Denial:
    target = world.targets.get(part.ref or "")
    authored = target.authored if target is not None else ()
    paths = ", ".join(map(repr, authored)) if authored else repr(part.ref)
    return Denial(
        error_type=rule.error_type,
        for_model=rule.for_model.format(title=world.blocker_title, paths=paths),
        for_author=author_text(rule.error_type, policy.language),
    )


# What the model is told


_Line = tuple[Callable[[TurnPolicy], bool], str, str]
_FACTS: tuple[_Line, ...] = (
    (
        lambda policy: not policy.review and policy.write,
        "写完就直接结束，不需要送审。",
        "Finish when it is written; no review follows.",
    ),
    (
        lambda policy: policy.length.least is not None and policy.length.most is not None,
        "篇幅要求：{least} 到 {most} 字。",
        "Length: {least} to {most} words.",
    ),
    (
        lambda policy: policy.length.least is not None and policy.length.most is None,
        "篇幅要求：不少于 {least} 字。",
        "Length: at least {least} words.",
    ),
    (
        lambda policy: policy.length.least is None and policy.length.most is not None,
        "篇幅要求：不超过 {most} 字。",
        "Length: at most {most} words.",
    ),
    (
        lambda policy: policy.summary_owner is not None,
        "由 {owner} 向作者说明做了什么，其他角色不重复。",
        "{owner} tells the author what was done; the others do not repeat it.",
    ),
    (lambda policy: True, "用中文回复作者。", "Answer the author in English."),  # noqa: ARG005
)
_SCOPE = (
    "作者限定的范围（优先于其他一切）：{scope}",
    "The author's limits (above all else): {scope}",
)
_NOBODY = ("没有", "nobody")


def directive(policy: TurnPolicy) -> str:
    """The policy in words, one line for each rule or fact, in the policy's language."""
    rows = [(_SCOPE[0], _SCOPE[1])] if policy.scope.strip() else []
    rows += [(rule.zh, rule.en) for rule in RULES if rule.zh and rule.holds(policy)]
    rows += [(zh, en) for holds, zh, en in _FACTS if holds(policy)]
    at = 0 if policy.language == "zh" else 1
    values = {
        "scope": " ".join(policy.scope.split()),
        "targets": ", ".join(sorted(policy.handoff_targets or ())) or _NOBODY[at],
        "least": policy.length.least,
        "most": policy.length.most,
        "owner": policy.summary_owner,
    }
    return "\n".join(f"- {row[at].format_map(values)}" for row in rows)


def listed(tools: Iterable[Tool], policy: TurnPolicy) -> list[Tool]:
    """The tools as this round shows them: all of them, those that it cannot use marked as such."""
    return [
        replace(tool, description=NOT_THIS_ROUND + tool.description)
        if _is_barred(tool.name, policy)
        else tool
        for tool in tools
    ]


def _is_barred(tool: str, policy: TurnPolicy) -> bool:
    """Whether every call of this tool is forbidden, whatever it names."""
    part = Part(tool=tool)
    return any(rule.holds(policy) and rule.forbids(part, policy, World()) for rule in RULES)


# In the loop


def policy_hooks(policy: TurnPolicy, desk: Desk) -> Hooks:
    """Hooks that hold an agent to the policy, and tell the desk when the model is asked (TL-14). Raises
    `ValueError` for a desk whose tools may do what the policy forbids."""
    if desk.overwrite_author_text and not policy.overwrite_author_text:
        raise ValueError("the desk may overwrite an author's text, the policy may not")
    return Hooks(prepare=desk.seen.prepare, before_tool=_before_tool(policy, desk))


def _before_tool(
    policy: TurnPolicy, desk: Desk
) -> Callable[[ToolCall, BaseModel], Awaitable[Allow | Deny]]:
    async def before_tool(call: ToolCall, args: BaseModel) -> Allow | Deny:
        call = replace(call, arguments=args.model_dump(mode="json", exclude_none=True))
        # A call before this one in the same reply may write or delete the blank file: whether one still
        # waits is for the tool to say when it runs.
        world = replace(await look(desk, call), blocker=None)
        judgement = authorize(call, policy, world)
        if isinstance(judgement, Allow):
            return judgement
        return Deny(
            error_type="denied",
            text=envelope_text(judgement.error_type, judgement.for_model),
            details=refusal_details(judgement.error_type, policy.language),
        )

    return before_tool
