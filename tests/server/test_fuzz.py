"""Nonsense for every call of the OpenAPI document: always the envelope, never a 500."""

from __future__ import annotations

import random
from typing import Any

import pytest

from wenfang.server import make_app

from .conftest import Running, envelope

pytestmark = pytest.mark.anyio

ODD: list[Any] = [
    None, True, -1, 0, 2**70, 1.5, "", " ", "x", "../x", "\0", "\u202e", "a" * 5000, "𠮷", [], [1], {}, {"a": {}},
]  # fmt: skip
SEGMENTS = ["x", "..%2f", "%00", "%f0%28", "a" * 400, "prj_0", "%20", "𠮷", "-"]


def _calls() -> list[tuple[str, str, list[str]]]:
    document = make_app(None).openapi()
    schemas = document["components"]["schemas"]
    found: list[tuple[str, str, list[str]]] = []
    for path, methods in document["paths"].items():
        if path in ("/api/settings/test", "/api/model/pull"):  # they ask other machines
            continue
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {})
            text = str(content.get("application/json", {}))
            names = [n for n, s in schemas.items() if f"schemas/{n}'" in text and "properties" in s]
            fields = [field for name in names for field in schemas[name]["properties"]]
            found.append((method.upper(), path, fields))
    return found


@pytest.mark.parametrize(("method", "path", "fields"), _calls(), ids=lambda v: str(v)[:60])
async def test_nonsense(shared: Running, method: str, path: str, fields: list[str]) -> None:
    chance = random.Random(f"{method} {path}")
    pid, sid = await shared.session()
    known = {"{pid}": pid, "{sid}": sid}
    for _ in range(12):
        target = path
        for name, value in known.items():
            target = target.replace(name, chance.choice([value, chance.choice(SEGMENTS)]))
        while "{" in target:
            start, end = target.index("{"), target.index("}")
            target = target[:start] + chance.choice(SEGMENTS) + target[end + 1 :]
        if "events" in path:
            target += "?after=" + chance.choice(["x", "-1", "99999999"])
        body = {field: chance.choice(ODD) for field in fields if chance.random() < 0.9}
        odd = chance.choice([body, body, body, chance.choice(ODD)]) if fields else None
        answer = await shared.http.request(method, target, json=odd)
        assert answer.status_code < 500, (target, odd, answer.text)
        if answer.status_code >= 400:
            envelope(answer)
