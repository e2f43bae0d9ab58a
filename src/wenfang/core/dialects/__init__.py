"""Dialects: how a model is told about tools and how its calls are read."""

from .base import Conversation, Decoder, Dialect
from .native import native
from .schema import schema as schema_steps

__all__ = ["Conversation", "Decoder", "Dialect", "native", "schema_steps"]
