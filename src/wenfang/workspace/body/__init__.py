"""Long texts that stream into files: two codecs, one sink, and when what arrived may be stored (design.md M7).

Pure and synchronous. A codec reads what a model streams and says what it means as events; `deliver` gives
the part that concerns files to a `BodySink`; `commit_decision` says whether an ended body becomes the
file's text.
"""

from .argument import ArgumentCapture
from .decision import Commit, Decision, Keep, KeepReason, beside_name, commit_decision
from .events import (
    ENDINGS,
    MAX_BODY_BYTES,
    BodyClosed,
    BodyOpened,
    BodyReason,
    BodyText,
    CaptureEvent,
    ChatText,
    Dropped,
    Ending,
    Interruption,
)
from .files import CaptureState, FileCapture
from .sink import BodySink, deliver

__all__ = [
    "ENDINGS",
    "MAX_BODY_BYTES",
    "ArgumentCapture",
    "BodyClosed",
    "BodyOpened",
    "BodyReason",
    "BodySink",
    "BodyText",
    "CaptureEvent",
    "CaptureState",
    "ChatText",
    "Commit",
    "Decision",
    "Dropped",
    "Ending",
    "FileCapture",
    "Interruption",
    "Keep",
    "KeepReason",
    "beside_name",
    "commit_decision",
    "deliver",
]
