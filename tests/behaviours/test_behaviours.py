"""Every script of the corpus on every face; `python -m tests.behaviours` prints the same as a table."""

import pytest
from tests.behaviours.corpus import Case, load_cases
from tests.behaviours.faces import Face, check, faces_of
from tests.behaviours.twins import TEXT_DIALECTS, twin_of

_CASES = load_cases()
_ROWS = {f"FB{number:02}" for number in (*range(1, 17), *range(25, 31))}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("case", "face"),
    [
        pytest.param(case, face, id="-".join((case.id, *face.names)))
        for case in _CASES
        for face in faces_of(case)
    ],
)
async def test_is_right(case: Case, face: Face) -> None:
    wrong = await check(case, face)
    assert not any(wrong.values()), wrong


_TWINS = [
    twin for name in TEXT_DIALECTS for case in _CASES if (twin := twin_of(case, name)) is not None
]


# One dialect in which plain text is a thought and one in which it is the answer; the command runs all.
_SERVED = ("tagged", "plain_zh")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("twin", "face"),
    [
        pytest.param(twin, face, id="-".join((twin.id, twin.dialect, *face.names)))
        for twin in _TWINS
        for face in faces_of(twin)
        if "sse" not in face.names or twin.dialect in _SERVED
    ],
)
async def test_the_twin_in_a_text_dialect_is_right(twin: Case, face: Face) -> None:
    wrong = await check(twin, face)
    assert not any(wrong.values()), wrong


def test_every_row_has_scripts() -> None:
    assert {case.id[:4] for case in _CASES} == _ROWS
    assert len({case.id for case in _CASES}) == len(_CASES)
