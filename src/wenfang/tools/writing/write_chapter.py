"""write_chapter, a task of parallel_execute: a new file with its whole text (TL-19, TL-20, TL-23)."""

from __future__ import annotations

from wenfang.core import ToolContext
from wenfang.lang import count_words
from wenfang.workspace.project import Kind

from .desk import Desk
from .envelope import Done
from .errors import Refusal
from .params import WriteChapter
from .records import created, in_style_of, record, written
from .titles import file_name

DESCRIPTION = "A new file with its whole text."


async def write_chapter(desk: Desk, context: ToolContext, args: WriteChapter) -> Done:
    del context
    if not args.content.strip():
        raise Refusal("invalid_arguments", "content is blank; write the whole text of the chapter.")
    if args.file_type == "folder":
        raise Refusal("invalid_arguments", "A folder has no text; use create_file for it.")
    texts: list[str] = []

    def make(kind: Kind, beside: str | None) -> str:
        texts.append(in_style_of(beside, kind, args.content))
        return texts[-1]

    made, saved = await desk.files.compose(
        file_name(args.title, desk.files.suffix),
        args.file_type,
        make,
        into=args.parent_id,
        order=args.order,
        roots_of=desk.roots,
    )
    item, words = saved.item, count_words(texts[-1])
    effects = (created(made), written(saved, made.item.hash or "", words))
    desk.observe(*effects)
    data = record(desk, item) | {"word_count": words, "content_length": len(texts[-1])}
    return Done(data=data, effects=effects)
