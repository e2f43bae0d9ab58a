"""Worked examples: short finished conversations that each dialect of told calls shows in its own form."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from ..messages import JSON
from ..models import ToolSpec

Language: TypeAlias = Literal["zh", "en"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"[A-Za-z]+")


def language_of(text: str) -> Language:
    """Chinese if it has as many Chinese characters as English words; file names weigh little."""
    return "zh" if len(_HAN.findall(text)) >= max(1, len(_WORD.findall(text))) else "en"


class Example(NamedTuple):
    """A finished conversation: the task, then steps as (thought, tool, arguments, result), then the
    last thought and the answer."""

    language: Language
    task: str
    steps: tuple[tuple[str, str, Mapping[str, JSON], str], ...]
    thought: str
    answer: str


_LISTED = (
    "notes: 3 files and 0 folders.\nnotes/a.txt (2 KB)\nnotes/b.txt (1 KB)\nnotes/c.txt (5 KB)"
)

_EXAMPLES = (
    Example(
        "en",
        "How many files are in the notes folder? Multiply that by 12.",
        (
            ("I must count the files in notes.", "list_files", {"path": "notes"}, _LISTED),
            ("There are 3 files. Now 3*12.", "calculator", {"expression": "3*12"}, "3*12 = 36"),
        ),
        "3 files, and 3*12 is 36.",
        "The notes folder has 3 files; 3 times 12 is 36.",
    ),
    Example(
        "en",
        "docs/recipe.txt says how much flour one person needs. How much do all people in docs/club.csv need?",
        (
            ("I need the flour for one person.", "read_file", {"path": "docs/recipe.txt"}, "for one person: flour 65 g, butter 20 g"),
            ("One person needs 65 g. Now the number of people.", "read_file", {"path": "docs/club.csv"}, "place,people,leader\nHill Road,8,Jo"),
            ("There are 8 people. Now 65*8.", "calculator", {"expression": "65*8"}, "65*8 = 520"),
        ),
        "65*8 is 520.",
        "All 8 people need 520 g of flour.",
    ),
    Example(
        "en",
        "When does the shop open on Sunday? See docs/shop.txt.",
        (
            ("I need the opening time on Sunday.", "read_file", {"path": "docs/shop.txt"}, "Monday to Saturday 9:00-18:00, Sunday 10:30-16:00"),
        ),
        "Sunday is 10:30-16:00, so it opens at 10:30.",
        "On Sunday the shop opens at 10:30.",
    ),
    Example(
        "zh",
        "notes 目录里有几个文件？把这个数乘以 12。",
        (
            ("先数 notes 里的文件。", "list_files", {"path": "notes"}, _LISTED),
            ("共有 3 个文件，再算 3*12。", "calculator", {"expression": "3*12"}, "3*12 = 36"),
        ),
        "3 个文件，3*12 等于 36。",
        "notes 目录里有 3 个文件，乘以 12 等于 36。",
    ),
    Example(
        "zh",
        "docs/菜谱.txt 写了每人要多少面粉。给 docs/club.csv 里的所有人，一共要多少克？",
        (
            ("先查每人的面粉量。", "read_file", {"path": "docs/菜谱.txt"}, "每人：面粉 65 克，黄油 20 克"),
            ("每人 65 克，再查人数。", "read_file", {"path": "docs/club.csv"}, "place,people,leader\n山路,8,小周"),
            ("共 8 人，再算 65*8。", "calculator", {"expression": "65*8"}, "65*8 = 520"),
        ),
        "65*8 等于 520。",
        "8 个人一共要 520 克面粉。",
    ),
    Example(
        "zh",
        "查 docs/shop.txt，商店周日几点开门？",
        (
            ("先查周日的开门时间。", "read_file", {"path": "docs/shop.txt"}, "周一至周六 9:00 到 18:00，周日 10:30 到 16:00"),
        ),
        "周日 10:30 到 16:00，所以 10:30 开门。",
        "商店周日 10:30 开门。",
    ),
)  # fmt: skip


def examples(tools: Sequence[ToolSpec], language: Language) -> tuple[Example, ...]:
    """The examples in this language that need no other tools than these."""
    names = {spec.name for spec in tools}
    return tuple(
        example
        for example in _EXAMPLES
        if example.language == language and {step[1] for step in example.steps} <= names
    )
