"""Reasoning in the text, with tags that may be cut anywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.models.thinking import ThinkTags


def split(pieces: list[str]) -> dict[str, str]:
    tags = ThinkTags()
    found = {"thinking": "", "text": ""}
    for piece in pieces:
        for kind, text in tags.feed(piece):
            found[kind] += text
    for kind, text in tags.close():
        found[kind] += text
    return found


_TABLE = [
    ("<think>\nhm\n</think>\n\nyes", "hm", "yes"),
    ("  <think>hm</think>yes <think>no</think>", "hm", "yes <think>no</think>"),
    ("plain <think>x</think>", "", "plain <think>x</think>"),
    ("<think></think>yes", "", "yes"),
    ("<think>unfinished </thi", "unfinished </thi", ""),
    ("<thi", "", "<thi"),
    ("\n\n", "", "\n\n"),
    ("<think>a </b> c</think>d", "a </b> c", "d"),
    ("<think>a\n\nb\n</think>\nc\n", "a\n\nb", "c\n"),
    ("< think>no", "", "< think>no"),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "thinking", "said"), _TABLE)
def test_table(text: str, thinking: str, said: str) -> None:
    assert split([text]) == {"thinking": thinking, "text": said}
    assert split(list(text)) == {"thinking": thinking, "text": said}


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", "/", "\n", " ", "a", "think>", "<thi"]))
)
def test_cutting_changes_nothing(parts: list[str]) -> None:
    text = "".join(parts)
    assert split(parts) == split([text]) == split(list(text))
