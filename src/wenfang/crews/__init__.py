"""Crews: roles as data, and which model answers them. So far there is one crew, `solo`."""

from .access import Models, ModelStatus, Tested, open_models
from .probe import can_call, greet, list_models

__all__ = [
    "ModelStatus",
    "Models",
    "Tested",
    "can_call",
    "greet",
    "list_models",
    "open_models",
]
