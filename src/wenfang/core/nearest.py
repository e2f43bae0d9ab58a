"""The name somebody meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The most similar of `names`, ignoring case and what a model adds around a name, or None."""
    clean = name.strip().strip("\"'`/<>() ").lower()
    by_lower = {each.lower(): each for each in names}
    found = get_close_matches(clean, by_lower, cutoff=0.6)
    return by_lower[found[0]] if found else None
