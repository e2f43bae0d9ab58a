"""Crews: roles as data, which model answers them, and how it is told about tools. So far there is one
crew, `solo`."""

from .access import Models, ModelStatus, Tested, open_models
from .backup import BackupState, shared_dialect
from .found import Found, FoundDialects, Subject
from .probe import Answer, can_call, greet, list_models
from .probing import Bounds, Score, Search, Trial, Trying, choose, find_dialect
from .trials import PROBES, Facts, Flaw, judge

__all__ = [
    "PROBES",
    "Answer",
    "BackupState",
    "Bounds",
    "Facts",
    "Flaw",
    "Found",
    "FoundDialects",
    "ModelStatus",
    "Models",
    "Score",
    "Search",
    "Subject",
    "Tested",
    "Trial",
    "Trying",
    "can_call",
    "choose",
    "find_dialect",
    "greet",
    "judge",
    "list_models",
    "open_models",
    "shared_dialect",
]
