"""query_files: find files, and read them whole or in part (TL-15, TL-17, TL-18)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from wenfang.core import JSON, FileRead, ToolContext
from wenfang.lang import count_words
from wenfang.workspace.project import Content, Item, Kind

from .by_author import render
from .capping import capped, size_of
from .desk import Desk
from .envelope import Done
from .params import QueryFiles
from .ranges import Range, asked_range
from .records import record

DESCRIPTION = (
    "Read one file by its id (whole, or a section, the end, a range of characters), or list files: by words "
    "in title or text, by type, by folder. A list shows the beginnings of texts unless response_mode is full."
)
_LIMITS = {"full": 10, "summary": 50}
_ROOM_CHARS = 4000  # for all of a result that is not the text
_ENVELOPE_CHARS = 100  # what stands around the data
_LEAST_CHARS = 400  # of a text, however small a result is
_MOST_CHILDREN = 50


async def query_files(desk: Desk, context: ToolContext, args: QueryFiles) -> Done:
    del context
    done = await (_one(desk, args.id, args) if args.id else _list(desk, args))
    desk.observe(*done.effects)
    return done


# One file


async def _one(desk: Desk, ref: str, args: QueryFiles) -> Done:
    item = await desk.files.at(ref)
    if item.kind == "folder":
        return await _folder(desk, item)
    opened = await desk.files.opened(item.id)
    item, text = opened.item, opened.text
    part = asked_range(text, args)
    data = await _noted(desk, item) | {"word_count": count_words(text), "content_length": len(text)}
    if args.response_mode == "summary":
        return Done(data=data | _preview(text, 0, args), effects=_read(item, text, args))
    if not args.include_content:
        return Done(data=data)
    edits = await asyncio.to_thread(render, opened)
    room = min(_ROOM_CHARS, desk.result_chars // 4) + size_of(edits)
    part = _fitting(text, part, desk.result_chars - room)
    data["content"] = text[part.start : part.end]
    if not part.is_whole:
        data["range"] = _told(part, item)
    if edits is not None:
        data["author_edits"] = edits
    data = capped(data, desk.result_chars - _ENVELOPE_CHARS)
    whole = part.is_whole and "content_truncated" not in data
    effect = FileRead(path=item.path, revision=item.hash or "", file_id=item.id, whole=whole)
    shown = {name: each for name, each in data.items() if name != "content"}
    return Done(data=data, details=shown, effects=(effect,))


async def _noted(desk: Desk, item: Item) -> dict[str, JSON]:
    return record(desk, item, (await desk.files.metadata()).get(item.id))


def _fitting(text: str, part: Range, limit: int) -> Range:
    """The part, or as much of its beginning as a result holds."""
    limit = max(limit, _LEAST_CHARS)
    end = min(part.end, part.start + limit)
    while (size := size_of(text[part.start : end])) > limit:
        end = part.start + min((end - part.start) * limit // size, end - part.start - 1)
    return Range(start=part.start, end=end, total=part.total, section=part.section)


def _told(part: Range, item: Item) -> JSON:
    told: dict[str, JSON] = {
        "start_char": part.start,
        "end_char": part.end,
        "total_chars": part.total,
        "note": f"Characters {part.start} to {part.end} of {part.total}; the text is not complete here.",
    }
    if part.section is not None:
        told["section"] = part.section
    if part.end < part.total:
        told["to_read_on"] = f"query_files with id={item.id!r}, start_char={part.end}"
    return told


async def _folder(desk: Desk, folder: Item) -> Done:
    inside = await desk.files.survey(lambda items: [i for i in items if _parent(i) == folder.path])
    children: list[JSON] = [
        cast("JSON", record(desk, each.item)) for each in inside[:_MOST_CHILDREN]
    ]
    data = record(desk, folder) | {"children": children, "children_total": len(inside)}
    return Done(data=data)


# A list


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    content: Content
    notes: dict[str, JSON]
    at: int = 0
    in_title: bool = False


async def _list(desk: Desk, args: QueryFiles) -> Done:
    mode = args.response_mode or "summary"
    hits = await _hits(desk, args)
    limit = args.limit or _LIMITS[mode]
    page = hits[args.offset : args.offset + limit]
    records = [_listed(desk, hit, args, is_full=mode == "full") for hit in page]
    data: dict[str, JSON] = {
        "files": cast("JSON", records),
        "total": len(hits),
        "offset": args.offset,
    }
    if args.offset + len(page) < len(hits):
        data["next_offset"] = args.offset + len(page)
        data["note"] = (
            f"{len(page)} of {len(hits)} are shown; for more, call query_files with "
            f"offset={args.offset + len(page)}."
        )
    data = capped(data, desk.result_chars - _ENVELOPE_CHARS)
    shown = cast("list[dict[str, JSON]]", data["files"])
    effects = tuple(
        effect
        for hit, told in zip(page, shown, strict=True)
        for effect in _read_listed(hit.content, told)
    )
    people = [{k: v for k, v in each.items() if k not in ("content", "preview")} for each in shown]
    return Done(data=data, details=data | {"files": cast("JSON", people)}, effects=effects)


async def _hits(desk: Desk, args: QueryFiles) -> list[_Hit]:
    """What matches, titles first, each group in reading order."""
    kinds = _kinds(args)
    folder = None if args.parent_id is None else (await desk.files.at(args.parent_id)).path

    def choose(items: Sequence[Item]) -> Sequence[Item]:
        return [
            item
            for item in items
            if (not kinds or item.kind in kinds) and (folder is None or _parent(item) == folder)
        ]

    notes = await desk.files.metadata()
    hits = [
        _Hit(content=each, notes=notes.get(each.item.id, {}))
        for each in await desk.files.survey(choose)
    ]
    wanted = args.metadata_filter
    if wanted:
        hits = [hit for hit in hits if _has(record(desk, hit.content.item) | hit.notes, wanted)]
    if args.query and args.query.strip():
        return await asyncio.to_thread(_matching, desk, hits, args.query)
    return hits


def _has(known: dict[str, JSON], wanted: dict[str, Any]) -> bool:
    """Whether each note is the wanted one, or a list with it."""
    for name, value in wanted.items():
        present = known.get(name)
        if present != value and not (isinstance(present, list) and value in present):
            return False
    return True


def _matching(desk: Desk, hits: Sequence[_Hit], query: str) -> list[_Hit]:
    terms = query.casefold().split()
    found: list[_Hit] = []
    for hit in hits:
        title = desk.title_of(hit.content.item.path).casefold()
        text = hit.content.text.casefold()
        if all(term in title or term in text for term in terms):
            at = min((text.find(term) for term in terms if term in text), default=0)
            in_title = all(term in title for term in terms)
            at = min(at, len(hit.content.text))  # folding may have made the text longer
            found.append(replace(hit, at=at, in_title=in_title))
    return sorted(found, key=lambda hit: not hit.in_title)


def _kinds(args: QueryFiles) -> set[Kind]:
    return {*(args.file_types or ()), *((args.file_type,) if args.file_type else ())}


def _parent(item: Item) -> str:
    return item.path.rpartition("/")[0]


def _listed(desk: Desk, hit: _Hit, args: QueryFiles, *, is_full: bool) -> dict[str, JSON]:
    item, text = hit.content.item, hit.content.text
    told = record(desk, item, hit.notes)
    if item.kind == "folder":
        return told
    told |= {"word_count": count_words(text), "content_length": len(text)}
    if not args.include_content:
        return told
    return told | ({"content": text} if is_full else _preview(text, hit.at, args))


def _preview(text: str, at: int, args: QueryFiles) -> dict[str, JSON]:
    length = args.content_preview_chars
    start = 0 if at < length else at - length // 4
    shown = text[start : start + length]
    told: dict[str, JSON] = {"preview": shown, "content_truncated": len(shown) < len(text)}
    if start:
        told["preview_start_char"] = start
    return told


def _read(item: Item, text: str, args: QueryFiles) -> tuple[FileRead, ...]:
    """A preview: the model saw what the file is like, and all of it if it is short."""
    length = args.content_preview_chars
    if not length or item.hash is None:
        return ()
    whole = len(text) <= length
    return (FileRead(path=item.path, revision=item.hash, file_id=item.id, whole=whole),)


def _read_listed(content: Content, told: dict[str, JSON]) -> tuple[FileRead, ...]:
    item = content.item
    if item.hash is None or not (told.get("content") or told.get("preview")):
        return ()
    whole = not told.get("content_truncated") and "preview_truncated" not in told
    return (FileRead(path=item.path, revision=item.hash, file_id=item.id, whole=whole),)
