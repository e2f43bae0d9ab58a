"""FB30: a sample of model replies in all dialects; each comes to the same run as its native twin, on all faces.
`python -m tests.behaviours --corpus FOLDER` does the same with any corpus."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from tests.behaviours.faces import FACES, Face
from tests.behaviours.replies import Pair, compare, load_pairs

from wenfang.testing import Reply, Script

PAIRS = load_pairs(Path(__file__).parent / "replies_sample")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("pair", "face"),
    [
        pytest.param(pair, face, id="-".join(("FB30", pair.id, pair.about, *face.names)))
        for pair in PAIRS
        for face in FACES
    ],
)
async def test_comes_to_the_same_run(pair: Pair, face: Face) -> None:
    differences = await compare(pair, face)
    assert not any(differences.values()), differences


def _altered(pair: Pair, **change: object) -> Pair:
    """The pair with another native reply first."""
    first, *rest = pair.native.script.replies
    replies = (msgspec.structs.replace(first, **change), *rest)
    script = Script(name=pair.id, replies=replies)
    return replace(pair, native=replace(pair.native, script=script))


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("symptom", "change", "what"),
    [
        ("invented_observation", {"tools": []}, "run"),
        ("alias_of_an_argument", {"tools": "other arguments"}, "blocks"),
        ("two_calls", {"tools": "one call"}, "blocks"),
        ("closed_answer_at_the_limit", {"text": "It is closed."}, "run"),
        ("closed_answer_at_the_limit", {"finish": "length"}, "run"),
        ("thought_only", {"tools": [], "text": "So."}, "run"),
    ],
)
async def test_a_difference_is_seen(symptom: str, change: dict[str, object], what: str) -> None:
    (pair,) = (pair for pair in PAIRS if pair.about.endswith(symptom))
    tools = pair.native.script.replies[0].tools
    if change.get("tools") == "other arguments":
        change = {"tools": [msgspec.structs.replace(tools[0], args={"title": "Other"})]}
    elif change.get("tools") == "one call":
        change = {"tools": tools[:1]}
    assert isinstance(pair.native.script.replies[0], Reply)
    found = (await compare(_altered(pair, **change), FACES[0]))["direct"]
    assert any(each.startswith(f"{what}:") for each in found), found


def test_every_reply_is_of_its_own() -> None:
    assert len({pair.id for pair in PAIRS}) == len(PAIRS)
