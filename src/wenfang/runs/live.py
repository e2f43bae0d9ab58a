"""A message that is being written, as its viewers were told of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from wenfang.core import utf16_len

from .codec import encode, wrap
from .facts import BlockDelta
from .records import Frame


@dataclass(slots=True)
class Live:
    """A message that is being written: its blocks as far as readers were told of them. One that another
    process writes `is_heard`, and `ends` has how long its blocks are, in UTF-16 code units."""

    run_id: str
    session_id: str
    is_heard: bool = False
    ends: dict[int, int] = field(default_factory=dict[int, int])
    blocks: dict[int, tuple[BlockDelta, list[str]]] = field(
        default_factory=dict[int, tuple[BlockDelta, list[str]]]
    )

    def add(self, delta: BlockDelta) -> None:
        known = self.blocks.get(delta.index)
        if known is None:
            known = self.blocks[delta.index] = (delta, [])
        known[1].append(delta.text)

    def follow(self, delta: BlockDelta) -> bool:
        """Add a piece that was heard; False if it does not go on exactly where its block ends."""
        known = self.blocks.get(delta.index)
        first = known[0] if known else delta
        is_same = (delta.message_id, delta.attempt) == (first.message_id, first.attempt)
        if not is_same or delta.off != self.ends.get(delta.index, 0):
            return False
        self.add(delta)
        self.ends[delta.index] = delta.off + utf16_len(delta.text)
        return True

    def whole(self) -> list[BlockDelta]:
        """The message so far, as deltas with `off` 0."""
        return [replace(d, off=0, text="".join(texts)) for d, texts in self.blocks.values()]

    def frames(self) -> list[Frame]:
        """`whole` as frames."""
        return [delta_frame(self.run_id, self.session_id, delta) for delta in self.whole()]


def delta_frame(run_id: str, session_id: str, delta: BlockDelta) -> Frame:
    """The frame of a piece."""
    data = wrap(encode(delta), seq=0, ts=delta.ts, run_id=run_id, session_id=session_id)
    return Frame(None, data, run_id, delta.type)
