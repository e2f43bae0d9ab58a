"""What must hold of a database afterwards (durable.md §7), whatever happened to the processes."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

from tests.faults.plan import EFFECTS, Plan, answer

from wenfang.storage import FILE

Event = dict[str, Any]


class Journal:
    """The rows of a database, read after all processes have ended."""

    def __init__(self, data: Path) -> None:
        self.data = data
        with sqlite3.connect(data / FILE) as connection:
            connection.row_factory = sqlite3.Row
            self.projects = connection.execute("SELECT * FROM projects").fetchall()
            self.runs = {row["id"]: row for row in connection.execute("SELECT * FROM runs")}
            self.events = connection.execute("SELECT * FROM events ORDER BY pseq").fetchall()
            self.quota = connection.execute("SELECT * FROM quota").fetchall()
            self.partials = connection.execute("SELECT * FROM partials").fetchall()
            self.signals = connection.execute("SELECT * FROM signals").fetchall()
            self.integrity = connection.execute("PRAGMA integrity_check").fetchone()[0]
        connection.close()

    def of(self, run_id: str) -> list[Event]:
        return [json.loads(row["body"]) for row in self.events if row["run_id"] == run_id]

    def effects(self) -> Counter[str]:
        path = self.data / EFFECTS
        return Counter(path.read_text().splitlines() if path.exists() else [])


def violations(data: Path) -> list[str]:
    """Everything that is wrong; empty if nothing is."""
    journal = Journal(data)
    found = [] if journal.integrity == "ok" else [f"integrity: {journal.integrity}"]
    for project in journal.projects:
        numbers = [row["pseq"] for row in journal.events if row["project_id"] == project["id"]]
        if numbers != list(range(1, project["seq"] + 1)):
            found.append("the project's numbers are not dense")
    if journal.partials:
        found.append("a partial message was left")
    for run_id in journal.runs:
        found += [f"{run_id}: {problem}" for problem in _run(journal, run_id)]
    found += _effects(journal)
    return found


def _run(journal: Journal, run_id: str) -> list[str]:
    row = journal.runs[run_id]
    rows = [event for event in journal.events if event["run_id"] == run_id]
    events = journal.of(run_id)
    kinds = [event["type"] for event in events]
    found: list[str] = []
    if [event["seq"] for event in rows] != list(range(1, row["seq"] + 1)):
        found.append("its numbers are not dense")
    if kinds.count("run.finished") != 1 or kinds[-1] != "run.finished":
        found.append(f"terminals: {kinds.count('run.finished')}, last is {kinds[-1:]}")
    if kinds[:2] != ["run.started", "user.message"]:
        found.append(f"begins with {kinds[:2]}")
    if row["status"] in ("queued", "running") or row["owner"] is not None:
        found.append(f"is {row['status']}, owned by {row['owner']}")
    found += _money(journal, run_id)
    found += _order(events)
    found += _signals(journal, run_id, events)
    if row["status"] == "done":
        found += _done(events)
    return found


def _money(journal: Journal, run_id: str) -> list[str]:
    rows = [row for row in journal.quota if row["run_id"] == run_id]
    kinds = sorted(row["kind"] for row in rows)
    drift = sum(row["amount"] for row in rows)
    return (
        []
        if kinds == ["refund", "reserve", "settle"] and drift == 0
        else [f"quota {kinds} {drift}"]
    )


def _order(events: list[Event]) -> list[str]:
    """Steps once and in order, each request with one outcome, each call with one result."""
    found: list[str] = []
    steps = [event["step"] for event in events if event["type"] == "message.finished"]
    if steps != list(range(1, len(steps) + 1)):
        found.append(f"finished steps {steps}")
    open_message: str | None = None
    open_calls: Counter[str] = Counter()
    due: Counter[str] = Counter()
    for event in events:
        match event["type"]:
            case "step.started":
                if open_message is not None:
                    found.append("a request before the last one had an outcome")
                if due.total() or open_calls.total():
                    found.append(f"a request while calls are open: {due} {open_calls}")
                open_message = event["message_id"]
            case "step.reset" | "message.finished":
                if event["message_id"] != open_message:
                    found.append("an outcome without a request")
                open_message = None
                if event["type"] == "message.finished":
                    blocks = event["message"]["content"]
                    due = Counter(b["id"] for b in blocks if b["type"] == "tool_call")
            case "tool.started":
                open_calls[event["call_id"]] += 1
            case "tool.finished":
                open_calls[event["call_id"]] -= event["call_id"] in open_calls
                due[event["call_id"]] -= 1
            case _:
                pass
        due, open_calls = +due, +open_calls
    if open_message is not None or due or open_calls:
        found.append(f"left open: {open_message} {due} {open_calls}")
    return found


def _signals(journal: Journal, run_id: str, events: list[Event]) -> list[str]:
    """Each steering message is applied exactly once."""
    sent = [row["n"] for row in journal.signals if row["run_id"] == run_id]
    applied = [event["signal"] for event in events if event.get("signal") is not None]
    return [] if sorted(applied) == sorted(sent) else [f"signals {sent}, applied {applied}"]


def _done(events: list[Event]) -> list[str]:
    plan = Plan.of(events[1]["text"])
    found: list[str] = []
    if events[-1]["answer"] != answer(plan):
        found.append(f"answer {events[-1]['answer']!r}")
    names = [event["name"] for event in events if event["type"] == "tool.finished"]
    if names != list(plan.steps):
        found.append(f"calls {names}, planned {plan.steps}")
    return found


def _effects(journal: Journal) -> list[str]:
    """Unsafe tools at most once for each call; a call reported as done took effect; a file is whole
    and is the one that its result names."""
    counted = journal.effects()
    found = [
        f"{effect} happened {n} times" for effect, n in counted.items() if _unsafe(effect) and n > 1
    ]
    for run_id in journal.runs:
        for event in journal.of(run_id):
            if event["type"] != "tool.finished" or event["result"]["is_error"]:
                continue
            if event["name"] == "save":
                written = event["result"]["effects"][0]
                body = (journal.data / written["path"]).read_bytes()
                if hashlib.sha256(body).hexdigest() != written["revision"]:
                    found.append(f"{written['path']} is not what its result says")
            elif not counted[f"{event['name']} {run_id}:{event['call_id']}"]:
                found.append(f"{event['name']} reported but never happened")
    return found


def _unsafe(effect: str) -> bool:
    return effect.split(" ")[0] in ("fire", "hang", "block")
