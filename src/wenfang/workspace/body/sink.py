"""Where bodies go. One concept for both codecs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .events import BodyClosed, BodyOpened, BodyReason, BodyText, CaptureEvent


class BodySink(Protocol):
    """Takes one body at a time: `open`, any number of `write`, one `close`."""

    def open(self, file_id: str) -> None: ...

    def write(self, text: str) -> None: ...

    def close(self, complete: bool, reason: BodyReason) -> None:
        """`reason` says the rest: what was cut off, and what is void (`ENDINGS`)."""
        ...


def deliver(events: Iterable[CaptureEvent], sink: BodySink) -> None:
    """Give the bodies among `events` to `sink`."""
    for event in events:
        if isinstance(event, BodyText):
            sink.write(event.text)
        elif isinstance(event, BodyOpened):
            sink.open(event.file_id)
        elif isinstance(event, BodyClosed):
            sink.close(event.ending == "complete", event.reason)
