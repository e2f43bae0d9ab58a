"""Documents into chapters (writing.md UI-7, studio.md upload): where they are cut, and that nothing is lost."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workspace.documents_made import docx, epub, paragraph

from wenfang.workspace.documents import Document, read_document


@dataclass(frozen=True, kw_only=True)
class Case:
    text: str
    title: str
    sections: list[tuple[str, str]]
    author: str | None = None


HEADINGS = '<w:style w:type="paragraph" w:styleId="{0}"><w:name w:val="{1}"/>{2}</w:style>'
STYLES = "".join(
    HEADINGS.format(*row)
    for row in (
        ("T", "Title", ""),
        ("A", "heading 1", '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>'),
        ("B", "标题 2", ""),
        ("C", "Own", '<w:basedOn w:val="A"/>'),
    )
)

TXT: dict[str, Case] = {
    "chinese": Case(
        text="雨夜归人\n作者：某某\n\n第一章 雨\n\n　　他来了。\n　　她走了。\n\n第二章 雪\n　　雪停了。\n",
        title="雨夜归人",
        author="某某",
        sections=[("第一章 雨", "　　他来了。\n　　她走了。"), ("第二章 雪", "　　雪停了。")],
    ),
    "no blank lines": Case(
        text="第一章 雨\n他来了。\n第二章 雪\n雪停了。",
        title="a",
        sections=[("第一章 雨", "他来了。"), ("第二章 雪", "雪停了。")],
    ),
    "english": Case(
        text="The Long Night\nby Ann Other\n\nPrologue\n\nIt rained.\n\nChapter 1\n\nHe came.\n\nChapter Two: Snow\n\nIt snowed.\n\nEpilogue\n\nEnd.",
        title="The Long Night",
        author="Ann Other",
        sections=[("Prologue", "It rained."), ("Chapter 1", "He came."), ("Chapter Two: Snow", "It snowed."), ("Epilogue", "End.")],
    ),
    "volumes": Case(
        text="第一卷 风\n\n第一章 雨\n\n一\n\n第二卷 雪\n\n第一章 灯\n\n二",
        title="a",
        sections=[("第一卷 风", ""), ("第一章 雨", "一"), ("第二卷 雪", ""), ("第一章 灯", "二")],
    ),
    "prose that mentions a chapter": Case(
        text="第一章 雨\n\n他翻到第三章，停住了。\n第三章的内容很简单\n\n第二章 雪\n\n完了。",
        title="a",
        sections=[("第一章 雨", "他翻到第三章，停住了。\n第三章的内容很简单"), ("第二章 雪", "完了。")],
    ),
    "wrapped prose": Case(
        text="Chapter 1\n\nShe read the\nChapter 12\nof the book again and\nslept.\n\nChapter 2\n\nMorning.",
        title="a",
        sections=[("Chapter 1", "She read the\nChapter 12\nof the book again and\nslept."), ("Chapter 2", "Morning.")],
    ),
    "table of contents": Case(
        text="书\n\n目录\n第一章 雨\n第二章 雪\n\n第一章 雨\n\n一\n\n第二章 雪\n\n二",
        title="书",
        sections=[("", "目录\n第一章 雨\n第二章 雪"), ("第一章 雨", "一"), ("第二章 雪", "二")],
    ),
    "a foreword that is kept": Case(
        text="这是一个很长的故事，发生在很久以前。\n\n第一章 雨\n\n一\n\n第二章 雪\n\n二",
        title="a",
        sections=[("", "这是一个很长的故事，发生在很久以前。"), ("第一章 雨", "一"), ("第二章 雪", "二")],
    ),
    "numbers alone": Case(
        text="1\n\nHe came.\n\n2\n\nShe left.\n\n3\n\nRain.",
        title="a",
        sections=[("1", "He came."), ("2", "She left."), ("3", "Rain.")],
    ),
    "numbers that are no run": Case(
        text="He wrote:\n\n4\n\nand then\n\n7\n\nend",
        title="a",
        sections=[("", "He wrote:\n\n4\n\nand then\n\n7\n\nend")],
    ),
    "screenplay": Case(
        text="第一场 内景 茶馆 夜\n\n老王：来了？\n\n第二场 外景 街 日\n\n雨。",
        title="a",
        sections=[("第一场 内景 茶馆 夜", "老王：来了？"), ("第二场 外景 街 日", "雨。")],
    ),
    "scenes stay in their episode": Case(
        text="第1集\n\n第一场 茶馆\n\n雨。\n\n第2集\n\n第一场 街\n\n雪。",
        title="a",
        sections=[("第1集", "第一场 茶馆\n\n雨。"), ("第2集", "第一场 街\n\n雪。")],
    ),
    "our own export": Case(
        text="\ufeff雨夜\n\n第一章 雨\n\n一\n\n---\n\n第二章 雪\n\n二\n\n---\n\n尾声\n\n三\n",
        title="雨夜",
        sections=[("第一章 雨", "一"), ("第二章 雪", "二"), ("尾声", "三")],
    ),
    "dashes that are a scene break": Case(
        text="第一章 雨\n\n一\n\n---\n\n一半\n\n第二章 雪\n\n二\n\n---\n\n第三章 灯\n\n三",
        title="a",
        sections=[("第一章 雨", "一\n\n---\n\n一半"), ("第二章 雪", "二\n\n---"), ("第三章 灯", "三")],
    ),
    "no chapters": Case(text="雨夜。\n雪。", title="a", sections=[("", "雨夜。\n雪。")]),
}  # fmt: skip

MARKDOWN: dict[str, Case] = {
    "title and chapters": Case(
        text="# Book\nby Ann\n\n## One\n\ntext\n\n### inner\n\n## Two\n\ny",
        title="Book",
        author="Ann",
        sections=[("One", "text\n\n## inner"), ("Two", "y")],
    ),
    "chapters at the top": Case(
        text="# 第一章\n\n一\n\n## 小节\n\n# 第二章\n\n二",
        title="a",
        sections=[("第一章", "一\n\n## 小节"), ("第二章", "二")],
    ),
    "volumes above": Case(
        text="# 第一卷\n\n## 第一章\n\n一\n\n# 第二卷\n\n## 第二章\n\n二",
        title="a",
        sections=[("第一卷", ""), ("第一章", "一"), ("第二卷", ""), ("第二章", "二")],
    ),
    "one chapter a file": Case(text="# 第三章 雪\n\n三", title="a", sections=[("第三章 雪", "三")]),
    "no heading in code": Case(
        text="# A\n\n```\n# x\n```\n\n# B\n\ny",
        title="a",
        sections=[("A", "```\n# x\n```"), ("B", "y")],
    ),
    "chapters in plain words": Case(
        text="第一章 雨\n\n*一*\n\n第二章 雪\n\n二",
        title="a",
        sections=[("第一章 雨", "*一*"), ("第二章 雪", "二")],
    ),
    "front matter": Case(
        text="---\ntitle: x\n---\n\n# A\n\na\n\n# B\n\nb",
        title="a",
        sections=[("", "---\ntitle: x\n---"), ("A", "a"), ("B", "b")],
    ),
}

DOCX: dict[str, Case] = {
    "styles": Case(
        text=paragraph("雨夜", "T") + paragraph("第一章", "A") + paragraph("一") + paragraph("小节", "B")
        + paragraph("二") + paragraph("第二章", "C") + paragraph("三"),
        title="雨夜",
        sections=[("第一章", "一\n\n## 小节\n\n二"), ("第二章", "三")],
    ),
    "no styles": Case(
        text="".join(map(paragraph, ("雨夜", "作者：某某", "第一章 雨", "一", "第二章 雪", "二"))),
        title="雨夜",
        author="某某",
        sections=[("第一章 雨", "一"), ("第二章 雪", "二")],
    ),
    "a style for the name of the book only": Case(
        text=paragraph("雨夜", "A") + "".join(map(paragraph, ("作者：某某", "第一章", "一", "第二章", "二"))),
        title="雨夜",
        author="某某",
        sections=[("第一章", "一"), ("第二章", "二")],
    ),
    "volumes": Case(
        text=paragraph("第一卷", "A") + paragraph("第一章", "B") + paragraph("一") + paragraph("第二章", "B"),
        title="a",
        sections=[("第一卷", ""), ("第一章", "一"), ("第二章", "")],
    ),
}  # fmt: skip

NAV = '<li><a href="{}">{}</a></li>'
EPUB: dict[str, tuple[dict[str, str], str, list[tuple[str, str]]]] = {
    "by the contents list": (
        {"a.xhtml": "<h2>雨</h2><p>一</p><h3>小节</h3><p>二</p>", "b.xhtml": "<p>三</p>"},
        NAV.format("a.xhtml", "第一章 雨") + NAV.format("b.xhtml", "第二章"),
        [("第一章 雨", "一\n\n## 小节\n\n二"), ("第二章", "三")],
    ),
    "two chapters on a page": (
        {"a.xhtml": '<p id="x">一</p><div id="y"><p>二</p></div>'},
        NAV.format("a.xhtml#x", "第一章") + NAV.format("a.xhtml#y", "第二章"),
        [("第一章", "一"), ("第二章", "二")],
    ),
    "volumes in the contents list": (
        {"v.xhtml": "<h1>第一卷</h1>", "a.xhtml": "<h1>第一章</h1><p>一</p>", "b.xhtml": "<h1>第二章</h1><p>二</p>"},
        f'<li><a href="v.xhtml">第一卷</a><ol>{NAV.format("a.xhtml", "第一章")}{NAV.format("b.xhtml", "第二章")}</ol></li>',
        [("第一卷", ""), ("第一章", "一"), ("第二章", "二")],
    ),
    "a heading that says something else is kept": (
        {"a.xhtml": "<h1>The Boy</h1><p>x</p>", "b.xhtml": "<p>y</p>"},
        NAV.format("a.xhtml", "Chapter 1") + NAV.format("b.xhtml", "Chapter 2"),
        [("Chapter 1", "## The Boy\n\nx"), ("Chapter 2", "y")],
    ),
    "without a contents list": (
        {"a.xhtml": "<h1>雨</h1><p>一</p>", "b.xhtml": "<h1>雪</h1><p>二</p>"},
        "",
        [("雨", "一"), ("雪", "二")],
    ),
    "title page": (
        {"t.xhtml": "<h1>书</h1><p>某某</p>", "a.xhtml": "<h1>第一章</h1><p>一</p>"},
        NAV.format("t.xhtml", "书") + NAV.format("a.xhtml", "第一章"),
        [("第一章", "一")],
    ),
    "page before the first chapter": (
        {"d.xhtml": "<p>给她</p>", "a.xhtml": "<p>一</p>", "b.xhtml": "<p>二</p>"},
        NAV.format("a.xhtml", "第一章") + NAV.format("b.xhtml", "第二章"),
        [("", "给她"), ("第一章", "一"), ("第二章", "二")],
    ),
    "addresses with escapes": (
        {"第 1.xhtml": "<p>一</p>", "b.xhtml": "<p>二</p>"},
        NAV.format("%E7%AC%AC%201.xhtml", "第一章") + NAV.format("b.xhtml", "第二章"),
        [("第一章", "一"), ("第二章", "二")],
    ),
}  # fmt: skip


def check(document: Document, case: Case) -> None:
    assert [(section.title, section.text) for section in document.sections] == case.sections
    assert (document.title, document.author) == (case.title, case.author)


@pytest.mark.parametrize("name", TXT)
def test_UI_7_txt(name: str) -> None:
    check(read_document("dir/a.txt", TXT[name].text.encode()), TXT[name])


@pytest.mark.parametrize("name", MARKDOWN)
def test_UI_7_markdown(name: str) -> None:
    check(read_document("a.md", MARKDOWN[name].text.encode()), MARKDOWN[name])


@pytest.mark.parametrize("name", DOCX)
def test_UI_7_docx(name: str) -> None:
    check(read_document("a.docx", docx(DOCX[name].text, styles=STYLES)), DOCX[name])


@pytest.mark.parametrize("name", EPUB)
def test_UI_7_epub(name: str) -> None:
    pages, nav, sections = EPUB[name]
    check(
        read_document("a.epub", epub(pages, nav=nav)),
        Case(text="", title="书", author="某某", sections=sections),
    )


def test_kinds_and_numbers() -> None:
    text = "前面的话。\n\n第一卷\n\n序章\n\n零\n\n第十二章 雨\n\n一\n\n尾声\n\n二"
    sections = read_document("a.txt", text.encode()).sections
    assert [(each.kind, each.number) for each in sections] == [
        ("front", None),
        ("part", 1),
        ("extra", None),
        ("chapter", 12),
        ("extra", None),
    ]


@pytest.mark.parametrize(
    ("text", "language"), [("第一章\n\n雨夜", "zh"), ("Chapter 1\n\nRain", "en"), ("123", None)]
)
def test_the_language_is_found(text: str, language: str | None) -> None:
    assert read_document("a.txt", text.encode()).language == language


LINES = st.one_of(
    st.sampled_from(
        ["第一章 雨", "第二章", "第一卷 风", "Chapter 1", "CHAPTER II", "Prologue", "1", "2", "序章", "---", "***", "", "  ", "第一场 茶馆", "INT. HOUSE - DAY", "书名", "作者：某某", "他说：“走吧。”", "\u3000\u3000雨停了。", "by Ann"]
    ),
    st.text(alphabet="雨夜第章一12 。，ab.#-\t", max_size=20),
)  # fmt: skip


def joined(document: Document) -> str:
    """Everything that was read, in its order; a title that is only the file's name is none."""
    title = document.title if document.title != "zzz" else ""
    author = document.author or ""
    return title + author + "".join(section.title + section.text for section in document.sections)


