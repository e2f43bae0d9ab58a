"""What a document is after reading, and what it is made of before writing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from wenfang.lang import UnitKind
from wenfang.problems import Language

SectionKind: TypeAlias = Literal["front"] | UnitKind
"""`front` is the text before the first heading, or all of a text that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One unit of a document. `title` is the heading as it stands there ("" for `front`), `number` the
    unit's number if the heading names one. `text` is Markdown for docx, epub, html and md, and the
    lines as they are for txt; always with "\\n" as line end."""

    title: str
    text: str
    number: int | None = None
    kind: SectionKind = "section"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWarning:
    """Something was left out or guessed, and the document was read all the same. `code` is a key of
    `WARNINGS`."""

    code: str
    params: Mapping[str, str | int]

    def text(self, language: Language = "en") -> str:
        """The one line a person reads."""
        return WARNINGS[self.code][language].format_map(self.params)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What was read. Nothing of the text is lost: title, author and sections together hold every
    visible character of the source. `title` is the document's own, or the name of its file."""

    title: str
    sections: tuple[Section, ...]
    author: str | None = None
    language: Language | None = None
    warnings: tuple[DocumentWarning, ...] = ()


PartKind: TypeAlias = Literal["outline", "part", "chapter", "extra"]
"""`part` is a volume: it stands above the chapters that follow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One unit of a book: a heading and its text in Markdown, a line being a paragraph."""

    title: str
    text: str
    kind: PartKind = "chapter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """What is exported. The parts stand in the order of the project's tree."""

    title: str
    parts: tuple[Part, ...]
    author: str | None = None
    language: Language = "zh"


def warning(code: str, **params: str | int) -> DocumentWarning:
    """The warning `code`, whose words need `params`."""
    return DocumentWarning(code=code, params=MappingProxyType(params))


def left_out(**counts: int) -> list[DocumentWarning]:
    """A warning for each kind of thing of which some were left out."""
    return [warning(code, count=count) for code, count in counts.items() if count]


def _words(zh: str, en: str) -> dict[Language, str]:
    return {"zh": zh, "en": en}


WARNINGS: Final[dict[str, dict[Language, str]]] = {
    "type_differs": _words(
        "文件名说是 {named}，内容其实是 {found}；已按内容读取",
        "The name says {named}, the content is {found}; it was read as that",
    ),
    "encoding_guessed": _words(
        "文字编码按 {encoding} 猜测；如有乱码，请另存为 UTF-8 再导入",
        "The text encoding was taken for {encoding}; if it looks wrong, save the file as UTF-8 first",
    ),
    "encoding_damaged": _words(
        "有 {count} 处字节不是有效的 {encoding} 文字，已用 � 代替",
        "{count} places are no valid {encoding} text and were replaced by �",
    ),
    "control_characters_dropped": _words(
        "去掉了 {count} 个不可见的控制字符", "{count} invisible control characters were left out"
    ),
    "macros_dropped": _words("文档里的宏没有导入", "The macros in the document were not imported"),
    "images_dropped": _words(
        "{count} 张图片没有导入，只保留了说明文字", "{count} images were not imported, only their descriptions"
    ),
    "links_dropped": _words(
        "{count} 个链接没有导入，只保留了文字", "{count} links were not imported, only their words"
    ),
    "objects_dropped": _words(
        "{count} 个嵌入对象没有导入", "{count} embedded objects were not imported"
    ),
    "markup_repaired": _words(
        "{part} 的标记有错，已尽量读取", "The markup of {part} has errors; it was read as far as possible"
    ),
    "parts_missing": _words(
        "{count} 个部分在文件里缺失", "{count} parts are missing in the file"
    ),
}  # fmt: skip
