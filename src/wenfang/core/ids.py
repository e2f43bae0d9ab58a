"""Ids: unique across runs, machines and time, safe in URLs and in providers' id fields."""

from __future__ import annotations

import os


def new_id(prefix: str) -> str:
    """`prefix`, an underscore and 20 random hex digits: 80 bits, at most 40 characters in all."""
    return f"{prefix}_{os.urandom(10).hex()}"
