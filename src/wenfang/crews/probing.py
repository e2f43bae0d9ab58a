"""Which dialect works best for a model: every probe in every dialect, through the real loop.

Nothing here reads wording: a trial is scored by the calls that reached tools and by the answer. What a
failed request means is found out by greeting the model again: if it answers, the dialect is at fault, else
the model is gone and nothing is decided.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeAlias

from wenfang.core import (
    DIALECTS,
    JSON,
    Agent,
    Assistant,
    DialectName,
    ErrorKind,
    Limits,
    Message,
    ModelClient,
    ModelEvent,
    ModelRequest,
    RunEnd,
    Toolbox,
    ToolResult,
    new_id,
    tagged,
)
from wenfang.problems import Language

from .probe import Answer, greet
from .trials import INSTRUCTIONS, PROBES, Facts, Flaw, Probe, ProbeName, judge, make_tools

# These say that the provider wants no more of us, whatever a request looks like.
_PROVIDER: frozenset[ErrorKind] = frozenset({"auth", "quota", "rate"})
_MISREAD = frozenset({"malformed", "unknown_tool", "invalid_arguments", "truncated"})
_LASTING: frozenset[Flaw | None] = frozenset({"refused", "too_slow"})
_ENOUGH = 2  # so many lasting flaws say that the next probe would show the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one probe may take: seconds, tokens of a reply, requests."""

    seconds: float = 90.0
    reply_tokens: int = 2048
    requests: int = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Trying:
    """A probe begins: number `number` (from 1) of the `total` that there would be if none were left out."""

    dialect: DialectName
    probe: ProbeName
    number: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One probe in one dialect. `flaw` None means right. `repairs` counts calls that were mended or had
    to be written again. `tokens` are of all its requests, in and out. `said` are the provider's words
    if it refused."""

    dialect: DialectName
    probe: ProbeName
    flaw: Flaw | None
    repairs: int
    tokens: int
    seconds: float
    said: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What one dialect came to. `tried` is less than `total` if it was left early. `calls_right` of the
    right ones need a tool. `flaw` is the most frequent one."""

    dialect: DialectName
    right: int
    calls_right: int
    tried: int
    total: int
    repairs: int
    tokens: int
    seconds: float
    flaw: Flaw | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How a search ended: a score for each dialect that was tried, in that order. `best` is None if none
    of them brings a call to a tool. `gone` says why the model stopped answering: then nothing is known."""

    scores: tuple[Score, ...] = ()
    best: Score | None = None
    gone: Answer | None = None


Watch: TypeAlias = Callable[[Trying | Trial], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lab:
    client: ModelClient
    language: Language
    bounds: Bounds
    watch: Watch
    clock: Callable[[], float]


async def find_dialect(
    client: ModelClient,
    *,
    dialects: Sequence[DialectName] = tuple(DIALECTS),
    usual: DialectName = "native",
    language: Language = "en",
    bounds: Bounds | None = None,
    is_thorough: bool = False,
    watch: Watch = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
) -> Search:
    """Try `dialects` one after another; the best is that of `choose`. Unless `is_thorough`, a dialect
    that cannot win any more is left, and a flawless native ends the search. `usual` is preferred in a
    tie. `watch` hears of every probe before and after. Raises nothing but cancellation."""
    bounds = bounds or Bounds()
    lab = _Lab(client=client, language=language, bounds=bounds, watch=watch, clock=clock)
    hello = await greet(client, timeout_s=bounds.seconds)
    if not hello.ok:
        return Search(gone=hello)
    scores: list[Score] = []
    best: Score | None = None
    total = len(dialects) * len(PROBES)
    for at, name in enumerate(dialects):
        to_beat = None if is_thorough else best
        trials = await _try_all(lab, name, to_beat, at * len(PROBES), total)
        if isinstance(trials, Answer):
            return Search(scores=tuple(scores), gone=trials)
        scores.append(_score(name, trials))
        best = choose(scores, usual=usual)
        if not is_thorough and best is not None and _is_flawless_native(best):
            break
    return Search(scores=tuple(scores), best=best)


def choose(scores: Sequence[Score], *, usual: DialectName = "native") -> Score | None:
    """The best: most right, then fewest repairs, then native, then `usual`, then fewest tokens. None if
    none of them brings a call to a tool."""
    return min(
        (score for score in scores if score.calls_right),
        key=lambda s: (-s.right, s.repairs, s.dialect != "native", s.dialect != usual, s.tokens),
        default=None,
    )


def _is_flawless_native(best: Score) -> bool:
    return best.dialect == "native" and best.right == best.total and not best.repairs


async def _try_all(
    lab: _Lab, name: DialectName, to_beat: Score | None, before: int, total: int
) -> Sequence[Trial] | Answer:
    trials: list[Trial] = []
    for probe in PROBES:
        if _is_decided(trials, to_beat):
            break
        number = before + len(trials) + 1
        lab.watch(Trying(dialect=name, probe=probe.name, number=number, total=total))
        trial = await _try(lab, name, probe)
        if isinstance(trial, Answer):
            return trial
        trials.append(trial)
        lab.watch(trial)
    return trials


def _is_decided(trials: Sequence[Trial], to_beat: Score | None) -> bool:
    """Whether more probes would tell nothing new."""
    if sum(trial.flaw in _LASTING for trial in trials) >= _ENOUGH:
        return True
    wrong = sum(trial.flaw is not None for trial in trials)
    return to_beat is not None and len(PROBES) - wrong < to_beat.right


async def _try(lab: _Lab, name: DialectName, probe: Probe) -> Trial | Answer:
    """One probe. An `Answer` says why the model is gone."""
    bounds = lab.bounds
    reached: list[tuple[str, Mapping[str, JSON]]] = []
    agent = Agent(
        _Capped(lab.client, bounds.reply_tokens),
        make_tools(lambda tool, given: reached.append((tool, given))),
        instructions=INSTRUCTIONS,
        dialect=DIALECTS[name],
        limits=Limits(model_calls=bounds.requests, first_s=bounds.seconds, idle_s=bounds.seconds),
    )
    alarm = asyncio.get_running_loop().call_later(bounds.seconds, agent.abort)
    began = lab.clock()
    try:
        end = await agent.run(probe.prompt(lab.language))
    finally:
        alarm.cancel()
    seconds = lab.clock() - began
    is_late = end.status == "stopped"
    if end.failure is not None or is_late:
        gone = await _why_gone(lab, end)
        if gone is not None:
            return gone
    replies = [m for m in agent.transcript if isinstance(m, Assistant)]
    unreadable = _count_misread(agent.transcript)
    facts = Facts(
        reached=reached,
        answer=end.answer,
        reason=end.reason,
        is_failed=end.failure is not None,
        is_late=is_late,
        unreadable=unreadable,
        leaked=_count_leaked(replies, agent.tools) if name == "native" else 0,
    )
    mended = sum(bool(call.repaired) for reply in replies for call in reply.calls)
    return Trial(
        dialect=name,
        probe=probe.name,
        flaw=judge(probe, facts),
        repairs=unreadable + mended,
        tokens=end.usage.input + end.usage.output,
        seconds=seconds,
        said=end.failure.message if end.failure is not None else "",
    )


async def _why_gone(lab: _Lab, end: RunEnd) -> Answer | None:
    failure = end.failure
    if failure is not None and failure.kind in _PROVIDER:
        return Answer(ok=False, code=failure.kind, message=failure.message, latency_ms=0)
    hello = await greet(lab.client, timeout_s=lab.bounds.seconds)
    return None if hello.ok else hello


def _count_misread(transcript: Sequence[Message]) -> int:
    return sum(isinstance(m, ToolResult) and m.error_type in _MISREAD for m in transcript)


def _count_leaked(replies: Sequence[Assistant], tools: Toolbox) -> int:
    """Calls that stand in the text of native replies: a text dialect reads the formats that models were
    trained on."""
    reader = tagged.open(tools.specs, lambda: new_id("call"))
    texts = [reply for reply in replies if reply.text and not reply.calls]
    read = [reader.decoder().close(reply) for reply in texts]
    return sum(call.error is None for reply in read for call in reply.calls)


def _score(name: DialectName, trials: Sequence[Trial]) -> Score:
    calling = {probe.name for probe in PROBES if probe.calls}
    right = [trial for trial in trials if trial.flaw is None]
    flaws = Counter[Flaw](trial.flaw for trial in trials if trial.flaw is not None)
    return Score(
        dialect=name,
        right=len(right),
        calls_right=sum(trial.probe in calling for trial in right),
        tried=len(trials),
        total=len(PROBES),
        repairs=sum(trial.repairs for trial in trials),
        tokens=sum(trial.tokens for trial in trials),
        seconds=sum(trial.seconds for trial in trials),
        flaw=flaws.most_common(1)[0][0] if flaws else None,
    )


@dataclass(frozen=True, slots=True)
class _Capped:
    """A model whose replies are no longer than so many tokens."""

    inner: ModelClient
    tokens: int

    @property
    def name(self) -> str:
        return self.inner.name

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        capped = replace(request, max_tokens=self.tokens)
        async with aclosing(self.inner.stream(capped)) as events:
            async for event in events:
                yield event
