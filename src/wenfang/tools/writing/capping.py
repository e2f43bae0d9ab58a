"""Results of a bounded size: the structure stays, long texts are cut alike (writing.md §3)."""

from __future__ import annotations

import json
from typing import cast

from wenfang.core import JSON

_LEAST_CHARS = 200


def size_of(value: JSON) -> int:
    """The characters of a value as JSON text."""
    return len(json.dumps(value, ensure_ascii=False))


def capped(value: dict[str, JSON], limit: int) -> dict[str, JSON]:
    """`value` in at most about `limit` characters of JSON. Texts longer than some length are cut to it,
    at least to 200 characters; beside each stand `<field>_length` and `<field>_truncated`."""
    if size_of(value) <= limit:
        return value
    low, high = _LEAST_CHARS, limit
    while high - low > _LEAST_CHARS:
        middle = (low + high) // 2
        if size_of(_cut(value, middle)) <= limit:
            low = middle
        else:
            high = middle
    return _cut(value, low)


def _cut(value: dict[str, JSON], length: int) -> dict[str, JSON]:
    out: dict[str, JSON] = {}
    for key, each in value.items():
        out[key] = _inside(each, length)
        if isinstance(each, str) and len(each) > length:
            out[key] = each[:length]
            out[f"{key}_length"] = len(each)
            out[f"{key}_truncated"] = True
    return out


def _inside(value: JSON, length: int) -> JSON:
    if isinstance(value, dict):
        return _cut(cast("dict[str, JSON]", value), length)
    if isinstance(value, list):
        return [_inside(each, length) for each in cast("list[JSON]", value)]
    return value
