"""Texts for files in a reply that was cut off: what arrived is kept (writing.md FC-9, FC-12).

A run that is stopped, fails or runs out of time in the middle of a call that writes a file has never
made the call. The text so far becomes the file's if the file is new or blank, and a file beside it
otherwise, so that neither text is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from wenfang.lang import PACKS, detect_language
from wenfang.problems import Problem
from wenfang.workspace import Files, WorkspaceError

from .codec import decode
from .facts import BlockDelta, Fact, FileChanged, NoticeGiven


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyOf:
    """Which arguments of a tool name a file, by its path or its id, and hold its text."""

    file: str
    text: str


_TRIES = 20  # each waits half a second

BODIES: Final[Mapping[str, BodyOf]] = MappingProxyType(
    {
        "write_file": BodyOf(file="path", text="content"),
        "write_text": BodyOf(file="id", text="content"),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """A text as far as it came. `file` is a path or an id, "" if that was still to come."""

    file: str
    text: str


def unfinished_bodies(frames: Iterable[bytes]) -> list[Unfinished]:
    """The texts in the frames of a message that was cut off (its deltas with `off` 0)."""
    found: list[Unfinished] = []
    for delta in map(decode, frames):
        if not isinstance(delta, BlockDelta) or delta.kind != "call":
            continue
        names = BODIES.get(delta.name or "")
        if names is not None and (body := _body_of(delta.text, names)) is not None:
            found.append(body)
    return found


def _body_of(arguments: str, names: BodyOf) -> Unfinished | None:
    from wenfang.workspace.body import ArgumentCapture, BodyClosed, BodyText

    capture = ArgumentCapture("", keys=(names.text,))
    events = [*capture.feed(arguments), *capture.close("stop")]
    text = "".join(each.text for each in events if isinstance(each, BodyText))
    is_void = any(isinstance(each, BodyClosed) and each.ending == "void" for each in events)
    if is_void or not text.strip():
        return None
    return Unfinished(file=capture.members.get(names.file, ""), text=text)


async def keep_unfinished(files: Files, bodies: Sequence[Unfinished]) -> list[Fact]:
    """Put each text where it replaces nothing. What cannot be kept is told with the reason."""
    facts: list[Fact] = []
    for body in bodies:
        try:
            changed = await _keep_patiently(files, body)
        except (WorkspaceError, Problem) as error:
            facts.append(NoticeGiven(level="error", code=error.code, params={**error.params}))
            continue
        if changed is not None:
            notice = NoticeGiven(level="info", code="body_kept", params={"path": changed.path})
            facts += (changed, notice)
    return facts


async def _keep_patiently(files: Files, body: Unfinished) -> FileChanged | None:
    """Nobody could try again later, so this waits longer for others than a save does (TL-24)."""
    for _ in range(_TRIES):
        try:
            return await _keep(files, body)
        except WorkspaceError as error:
            if error.code != "file_busy":
                raise
    return await _keep(files, body)


async def _path_of(files: Files, body: Unfinished) -> str:
    try:
        return (await files.at(body.file)).path
    except WorkspaceError:
        return body.file  # there is none yet, or there cannot be one


async def _keep(files: Files, body: Unfinished) -> FileChanged | None:
    from wenfang.workspace.body import BodyClosed, Commit, beside_name, commit_decision

    unnamed = f"{PACKS[detect_language(body.text) or 'zh'].untitled}.md"
    path = await _path_of(files, body) or unnamed
    try:
        present = await files.read(path)
    except WorkspaceError as error:
        if error.code != "file_not_found":  # no name for a text, or something else stands there
            path = unnamed
        present = None
    if present is not None and present.text == body.text:
        return None
    is_blank = present is None or not present.text.strip()
    closed = BodyClosed(file_id=path, reason="stop")
    if isinstance(commit_decision(is_blank, closed, body.text), Commit):
        try:
            base = present.item.hash if present is not None else None
            saved = await files.write(path, body.text, base=base)
        except WorkspaceError as error:
            if error.code != "revision_conflict":  # somebody writes there: it goes beside
                raise
        else:
            change = "created" if saved.previous is None else "written"
            return FileChanged(path=saved.item.path, change=change, by="ai", revision=saved.hash)
    (item,) = await files.add(beside_name(path, body.text), body.text)
    return FileChanged(path=item.path, change="created", by="ai", revision=item.hash or "")
