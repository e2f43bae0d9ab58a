"""Dialects: how a model is told about tools and how its calls are read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from .base import Conversation, Decoder, Dialect
from .native import lenient, native
from .schema import schema as schema_steps
from .told import bracket, classic, markdown, plain_zh, tagged

DialectName: TypeAlias = Literal[
    "native", "lenient", "schema", "tagged", "markdown", "plain_zh", "bracket", "classic"
]
DIALECTS: Mapping[DialectName, Dialect] = MappingProxyType(
    dict(
        zip(
            get_args(DialectName),
            (native, lenient, schema_steps, tagged, markdown, plain_zh, bracket, classic),
            strict=True,
        )
    )
)

__all__ = [
    "DIALECTS",
    "Conversation",
    "Decoder",
    "Dialect",
    "DialectName",
    "bracket",
    "classic",
    "lenient",
    "markdown",
    "native",
    "plain_zh",
    "schema_steps",
    "tagged",
]
