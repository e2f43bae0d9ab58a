"""write_text: the text of a file that was created blank (FC-8, FC-9, FC-14, TL-23).

A model that writes between `<file>` tags never sees this tool: what stands there is a call of it
(`file_tags`). Other models call it.
"""

from __future__ import annotations

from wenfang.core import ToolContext
from wenfang.lang import count_words
from wenfang.workspace import WorkspaceError
from wenfang.workspace.body import BodyClosed, Commit, beside_name, commit_decision
from wenfang.workspace.project import Created, Kind, Opened

from .desk import Desk
from .envelope import Done
from .errors import ErrorType, Refusal
from .params import WriteText
from .records import created, in_style_of, record, written

NAME = "write_text"
DESCRIPTION = (
    "The whole text of a file that create_file just made: plain prose, without the title and without "
    "Markdown. Once, right after create_file; use edit_file for every later change."
)
_CUT_OFF = (
    "The text was cut off here. It is in the file as far as it came; go on with edit_file: op insert_after, "
    "the last words as anchor."
)


async def write_text(desk: Desk, context: ToolContext, args: WriteText) -> Done:
    del context
    waiting = desk.blanks.waiting(args.id)  # the author may have given it another name meanwhile
    opened = await desk.files.opened(args.id if waiting is None else waiting.file_id)
    item, title = opened.item, desk.title_of(opened.item.path)
    is_blank = not opened.text.strip()
    waiting = waiting or desk.blanks.waiting(item.id)
    if not args.content.strip():
        raise Refusal("invalid_arguments", f"The text for {title!r} was blank; it still waits.")
    if not is_blank and (waiting is None or waiting.revision != item.hash):
        return await _beside(desk, opened, args.content, "stale_content", "has another text by now")
    closed = BodyClosed(file_id=item.id, reason="boundary" if args.truncated else "end")
    if not isinstance(commit_decision(is_blank, closed, args.content), Commit):
        return await _beside(
            desk, opened, args.content, "edit_failed", "has a text, this one was cut off"
        )
    try:
        return await _fill(desk, opened, args)
    except WorkspaceError as error:
        if error.code != "revision_conflict":
            raise
        return await _beside(desk, opened, args.content, "stale_content", "has another text by now")


async def _fill(desk: Desk, opened: Opened, args: WriteText) -> Done:
    texts: list[str] = []

    def make(kind: Kind, beside: str | None) -> str:
        texts.append(in_style_of(beside, kind, args.content))
        return texts[-1]

    previous = opened.item.hash or ""
    saved = await desk.files.fill(opened.item.id, make, base=previous)
    words = count_words(texts[-1])
    effect = written(saved, previous, words)
    desk.observe(effect)
    data = record(desk, saved.item) | {"word_count": words, "content_length": len(texts[-1])}
    if args.truncated:
        data |= {"content_truncated": True, "next_step": _CUT_OFF}
    return Done(data=data, effects=(effect,))


async def _beside(desk: Desk, opened: Opened, text: str, error_type: ErrorType, why: str) -> Done:
    """No text is lost: what its file cannot take becomes a file beside it."""
    kept = await desk.files.add(beside_name(opened.item.path, text), text)
    effects = tuple(created(Created(item=item)) for item in kept)
    desk.observe(*effects)
    title = desk.title_of(opened.item.path)
    told = f"{title!r} {why}, so it stays as it is. The text is kept in {kept[0].path!r}."
    return Done(data=record(desk, kept[0]), effects=effects, problem=Refusal(error_type, told))
