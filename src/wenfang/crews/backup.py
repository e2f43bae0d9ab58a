"""A second provider: whether it takes part in runs, and what they then speak (FO-1).

A run has one dialect from its first request to its last, whoever answers. The primary is asked as it is
best asked; a backup that is not known to understand that is left out rather than asked in vain.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from wenfang.core import DIALECTS, DialectName
from wenfang.settings import Settings

BackupState: TypeAlias = Literal["off", "incomplete", "dialect", "ready"]
"""None is configured, or the provider in force has none; its address or its model is missing; it cannot be
asked as the primary is; it takes part."""

# What a dialect asks of a model. Who can do more can do less: a reply in words, one bound by a schema, calls.
_DEMANDS: Mapping[DialectName, int] = {
    **dict.fromkeys(DIALECTS, 0),
    "schema": 1,
    "lenient": 2,
    "native": 2,
}


def is_wanted(settings: Settings) -> bool:
    """Whether someone configured a backup of the provider in force."""
    return settings.provider == "openai" and bool(settings.backup_base_url or settings.backup_model)


def is_complete(settings: Settings) -> bool:
    """Whether the backup has all that it takes to ask it."""
    return bool(settings.backup_base_url and settings.backup_model)


def shared_dialect(primary: DialectName, backup: DialectName) -> DialectName | None:
    """The dialect of a run that both may answer, given what is best for each; None if there is none.
    The primary's requests stay what they would be alone: "lenient" only reads more than "native". (At a
    writer's desk texts for files then come as calls, as they do from all lenient models.)"""
    if _DEMANDS[primary] > _DEMANDS[backup]:
        return None
    return "lenient" if {primary, backup} == {"native", "lenient"} else primary
