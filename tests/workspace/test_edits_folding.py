"""The way back from a folded text to its original, on which every inexact edit stands (TL-9)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.workspace.edits.folding import BARE, CASELESS, LOOK, QUOTES, Folded, Form

FORMS = {"quotes": QUOTES, "look": LOOK, "bare": BARE, "caseless": CASELESS}
# Characters that grow, shrink, combine or vanish in one form or another.
ALPHABET = (
    "abAB \t\r\n“”\"'’「」，。！…—-\u00a0\u3000é\u0301\u3099ﾞｶか가\u1100\u1161\u11a8"
    "ﬁ：９9长\ufeff\ue000\U0001f600ßİŉ\u2033㌀"
)
texts = st.text(ALPHABET, max_size=25)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(text=texts, start=st.integers(0, 40), length=st.integers(1, 40))
def test_what_a_place_leads_back_to_folds_to_the_same(
    form: Form, text: str, start: int, length: int
) -> None:
    folded = Folded(text, form)
    end = min(start + length, len(folded.text))
    if start >= end:
        return
    begins, ends = folded.start_of(start), folded.end_of(end)
    if begins is not None and ends is not None:
        assert begins < ends
        assert form.fold(text[begins:ends]) == folded.text[start:end]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(text=texts, letter=st.sampled_from("长a가か\n"), times=st.integers(200, 300))
def test_blocks_fold_to_the_same_as_the_whole(
    form: Form, text: str, letter: str, times: int
) -> None:
    long = f"{text}{letter}" * times
    assert Folded(long, form).text == form.fold(long)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_ordinary_letters_all_have_places(form: Form) -> None:
    text = "老人Walked on.\r\n他说：“好！”\n" * 200
    folded = Folded(text, form)
    letters = [at for at, char in enumerate(folded.text) if char.isalpha()]
    assert len(letters) == sum(char.isalpha() for char in text)
    for at in letters:
        start, end = folded.start_of(at), folded.end_of(at + 1)
        assert start is not None
        assert end == start + 1
        assert form.fold(text[start]) == folded.text[at]
