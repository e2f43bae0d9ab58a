"""A project and a plain folder of texts that mirror each other, both ways, and overwrite nothing."""

from .mirror import Done, Failed, Mirror, Progress, Synced, mirrored_project, open_mirror
from .planning import plan
from .values import (
    Action,
    Collide,
    Delete,
    Forget,
    Left,
    MakeFolder,
    Move,
    Node,
    Plan,
    Put,
    Reason,
    Record,
    Result,
    Side,
    State,
    key_of,
)

__all__ = [
    "Action",
    "Collide",
    "Delete",
    "Done",
    "Failed",
    "Forget",
    "Left",
    "MakeFolder",
    "Mirror",
    "Move",
    "Node",
    "Plan",
    "Progress",
    "Put",
    "Reason",
    "Record",
    "Result",
    "Side",
    "State",
    "Synced",
    "key_of",
    "mirrored_project",
    "open_mirror",
    "plan",
]
