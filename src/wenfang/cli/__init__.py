"""The command line: `wenfang serve | chat | run | doctor | model | eval`."""

from .main import main

__all__ = ["main"]