def visible(text: str, *, without: str = "") -> str:
    return "".join(char for char in text if not char.isspace() and char not in without)


@given(st.lists(LINES, min_size=1, max_size=30), st.sampled_from(["txt", "md"]))
def test_UI_7_nothing_of_a_text_is_lost(lines: list[str], extension: str) -> None:
    text = "\n".join(lines)
    if not text.strip():
        return
    document = read_document(f"zzz.{extension}", text.encode())
    if document.author:  # "作者：" and "by" are said by the field
        mark = min(filter(lambda mark: mark in text, ("作者：", "by ")), key=text.index)
        text = text.replace(mark, "", 1)
    # A mark of a heading and the dashes between two chapters are no text.
    assert visible(joined(document), without="#-") == visible(text, without="#-")


@given(st.lists(st.tuples(LINES, st.sampled_from(["", "A", "B", "T"])), min_size=1, max_size=15))
def test_UI_7_nothing_of_a_docx_is_lost(rows: list[tuple[str, str]]) -> None:
    text = "".join(line for line, _ in rows)
    if not text.strip() or "作者" in text or "by" in text:
        return
    document = read_document(
        "zzz.docx", docx("".join(paragraph(*row) for row in rows), styles=STYLES)
    )
    # Marks are added, a title may stand anywhere, and every scene break becomes the same one.
    assert sorted(visible(joined(document), without="#\\*-")) == sorted(
        visible(text, without="#\\*-")
    )


@pytest.mark.alone
def test_three_million_characters_take_less_than_a_second() -> None:
    chance = random.Random(1)
    lines = [
        "　　"
        + "".join(chance.choices("那天夜里下着雨他一个人走在街上手里提着灯心想远方的风雪", k=36))
        + "。"
        for _ in range(84_000)
    ]
    for at in range(0, len(lines), 70):
        lines[at] = f"第{at // 70 + 1}章 雨夜"
    text = "\n".join(lines)
    assert len(text) > 3_000_000
    for encoding in ("utf-8", "gb18030"):
        data = text.encode(encoding)
        began = time.process_time()
        document = read_document("a.txt", data)
        assert time.process_time() - began < 1
        assert len(document.sections) == 1_200
