"""Edits of a text by quotation: what a passage is, how it is found, what came of it."""

from .apply import QuoteStyle, apply_edits
from .style import in_quotes_of
from .values import (
    AppliedEdit,
    Candidate,
    Edit,
    EditErrorType,
    EditField,
    EditOp,
    EditReason,
    EditResult,
    EditWarning,
    FailedEdit,
    MatchKind,
    MatchMode,
    Span,
)
from .words import describe_failures

__all__ = [
    "AppliedEdit",
    "Candidate",
    "Edit",
    "EditErrorType",
    "EditField",
    "EditOp",
    "EditReason",
    "EditResult",
    "EditWarning",
    "FailedEdit",
    "MatchKind",
    "MatchMode",
    "QuoteStyle",
    "Span",
    "apply_edits",
    "describe_failures",
    "in_quotes_of",
]
