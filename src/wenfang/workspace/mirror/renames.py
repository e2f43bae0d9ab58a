"""Which files have another name than at the last sync: by their ids, else by their texts."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from .values import Node, State

BLANK: Final = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The hash of no text: blank files are alike and say nothing about which one was renamed."""


def renamed(base: State, side: State) -> dict[str, str]:
    """New keys by old ones. Only what has gone from its place and has come to a place that was free counts:
    a name that was taken over by another file tells nothing for certain."""
    gone = {key: node for key, node in base.items() if node.hash is not None and key not in side}
    came = {key: node for key, node in side.items() if node.hash is not None and key not in base}
    found: dict[str, str] = {}
    by_id = {node.id: key for key, node in came.items() if node.id is not None}
    for old, node in gone.items():
        if node.id in by_id:
            found[old] = by_id.pop(node.id)
    taken = {*found.values()}
    alike: dict[str, list[str]] = defaultdict(list)
    for key in sorted(came.keys() - taken):
        alike[_text(came[key])].append(key)
    for old in sorted(gone.keys() - found.keys()):
        candidates = alike.get(_text(gone[old]), [])
        if candidates and gone[old].hash != BLANK:
            found[old] = candidates.pop(_likeliest(old, candidates))
    return found


def _likeliest(old: str, candidates: list[str]) -> int:
    """A file that was moved keeps its name more often than not."""
    name = old.rpartition("/")[2]
    same = (at for at, key in enumerate(candidates) if key.rpartition("/")[2] == name)
    return next(same, 0)


def _text(node: Node) -> str:
    return node.hash or ""
