"""FB29: the data of events, however the bytes are cut."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wenfang.models.sse import EventSplitter, EventTooLarge

_TABLE = [
    pytest.param(b"data: a\n\ndata: b\n\n", [b"a", b"b"], id="two-in-one-write"),
    pytest.param(b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"], id="crlf"),
    pytest.param(b"data: a\r\rdata: b\r\r", [b"a", b"b"], id="cr"),
    pytest.param(b"data: a\r\n\ndata: b\n\r\n", [b"a", b"b"], id="mixed-ends"),
    pytest.param(b"data:a\n\ndata:  b\n\n", [b"a", b" b"], id="one-space-is-cut"),
    pytest.param(b": x\n\n:\ndata: a\n\n", [b"", b"a"], id="comments"),
    pytest.param(b"id: 1\nevent: e\nretry: 3\ndata: a\n\n", [b"a"], id="other-fields"),
    pytest.param(b"data: a\ndata: b\n\n", [b"a\nb"], id="several-lines"),
    pytest.param(b"\n\n\n\ndata: a\n\n\n\n", [b"", b"", b"a", b""], id="empty-lines"),
    pytest.param(b"\xef\xbb\xbfdata: a\n\n", [b"a"], id="bom"),
    pytest.param("data: a\u2028b\x85\u0085\x0b\n\n".encode(), ["a\u2028b\x85\u0085\x0b".encode()], id="unicode"),
    pytest.param(b"data\n\ndatax: y\n\n", [b"", b""], id="no-colon-or-other-name"),
]  # fmt: skip


@pytest.mark.parametrize(("stream", "events"), _TABLE)
def test_whole(stream: bytes, events: list[bytes]) -> None:
    splitter = EventSplitter()
    assert [e for e in splitter.feed(stream) if e] == [e for e in events if e]
    assert splitter.close() == ()


@pytest.mark.parametrize(("stream", "events"), _TABLE)
def test_byte_by_byte(stream: bytes, events: list[bytes]) -> None:
    splitter = EventSplitter()
    found = [e for at in range(len(stream)) for e in splitter.feed(stream[at : at + 1])]
    assert [e for e in found if e] == [e for e in events if e]


_LINES = st.lists(
    st.sampled_from(
        [b"data: a", b"data:", b"data: \xe6\x96\x87", b": c", b"", b"", b"id: 7", b"x"]
    ),
    max_size=12,
)
_ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(_LINES, _ENDS, st.lists(st.integers(0, 120), max_size=12))
def test_any_cut_gives_the_same_events(lines: list[bytes], end: bytes, cuts: list[int]) -> None:
    stream = b"".join(line + end for line in lines)
    whole = EventSplitter()
    expected = [e for e in whole.feed(stream) if e]
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    parts = EventSplitter()
    found = [
        event
        for start, stop in itertools.pairwise(places)
        for event in parts.feed(stream[start:stop])
    ]
    assert [e for e in found if e] == expected
    assert parts.close() == whole.close()


@pytest.mark.parametrize(
    ("rest", "events"),
    [
        (b"data: [DONE]", (b"[DONE]",)),
        (b'data: {"a":1}\n', (b'{"a":1}',)),
        (b'data: {"a":1', ()),
        (b"data: " + b"[" * 100_000, ()),
        (b": comment\n", ()),
        (b"", ()),
    ],
)
def test_close_gives_a_last_event_without_its_empty_line(rest: bytes, events: object) -> None:
    splitter = EventSplitter()
    splitter.feed(b"data: a\n\n" + rest)
    assert splitter.close() == events


def test_a_huge_event_is_refused() -> None:
    splitter = EventSplitter(limit_bytes=100)
    splitter.feed(b"data: " + b"x" * 90)
    with pytest.raises(EventTooLarge):
        splitter.feed(b"x" * 90)
