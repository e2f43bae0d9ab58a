"""Books to files (writing.md UI-11, documents.md AR-5), and back again."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from xml.etree import ElementTree

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wenfang.lang import PACKS
from wenfang.workspace.documents import (
    Book,
    Document,
    Part,
    PartKind,
    Zip,
    read_archive,
    read_document,
    safe_path,
    to_docx,
    to_epub,
    to_markdown,
    to_txt,
)

EXPORTS: dict[str, Callable[[Book], bytes]] = {
    "txt": to_txt,
    "md": to_markdown,
    "docx": to_docx,
    "epub": to_epub,
}
MARKED = """\
　　他说**“你好。”**然后*走了*。
下一行 a_b_c 和 1*2=2

***

> 引用

- 一
- 二
   - 里

3. 三
4. 四

## 小节

| a | b |
| --- | --- |
| 1\\|2 | *雪* |

[书](https://example.org/a) ![图](http://evil.example/x.png) \\*不是斜体\\* <旁白> &amp; [未完]: x

```
code *x*
```"""


def book(*parts: tuple[str, str] | tuple[str, str, PartKind], **more: str) -> Book:
    made = tuple(
        Part(title=part[0], text=part[1], kind=part[2] if len(part) > 2 else "chapter")
        for part in parts
    )  # type: ignore[misc]
    return Book(
        title=more.get("title", "雨夜归人"), parts=made, author=more.get("author"), language="zh"
    )


def back(extension: str, made: Book) -> Document:
    return read_document(f"x.{extension}", EXPORTS[extension](made))


def test_UI_11_txt() -> None:
    made = book(
        ("第十章 雪", "　　雪。\n"), ("第二章 雨", "\n雨。"), ("尾声", "完。"), author="某某"
    )
    assert (
        to_txt(made)
        == (
            "\ufeff雨夜归人\n作者：某某\n\n第二章 雨\n\n雨。\n\n---\n\n第十章 雪\n\n　　雪。\n\n---\n\n尾声\n\n完。\n"
        ).encode()
    )


ORDERS: dict[str, tuple[list[tuple[str, PartKind]], list[str]]] = {
    "numbers": ([("第10章", "chapter"), ("第2章", "chapter")], ["第2章", "第10章"]),
    "words": ([("Chapter Two", "chapter"), ("Chapter I", "chapter")], ["Chapter I", "Chapter Two"]),
    "both ends": (
        [("序章", "extra"), ("第三章", "chapter"), ("第一章", "chapter"), ("尾声", "extra"), ("后记", "extra")],
        ["序章", "第一章", "第三章", "尾声", "后记"],
    ),
    "between": (
        [("第二章", "chapter"), ("番外一", "extra"), ("第一章", "chapter")],
        ["第一章", "第二章", "番外一"],
    ),
    "volumes": (
        [("第一卷", "part"), ("第二章", "chapter"), ("第一章", "chapter"), ("第二卷", "part"), ("第一章", "chapter")],
        ["第一卷", "第一章", "第二章", "第二卷", "第一章"],
    ),
    "no numbers": ([("雪", "chapter"), ("雨", "chapter")], ["雪", "雨"]),
    "the outline is left out": ([("第一章", "chapter"), ("大纲", "outline")], ["第一章"]),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
@pytest.mark.parametrize("extension", ["txt", "md", "docx", "epub"])
def test_UI_11_chapters_stand_in_the_order_of_their_numbers(name: str, extension: str) -> None:
    rows, titles = ORDERS[name]
    made = book(*((title, "雨。", kind) for title, kind in rows))
    data = EXPORTS[extension](made)
    if name == "no numbers" and extension == "txt":
        assert data.decode().index("雪") < data.decode().index("雨\n")
    else:
        assert [
            section.title for section in read_document(f"x.{extension}", data).sections
        ] == titles


def test_UI_11_the_outline_is_there_when_asked_for() -> None:
    made = book(("第一章", "雨。"), ("大纲", "人物", "outline"))
    for make in (to_txt, to_markdown):
        assert "人物".encode() not in make(made)
        data = make(made, with_outline=True).decode()
        assert data.index("人物") < data.index("第一章")


@pytest.mark.parametrize("extension", ["docx", "epub"])
def test_formatting_survives(extension: str) -> None:
    (section,) = back(extension, book(("第一章", MARKED))).sections
    assert section.text == (
        "他说**“你好。”**然后*走了*。\n\n下一行 a_b_c 和 1\\*2=2\n\n***\n\n> 引用\n\n- 一\n\n- 二\n\n   - 里\n\n"
        "3. 三\n\n4. 四\n\n## 小节\n\n| a | b |\n| --- | --- |\n| 1\\|2 | *雪* |\n\n"
        "[书](https://example.org/a) 图 \\*不是斜体\\* <旁白> &amp; [未完]: x\n\n```\ncode *x*\n```"
    )


@pytest.mark.parametrize("extension", EXPORTS)
def test_the_same_book_gives_the_same_bytes(extension: str) -> None:
    made = book(("第一章", MARKED), author="某某")
    assert EXPORTS[extension](made) == EXPORTS[extension](made)


def test_word_finds_its_own_styles() -> None:
    made = book(("第一卷", "", "part"), ("第一章", MARKED), author="某某")
    document = docx.Document(io.BytesIO(to_docx(made)))
    styles = [(each.style.name, each.text) for each in document.paragraphs if each.style]
    assert styles[:4] == [
        ("Title", "雨夜归人"),
        ("Author", "某某"),
        ("Heading 1", "第一卷"),
        ("Heading 2", "第一章"),
    ]
    assert ("Body Text", "他说“你好。”然后走了。") in styles
    assert ("Scene Break", "* * *") in styles
    assert ("Heading 3", "小节") in styles
    assert [[cell.text for cell in row.cells] for row in document.tables[0].rows] == [
        ["a", "b"],
        ["1|2", "雪"],
    ]
    first = next(each for each in document.paragraphs if each.text.startswith("他说"))
    assert [(run.text, run.bold, run.italic) for run in first.runs] == [
        ("他说", None, None),
        ("“你好。”", True, None),
        ("然后", None, None),
        ("走了", None, True),
        ("。", None, None),
    ]
    fonts = document.styles["Normal"].element.rPr.rFonts
    assert [value for key, value in fonts.attrib.items() if key.endswith("eastAsia")] == ["宋体"]
    assert (document.core_properties.title, document.core_properties.author) == ("雨夜归人", "某某")
    assert not any(
        "evil" in each.target_ref for each in document.part.rels.values() if each.is_external
    )


def test_each_numbered_list_begins_anew() -> None:
    (section,) = back(
        "docx", book(("第一章", "1. a\n2. b\n\n雨\n\n1. c\n\n雪\n\n7. d\n8. e"))
    ).sections
    assert section.text.split("\n\n") == ["1. a", "2. b", "雨", "1. c", "雪", "7. d", "8. e"]


XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"


def test_an_epub_has_the_structure_of_version_3() -> None:
    made = book(
        ("序章", "零"), ("第一卷 <风>", "", "part"), ("第一章", MARKED), ("第二卷", "", "part"), ("第一章", "二"),
        author="A & B",
    )  # fmt: skip
    with zipfile.ZipFile(io.BytesIO(to_epub(made))) as package:
        first = package.infolist()[0]
        assert (first.filename, first.compress_type, first.extra) == (
            "mimetype",
            zipfile.ZIP_STORED,
            b"",
        )
        assert package.read("mimetype") == b"application/epub+zip"
        names = package.namelist()
        container = ElementTree.fromstring(package.read("META-INF/container.xml"))
        (root,) = (
            each.get("full-path") for each in container.iter() if each.tag.endswith("rootfile")
        )
        opf = ElementTree.fromstring(package.read(root or ""))
        pages = {
            name: ElementTree.fromstring(package.read(name))
            for name in names
            if name.endswith((".xhtml", ".ncx"))
        }
    assert opf.get("version") == "3.0"
    metadata = opf.find(f"{OPF}metadata")
    assert metadata is not None
    identifiers = metadata.findall(f"{DC}identifier")
    assert [each.get("id") for each in identifiers] == [opf.get("unique-identifier")]
    assert metadata.findtext(f"{DC}title") == "雨夜归人"
    assert metadata.findtext(f"{DC}language") == "zh"
    assert metadata.findtext(f"{DC}creator") == "A & B"
    modified = [each.text for each in metadata if each.get("property") == "dcterms:modified"]
    assert len(modified) == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", modified[0] or "")
    items = {each.get("id"): each for each in opf.iter(f"{OPF}item")}
    assert {f"EPUB/{each.get('href')}" for each in items.values()} == {
        name for name in names if name.startswith("EPUB/") and not name.endswith(".opf")
    }
    assert [each.get("href") for each in items.values() if each.get("properties") == "nav"] == [
        "nav.xhtml"
    ]
    spine = [items[each.get("idref")].get("href") for each in opf.iter(f"{OPF}itemref")]
    assert spine == [
        "title.xhtml",
        "c00001.xhtml",
        "c00002.xhtml",
        "c00003.xhtml",
        "c00004.xhtml",
        "c00005.xhtml",
    ]
    nav = pages["EPUB/nav.xhtml"].find(f".//{XHTML}nav/{XHTML}ol")
    assert nav is not None
    listed = [
        (each[0].text, [sub[0].text for sub in each.iter(f"{XHTML}li") if sub is not each])
        for each in nav
    ]
    assert listed == [("序章", []), ("第一卷 <风>", ["第一章"]), ("第二卷", ["第一章"])]
    links = [each.get("href") for each in pages["EPUB/nav.xhtml"].iter(f"{XHTML}a")]
    assert links == spine[1:]
    assert all(
        each.get("src") is None for page in pages.values() for each in page.iter(f"{XHTML}img")
    )


@pytest.mark.parametrize("extension", EXPORTS)
def test_an_empty_book_is_a_file(extension: str) -> None:
    assert EXPORTS[extension](book())
    assert EXPORTS[extension](book(("", "")))


TEXTS = st.lists(
    st.text(alphabet="雨夜归人他说：“走吧。”，…— abc'XYZ.1", min_size=1, max_size=30).map(lambda line: " ".join(line.split())).filter(bool),
    min_size=1,
    max_size=6,
)  # fmt: skip
PROSE = TEXTS.map(lambda lines: "\n\n".join(f"雨{line}。" for line in lines))
TITLES = st.text(alphabet="雨夜归人abc XYZ", max_size=8).map(lambda text: " ".join(text.split()))


def numbered(titles: list[tuple[str, str]], language: str) -> list[tuple[str, str]]:
    pack = PACKS["zh" if language == "zh" else "en"]
    words = "第{}章 {}" if language == "zh" else "Chapter {}: {}"
    return [
        (words.format(pack.write_number(at), title or "雨"), text)
        for at, (title, text) in enumerate(titles, 1)
    ]


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(TITLES, PROSE), min_size=1, max_size=4), st.sampled_from(["zh", "en"]))
def test_AR_5_what_is_exported_comes_back(titles: list[tuple[str, str]], language: str) -> None:
    parts = numbered(titles, language)
    made = book(*parts, author="某某")
    for extension in EXPORTS:
        document = back(extension, made)
        assert [(section.title, section.text) for section in document.sections] == parts, extension
        assert (document.title, document.author) == ("雨夜归人", "某某")


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zs", "Zl", "Zp", "Cf"]), min_size=1, max_size=30)
        .map(str.strip).filter(lambda line: line and not line.startswith("雨")),
        min_size=2, max_size=5, unique=True,
    )
)  # fmt: skip
def test_AR_5_any_title_and_no_character_is_lost(lines: list[str]) -> None:
    """Marks in the text are marks, and may be written in another way; every other character comes back."""
    marks = re.compile(r"[\W_\d]+")
    made = book(*((f"第{at}章 {line}", line) for at, line in enumerate(lines, 1)))
    for extension in ("md", "docx", "epub"):
        sections = back(extension, made).sections
        assert [section.title for section in sections] == [
            f"第{at}章 {line}" for at, line in enumerate(lines, 1)
        ]
        for section, line in zip(sections, lines, strict=True):
            assert marks.sub("", section.text) == marks.sub("", line)


@settings(max_examples=20, deadline=None)
@given(st.text(alphabet="*_`[]()#>|~+-\\1.!: 雨a", min_size=1, max_size=30).filter(str.strip))
def test_AR_5_marks_in_plain_text_survive_a_journey(line: str) -> None:
    """What a docx holds as plain text is read, exported and read again without a change."""
    writer = docx.Document()
    writer.add_paragraph("雨" + line)
    writer.add_paragraph(line)
    buffer = io.BytesIO()
    writer.save(buffer)
    (section,) = read_document("x.docx", buffer.getvalue()).sections
    for extension in ("docx", "epub"):
        (again,) = back(extension, book(("第一章", section.text))).sections
        # Pages know single blanks only.
        expected = re.sub(" +", " ", section.text) if extension == "epub" else section.text
        assert again.text == expected, extension


NAMES = {
    "第一章.md": "第一章.md",
    "a/b.md": "a/b.md",
    "/etc/passwd": "etc/passwd",
    "../../x": "x",
    "a/../b": "a/b",
    "C:\\x\\y.txt": "C_/x/y.txt",
    'a<b>:"|?*.md': "a_b______.md",
    "con.txt": "_con.txt",
    "a\0b\n.md": "a_b_.md",
    "trailing. ": "trailing",
    "": "_",
    "..": "_",
    "雨" * 200 + ".md": "雨" * 65 + ".md",
}


@pytest.mark.parametrize("path", NAMES)
def test_names_in_a_zip_are_safe(path: str) -> None:
    assert safe_path(path) == NAMES[path]


def pieces_of(files: list[tuple[str, bytes]]) -> list[bytes]:
    with Zip() as package:
        return [*(package.add(path, data) for path, data in files), package.end()]


@given(st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=50)), max_size=8))
def test_a_project_as_a_zip(files: list[tuple[str, bytes]]) -> None:
    data = b"".join(pieces_of(files))
    assert data == b"".join(pieces_of(files))
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        assert package.testzip() is None
        names = package.namelist()
        assert [package.read(name) for name in names] == [content for _, content in files]
    assert len({name.casefold() for name in names}) == len(files)
    assert all(name and not name.startswith("/") and ".." not in name.split("/") for name in names)
    for _ in read_archive(data):
        pass


def test_a_zip_is_sent_while_it_is_made() -> None:
    pieces = pieces_of([(f"{name}.txt", b"x" * 1000) for name in "abc"])
    assert [piece.count(b"PK\3\4") for piece in pieces] == [1, 1, 1, 0]
    assert [f"{name}.txt".encode() in pieces[at] for at, name in enumerate("abc")] == [True] * 3
