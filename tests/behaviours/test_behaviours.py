"""Every script of the corpus on every face; `python -m tests.behaviours` prints the same as a table."""

import pytest
from tests.behaviours.corpus import Case, load_cases
from tests.behaviours.faces import Face, check, faces_of

_CASES = load_cases()
_ROWS = {f"FB{number:02}" for number in (*range(1, 17), *range(25, 30))}


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


def test_every_row_has_scripts() -> None:
    assert {case.id[:4] for case in _CASES} == _ROWS
    assert len({case.id for case in _CASES}) == len(_CASES)
