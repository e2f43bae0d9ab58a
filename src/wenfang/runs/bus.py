"""What the processes of one database tell each other at once (durable.md §3, §6, S3).

Lossy by contract: a message may be lost, doubled or late. Facts, words for a run and the wish to stop it
are in the database, and whoever missed a message finds them there at the next look; the text of a running
message is said again by the fact that finishes it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, TypeAlias

import msgspec

from wenfang.core import utf16_len

from .facts import BlockDelta

_PIECE_CHARS = 1000  # of six bytes each at most, as JSON writes them


class Grown(msgspec.Struct, frozen=True, array_like=True, tag="grown"):
    """The project's journal goes up to fact number `seq`."""

    project_id: str
    seq: int


class Shown(msgspec.Struct, frozen=True, array_like=True, tag="shown"):
    """Viewers were shown a piece of a message. `first`: what was shown of this run before is not part of
    its message."""

    project_id: str
    session_id: str
    run_id: str
    first: bool
    delta: BlockDelta


class Told(msgspec.Struct, frozen=True, array_like=True, tag="told"):
    """Viewers were told what a tool does; `data` is the frame."""

    project_id: str
    run_id: str
    kind: str
    data: str


class Over(msgspec.Struct, frozen=True, array_like=True, tag="over"):
    """No message of this run is being written."""

    project_id: str
    run_id: str


class Asked(msgspec.Struct, frozen=True, array_like=True, tag="asked"):
    """Someone reads the project and needs what is being written from its beginning."""

    project_id: str


class Poked(msgspec.Struct, frozen=True, array_like=True, tag="poked"):
    """There are signals for a run."""

    run_id: str


Heard: TypeAlias = Grown | Shown | Told | Over | Asked
"""What is about a project, for those who show it."""

Message: TypeAlias = Heard | Poked


class Bus(Protocol):
    """A way to the other processes."""

    def say(self, message: Message) -> None:
        """Tell all others, soon, in this order; nobody hears what they say themselves. Never fails."""
        ...


def pieces(delta: BlockDelta) -> list[BlockDelta]:
    """A delta as several that follow each other, none of them long."""
    text, off = delta.text, delta.off
    found: list[BlockDelta] = []
    for at in range(0, max(1, len(text)), _PIECE_CHARS):
        piece = text[at : at + _PIECE_CHARS]
        found.append(replace(delta, off=off, text=piece))
        off += utf16_len(piece)
    return found


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(tuple[str, list[Message]])


def encode_message(message: Message) -> bytes:
    return _encoder.encode(message)


def decode_payload(payload: str) -> tuple[str, list[Message]]:
    """Who said it, and what. Raises `msgspec.DecodeError` for what is none of ours."""
    return _decoder.decode(payload)
