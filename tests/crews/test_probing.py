"""Which dialect probes find for which model, through a real client and a server; and what is kept of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.crews.provider import Ability, Provider

from wenfang.core import DialectName
from wenfang.crews import (
    PROBES,
    Bounds,
    Facts,
    Flaw,
    Found,
    FoundDialects,
    Score,
    Search,
    Subject,
    Trial,
    Trying,
    choose,
    find_dialect,
    judge,
)
from wenfang.models import ChatClient
from wenfang.problems import Problem
from wenfang.testing import RecordedRequest, Reply

pytestmark = pytest.mark.anyio

FAST = Bounds(seconds=20)


async def _search(provider: Provider, **options: Any) -> Search:
    async with provider:
        client = ChatClient(base_url=provider.url, model="scripted")
        return await find_dialect(client, bounds=options.pop("bounds", FAST), **options)


def _flaws(search: Search) -> dict[str, Flaw | None]:
    return {score.dialect: score.flaw for score in search.scores}


ROWS: list[tuple[str, Mapping[str, Ability], str | None, dict[str, Flaw | None]]] = [
    ("native works", {"native": "good"}, "native", {"native": None}),
    ("tools are rejected", {"native": "rejects", "schema": "good"}, "schema", {"native": "refused"}),
    ("tools crash the server", {"native": "breaks", "tagged": "good"}, "tagged", {"native": "refused"}),
    ("calls leak as text", {"native": "leaks", "tagged": "leaks"}, "lenient", {"native": "leaked"}),
    ("only tags", {"tagged": "good"}, "tagged", {"native": "no_call", "schema": "unreadable"}),
    ("only plain words", {"plain_zh": "good"}, "plain_zh", {"tagged": "unreadable"}),
    ("nothing", {}, None, {"native": "no_call", "tagged": "unreadable"}),
    ("a clumsy native", {"native": "clumsy"}, "native", {"native": None}),
    ("a flawless one beats a clumsy native", {"native": "clumsy", "schema": "good"}, "schema", {}),
]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("abilities", "best", "flaws"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
async def test_the_best_dialect(
    abilities: Mapping[str, Ability],
    best: str | None,
    flaws: dict[str, Flaw | None],
    language: Any,
) -> None:
    search = await _search(Provider(abilities), language=language)
    assert search.gone is None
    assert (search.best and search.best.dialect) == best
    assert {name: _flaws(search)[name] for name in flaws} == flaws
    if best is not None:
        assert search.best is not None
        assert (search.best.right, search.best.tried) == (len(PROBES), len(PROBES))
        assert search.best.tokens > 0


async def test_a_flawless_native_ends_the_search_unless_it_is_thorough() -> None:
    provider = Provider({"native": "good", "tagged": "good"})
    await _search(provider)
    assert provider.dialects == ["native"]
    provider = Provider({"native": "good", "tagged": "good"})
    search = await _search(provider, dialects=("native", "tagged"), is_thorough=True)
    assert provider.dialects == ["native", "tagged"]
    assert [score.right for score in search.scores] == [5, 5]


async def test_a_dialect_that_cannot_win_is_left() -> None:
    search = await _search(Provider({"schema": "good"}), dialects=("schema", "tagged"))
    assert [(s.dialect, s.right, s.tried) for s in search.scores] == [
        ("schema", 5, 5),
        ("tagged", 0, 1),
    ]


async def test_every_probe_is_told_of_before_and_after() -> None:
    seen: list[Trying | Trial] = []
    await _search(Provider({"native": "good"}), watch=seen.append, dialects=("native", "schema"))
    assert [type(step) for step in seen] == [Trying, Trial] * len(PROBES)
    assert [(s.number, s.total) for s in seen if isinstance(s, Trying)] == [
        (at, 2 * len(PROBES)) for at in range(1, len(PROBES) + 1)
    ]
    assert [s.probe for s in seen if isinstance(s, Trial)] == [probe.name for probe in PROBES]


async def test_a_refusal_keeps_the_words_of_the_provider() -> None:
    seen: list[Trying | Trial] = []
    provider = Provider({"native": "rejects"})
    await _search(provider, watch=seen.append, dialects=("native",))
    said = [step.said for step in seen if isinstance(step, Trial)]
    assert len(said) == 2  # two refusals are enough
    assert "tools are not supported" in said[0]


GONE: list[tuple[int, Reply, str]] = [
    (1, Reply(http=401, body={"error": {"message": "no"}}), "auth"),
    (1, Reply(http=404, body={"error": {"message": "no such model"}}), "fatal"),
    (4, Reply(http=402, body={"error": {"message": "no quota"}}), "quota"),
    (4, Reply(http=429, body={"error": {"message": "slow down"}}), "rate"),
    (4, Reply(http=503, body={"error": {"message": "gone"}}), "overload"),
    (4, Reply(text="x", end="reset"), "stream_incomplete"),
]


@pytest.mark.parametrize(("first", "reply", "code"), GONE, ids=lambda value: str(value)[:10])
async def test_a_model_that_goes_away_decides_nothing(first: int, reply: Reply, code: str) -> None:
    def answer(number: int, request: RecordedRequest) -> Reply | None:
        del request
        return reply if number >= first else None

    search = await _search(Provider({"native": "good"}, answer_of=answer))
    assert search.best is None
    assert search.gone is not None
    assert search.gone.code == code


async def test_a_server_that_dies_decides_nothing() -> None:
    provider = Provider({"native": "good"})
    async with provider:
        client = ChatClient(base_url=provider.url, model="scripted")

        def die(step: Trying | Trial) -> None:
            if isinstance(step, Trial):
                provider._server.close()
                for connection in tuple(provider._open):
                    connection.close()

        search = await find_dialect(client, bounds=FAST, watch=die)
    assert search.best is None
    assert search.gone is not None
    assert search.gone.code == "network"


async def test_a_slow_dialect_is_bounded_and_left() -> None:
    def answer(number: int, request: RecordedRequest) -> Reply | None:
        del number
        return Reply(text="x", latency_ms=60_000) if "tools" in request.body else None

    provider = Provider({"tagged": "good"}, answer_of=answer)
    bounds = Bounds(seconds=0.3)
    search = await _search(provider, bounds=bounds, dialects=("native", "tagged"))
    assert _flaws(search) == {"native": "too_slow", "tagged": None}
    assert search.scores[0].tried == 2
    assert search.best is not None
    assert search.best.dialect == "tagged"


async def test_a_model_that_is_slow_in_everything_is_gone() -> None:
    provider = Provider(answer_of=lambda _number, _request: Reply(text="x", latency_ms=60_000))
    search = await _search(provider, bounds=Bounds(seconds=0.2))
    assert search.gone is not None
    assert search.gone.code == "timeout"


async def test_replies_are_bounded() -> None:
    provider = Provider({"native": "good"})
    await _search(provider, bounds=Bounds(reply_tokens=77))
    asked = {request.body.get("max_tokens") for request in provider.requests[1:]}
    assert asked == {77}


# Judging

RESULT = PROBES[2]
CALLED = RESULT.calls
JUDGED: list[tuple[str, Facts, Flaw | None]] = [
    ("right", Facts(reached=CALLED, answer="7315 pieces", reason="completed"), None),
    ("right after a repair", Facts(reached=CALLED, answer="7315", reason="completed", unreadable=1), None),
    ("twice the same call", Facts(reached=[*CALLED, *CALLED], answer="7315", reason="completed"), None),
    ("late", Facts(reached=CALLED, answer="7315", reason="completed", is_late=True), "too_slow"),
    ("failed", Facts(reached=CALLED, answer="", reason="provider_error", is_failed=True), "refused"),
    ("leaked", Facts(reached=(), answer="<tool_call>", reason="completed", leaked=1), "leaked"),
    ("guessed", Facts(reached=(), answer="7315", reason="completed"), "no_call"),
    ("unreadable", Facts(reached=(), answer="x", reason="invalid_model_output", unreadable=2), "unreadable"),
    ("other arguments", Facts(reached=[("count_stock", {"item": "a17"})], answer="7315", reason="completed"), "wrong_call"),
    ("a needless call", Facts(reached=[*CALLED, ("find_supplier", {"item": "A17"})], answer="7315", reason="completed"), "wrong_call"),
    ("an answer without the result", Facts(reached=CALLED, answer="many", reason="completed"), "wrong_answer"),
    ("cut off", Facts(reached=CALLED, answer="7315", reason="output_truncated"), "wrong_answer"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "flaw"), [row[1:] for row in JUDGED], ids=[row[0] for row in JUDGED]
)
def test_judge(facts: Facts, flaw: Flaw | None) -> None:
    assert judge(RESULT, facts) == flaw


def test_blanks_around_a_text_are_no_difference() -> None:
    probe = PROBES[1]
    ((name, given),) = probe.calls
    reached = [(name, {"text": f"\n{given['text']} "})]
    assert judge(probe, Facts(reached=reached, answer="", reason="completed")) is None


# Choosing


def _score(dialect: DialectName, right: int, repairs: int = 0, tokens: int = 100) -> Score:
    return Score(
        dialect=dialect, right=right, calls_right=max(0, right - 1), tried=5, total=5,
        repairs=repairs, tokens=tokens, seconds=1.0, flaw=None if right == 5 else "no_call",
    )  # fmt: skip


CHOICES: list[tuple[str, Sequence[Score], str | None]] = [
    ("most right", [_score("native", 3), _score("tagged", 4, repairs=3)], "tagged"),
    ("then fewest repairs", [_score("native", 4, repairs=1), _score("tagged", 4)], "tagged"),
    ("then native", [_score("tagged", 5, tokens=1), _score("native", 5)], "native"),
    ("then the usual one", [_score("tagged", 5, tokens=1), _score("schema", 5)], "schema"),
    ("then fewest tokens", [_score("tagged", 5), _score("classic", 5, tokens=9)], "classic"),
    ("only the answer without a tool", [_score("native", 1)], None),
    ("nothing tried", [], None),
]


@pytest.mark.parametrize(
    ("scores", "best"), [row[1:] for row in CHOICES], ids=[row[0] for row in CHOICES]
)
def test_choose(scores: Sequence[Score], best: str | None) -> None:
    chosen = choose(scores, usual="schema")
    assert (chosen and chosen.dialect) == best


# Keeping

HERE = Subject(provider="openai", base_url="http://h/v1", model="m")
THERE = Subject(provider="openai", base_url="http://other/v1", model="m")


def _ended(dialect: DialectName) -> Search:
    score = _score(dialect, 5)
    return Search(scores=(score,), best=score)


def test_a_row_is_kept_per_model(tmp_path: Path) -> None:
    found = FoundDialects(tmp_path, now=lambda: 12.5)
    assert found.get(HERE) is None
    found.put(HERE, _ended("tagged"))
    found.put(THERE, _ended("classic"))
    found.put(HERE, _ended("markdown"))
    again = FoundDialects(tmp_path)
    assert again.get(HERE) == Found(
        subject=HERE, at=12.5, best=_score("markdown", 5), scores=(_score("markdown", 5),)
    )
    there = again.get(THERE)
    assert there is not None
    assert there.dialect == "classic"
    assert [file.name for file in tmp_path.iterdir()] == ["dialects.json"]
    assert found.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"{", b"[]x", b'[{"dialect": "none"}]', b"\xff"])
def test_a_broken_file_is_said(tmp_path: Path, content: bytes) -> None:
    found = FoundDialects(tmp_path)
    found.file.write_bytes(content)
    for use in (lambda: found.get(HERE), lambda: found.put(HERE, _ended("tagged"))):
        with pytest.raises(Problem) as caught:
            use()
        assert caught.value.code == "settings_invalid"
        assert str(found.file) in caught.value.text()
    assert found.file.read_bytes() == content
