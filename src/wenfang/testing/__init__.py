"""For tests of agents and tools, yours and ours: models that answer from a script.

`ScriptedModel` answers in process; `ScriptedServer` (on the command line `wenfang-scripted`) is a real
HTTP server that can also break in every way a provider can. `ChaosModel` and `broken` fail at a point one
chooses.
"""

from .chaos import FAULT_KINDS, FAULT_POINTS, ChaosModel, Fault, FaultKind, FaultPoint, broken
from .model import ScriptedModel
from .script import (
    RawItem,
    Reply,
    Script,
    ScriptError,
    ToolUse,
    call,
    load_script,
    parse_script,
    say,
)
from .server import RecordedRequest, ScriptedServer

__all__ = [
    "FAULT_KINDS",
    "FAULT_POINTS",
    "ChaosModel",
    "Fault",
    "FaultKind",
    "FaultPoint",
    "RawItem",
    "RecordedRequest",
    "Reply",
    "Script",
    "ScriptError",
    "ScriptedModel",
    "ScriptedServer",
    "ToolUse",
    "broken",
    "call",
    "load_script",
    "parse_script",
    "say",
]
