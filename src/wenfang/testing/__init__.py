"""For tests of agents and tools, yours and ours: models that answer from a script.

`ScriptedModel` answers in process; `ScriptedServer` (on the command line `wenfang-scripted`) is a real
HTTP server that can also break in every way a provider can.
"""

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
    "RawItem",
    "RecordedRequest",
    "Reply",
    "Script",
    "ScriptError",
    "ScriptedModel",
    "ScriptedServer",
    "ToolUse",
    "call",
    "load_script",
    "parse_script",
    "say",
]
