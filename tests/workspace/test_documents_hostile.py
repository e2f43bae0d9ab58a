"""Hostile uploads (tools.md §4.2, §6.3, studio.md upload): a clear error with a stable code, or the right text."""

from __future__ import annotations

import io
import random
import stat
import struct
import time
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.workspace.documents_made import (
    W,
    docx,
    docx_parts,
    epub,
    epub_parts,
    paragraph,
    relations,
    zipped,
)

from wenfang.problems import Problem
from wenfang.workspace.documents import (
    Document,
    ImportLimits,
    read_archive,
    read_document,
    read_files,
)

ENTITIES = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
ZIPPED_XML = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def with_part(name: str, content: str | bytes, body: str = paragraph("雨")) -> bytes:
    return zipped({**docx_parts(body), name: content})


def document_xml(prefix: str, text: str) -> bytes:
    xml = f"{prefix}<w:document {W}><w:body>{paragraph(text)}</w:body></w:document>"
    return with_part("word/document.xml", xml)


def lying(data: bytes) -> bytes:
    """A zip whose directory says that each part unpacks to ten bytes."""
    at = 0
    out = bytearray(data)
    while (at := data.find(b"PK\x01\x02", at)) >= 0:
        struct.pack_into("<I", out, at + 24, 10)
        at += 4
    return bytes(out)


def with_flag(data: bytes, flag: int) -> bytes:
    """Sets a general purpose bit of all entries."""
    out = bytearray(data)
    for mark, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            out[at + place] |= flag
    return bytes(out)


def link() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        info = zipfile.ZipInfo("a.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        package.writestr(info, "/etc/passwd")
    return buffer.getvalue()


def twice() -> bytes:
    return zipped({"a.txt": "good", "b.txt": "evil"}).replace(b"b.txt", b"a.txt")


def many_entries(count: int) -> bytes:
    return zipped({f"{number}.txt": "" for number in range(count)}, method=zipfile.ZIP_STORED)


def big_directory() -> bytes:
    """An end record that claims a directory of 4 GB."""
    return (
        b"PK\x03\x04"
        + bytes(100)
        + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, 0xFFFFFFF0, 0, 0)
    )


HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "zero bytes": ("a.txt", lambda: b"", "document_empty"),
    "blanks only": ("a.txt", lambda: b" \r\n\t\r\n", "document_empty"),
    "a mark only": ("a.txt", lambda: b"\xef\xbb\xbf", "document_empty"),
    "zeros only": ("a.txt", lambda: bytes(5_000), "document_empty"),
    "too many bytes": ("a.txt", lambda: b"a" * 100_000_001, "document_too_large"),
    "100 MB of text": ("a.txt", lambda: b"abc def.\n" * 11_000_000, "document_too_long"),
    "too many lines": ("a.txt", lambda: b"a" + b"\n" * 2_000_000 + b"b", "document_lines"),
    "picture as txt": ("a.txt", lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), "document_unsupported"),
    "program as txt": ("a.txt", lambda: b"\x7fELF" + bytes(range(256)) * 4, "document_unsupported"),
    "noise as txt": ("a.txt", lambda: bytes(range(256)) * 40, "document_not_text"),
    "zip as txt": ("a.txt", lambda: zipped({"a.txt": "x"}), "document_is_archive"),
    "pdf": ("a.pdf", lambda: b"%PDF-1.7\n" + bytes(50), "document_unsupported"),
    "pdf as docx": ("a.docx", lambda: b"%PDF-1.7\n" + bytes(50), "document_unsupported"),
    "rtf as doc": ("a.doc", lambda: b"{\\rtf1\\ansi hello}", "document_unsupported"),
    "old Word": ("a.doc", lambda: OLE, "document_old_word"),
    "old Word as docx": ("a.docx", lambda: OLE, "document_old_word"),
    "docx under a password": (
        "a.docx",
        lambda: OLE + "EncryptedPackage".encode("utf-16-le"),
        "document_encrypted",
    ),
    "zip under a password": (
        "a.docx",
        lambda: with_flag(docx(paragraph("雨")), 1),
        "document_encrypted",
    ),
    "workbook as docx": (
        "a.docx",
        lambda: zipped({**docx_parts("", main_type=ZIPPED_XML)}),
        "document_unsupported",
    ),
    "odt": (
        "a.odt",
        lambda: zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "x"}),
        "document_unsupported",
    ),
    "docx cut in half": ("a.docx", lambda: docx(paragraph("雨"))[:300], "document_damaged"),
    "docx without its end": ("a.docx", lambda: docx(paragraph("雨"))[:-30], "document_damaged"),
    "docx with a flipped byte": (
        "a.docx",
        lambda: (lambda data: data[:45] + bytes([data[45] ^ 0xFF]) + data[46:])(
            docx(paragraph("雨"))
        ),
        "document_damaged",
    ),
    "docx without its document": (
        "a.docx",
        lambda: zipped({"[Content_Types].xml": "<Types/>", "_rels/.rels": relations()}),
        "document_damaged",
    ),
    "docx with broken markup": (
        "a.docx",
        lambda: with_part("word/document.xml", "<w:document"),
        "document_damaged",
    ),
    "docx without text": ("a.docx", lambda: docx(paragraph("  ")), "document_empty"),
    "entities": ("a.docx", lambda: document_xml(ENTITIES, "&c;"), "document_unsafe"),
    "entity outside": ("a.docx", lambda: document_xml(OUTSIDE, "&a;"), "document_unsafe"),
    "entities in UTF-16": (
        "a.docx",
        lambda: with_part(
            "word/document.xml",
            f'<?xml version="1.0" encoding="UTF-16"?>{OUTSIDE}<w:document {W}/>'.encode("utf-16"),
        ),
        "document_unsafe",
    ),
    "entities in an epub": (
        "a.epub",
        lambda: epub({"a.xhtml": "<p>&c;</p>"}, prefix=ENTITIES),
        "document_unsafe",
    ),
    "entity outside in an epub": (
        "a.epub",
        lambda: epub({"a.xhtml": "<p>&a;</p>"}, prefix=OUTSIDE),
        "document_unsafe",
    ),
    "bomb of one text": (
        "a.docx",
        lambda: docx(paragraph("a" * 30_000_000)),
        "document_bomb",
    ),
    "bomb of a huge part": (
        "a.docx",
        lambda: docx(paragraph("a" * 40_000_000)),
        "document_part_too_large",
    ),
    "bomb of paragraphs": ("a.docx", lambda: docx("<w:p/>" * 3_000_000), "document_bomb"),
    "bomb in an epub": (
        "a.epub",
        lambda: epub({"a.xhtml": "<p>" + "a" * 20_000_000}),
        "document_bomb",
    ),
    "bomb that lies about its size": (
        "a.docx",
        lambda: lying(docx(paragraph("a" * 9_000_000))),
        "document_damaged",
    ),
    "elements inside each other": ("a.docx", lambda: docx("<w:x>" * 50_000), "document_depth"),
    "html inside each other": (
        "a.html",
        lambda: b"<html>" + b"<b>" * 100_000 + b"</p>" * 100_000,
        "document_depth",
    ),
    "too many entries": ("a.docx", lambda: many_entries(10_001), "document_entries"),
    "a directory of gigabytes": ("a.docx", big_directory, "document_entries"),
    "path that leads outside": ("a.docx", lambda: with_part("../evil.txt", "x"), "document_unsafe"),
    "path with backslashes": ("a.docx", lambda: with_part("..\\evil.txt", "x"), "document_unsafe"),
    "absolute path": (
        "a.epub",
        lambda: zipped({**epub_parts({"a.xhtml": "x"}), "/etc/x": "x"}),
        "document_unsafe",
    ),
    "drive": (
        "a.epub",
        lambda: zipped({**epub_parts({"a.xhtml": "x"}), "C:/x": "x"}),
        "document_unsafe",
    ),
    "link": ("a.docx", link, "document_unsafe"),
    "a name twice": ("a.docx", twice, "document_unsafe"),
    "epub under DRM": (
        "a.epub",
        lambda: epub({"a.xhtml": "x"}, encryption="http://www.w3.org/2001/04/xmlenc#aes128-cbc"),
        "document_encrypted",
    ),
    "epub without its description": (
        "a.epub",
        lambda: zipped({"META-INF/container.xml": "<container/>"}),
        "document_damaged",
    ),
    "epub without pages": ("a.epub", lambda: epub({}), "document_empty"),
    "html without text": ("a.html", lambda: b"<html><script>x()</script></html>", "document_empty"),
}


def code_of(read: Callable[[], Any]) -> str:
    with pytest.raises(Problem) as caught:
        read()
    problem = caught.value
    for language in ("zh", "en"):
        text = problem.text(language)
        assert text
        assert "{" not in text
    return problem.code


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_gives_a_problem(name: str) -> None:
    file, make, code = HOSTILE[name]
    data = make()
    began = time.process_time()
    assert code_of(lambda: read_document(file, data)) == code
    assert time.process_time() - began < 5, "hostile files are refused before they cost much"


def text_of(document: Document) -> str:
    return "\n".join(filter(None, (line for s in document.sections for line in (s.title, s.text))))


# file, bytes, the text, warnings
HARMLESS: dict[str, tuple[str, Callable[[], bytes], str, list[str]]] = {
    "macros": (
        "a.docm",
        lambda: with_part("word/vbaProject.bin", OLE),
        "雨",
        ["macros_dropped"],
    ),
    "docx as txt": ("a.txt", lambda: docx(paragraph("雨")), "雨", ["type_differs"]),
    "txt as docx": ("a.docx", lambda: "雨夜归人".encode(), "雨夜归人", ["type_differs"]),
    "html as txt": ("a.txt", lambda: b"<!DOCTYPE html><p>rain", "rain", ["type_differs"]),
    "epub as zip": ("a.zip", lambda: epub({"a.xhtml": "<p>雨</p>"}), "雨", []),
    "link to a file": (
        "a.docx",
        lambda: zipped(
            docx_parts(
                '<w:p><w:hyperlink r:id="l"><w:r><w:t>雨</w:t></w:r></w:hyperlink></w:p>',
                links=(("l", "file:///etc/passwd"),),
            )
        ),
        "雨",
        ["links_dropped"],
    ),
    "script in html": ("a.html", lambda: "<html><p>雨<script>x()</script><style>y</style>".encode(), "雨", []),
    "link to a script": ("a.html", lambda: '<html><a href="javascript:x()">雨</a>'.encode(), "雨", ["links_dropped"]),
    "picture from outside": (
        "a.html",
        lambda: '<html><p>雨<img src="http://evil.example/x.png" alt="夜">'.encode(),
        "雨夜",
        ["images_dropped"],
    ),
    "comment without an end": ("a.html", lambda: "<html><p>雨</p>".encode() + b"<!--" * 50_000, "雨", []),
    "object": (
        "a.docx",
        lambda: docx(paragraph("雨") + "<w:p><w:r><w:object/></w:r></w:p>"),
        "雨",
        ["objects_dropped"],
    ),
    "page of an epub that is not well-formed": (
        "a.epub",
        lambda: epub({"a.xhtml": "<p>雨<br>夜</p><p>归 & 人"}),
        "雨\n夜\n\n归 & 人",
        ["markup_repaired"],
    ),
    "page of an epub that is missing": (
        "a.epub",
        lambda: zipped(
            {k: v for k, v in epub_parts({"a.xhtml": "<p>雨</p>", "b.xhtml": "x"}).items() if "b.x" not in k}
        ),
        "雨",
        ["parts_missing"],
    ),
    "scrambled fonts in an epub": (
        "a.epub",
        lambda: epub({"a.xhtml": "<p>雨</p>"}, encryption="http://www.idpf.org/2008/embedding"),
        "雨",
        [],
    ),
    "names for characters": (
        "a.epub",
        lambda: epub({"a.xhtml": "<p>a&nbsp;b&mdash;c&hellip;</p>"}, prefix="<!DOCTYPE html>"),
        "a\xa0b—c…",
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS)
def test_a_strange_file_gives_its_text(name: str) -> None:
    file, make, text, warnings = HARMLESS[name]
    document = read_document(file, make())
    assert text_of(document) == text
    assert [each.code for each in document.warnings] == warnings
    assert all(each.text("zh") and each.text("en") for each in document.warnings)


def noise(count: int) -> str:
    """Text that does not pack well."""
    return "".join(random.Random(2).choices([chr(code) for code in range(0x4E00, 0x9FA5)], k=count))


# What costs the square of its length in a careless reader.
LONG: dict[str, tuple[str, Callable[[], bytes]]] = {
    "anchors in a paragraph": ("a.html", lambda: b"<html><p>" + b"<a id=x></a>y" * 60_000),
    "paragraphs in a cell": ("a.html", lambda: b"<html><table><tr><td>a<td>" + b"<p>y" * 60_000),
    "pieces of a title": ("a.html", lambda: b"<html><title>" + b"&amp;" * 300_000 + b"</title>x"),
    "blanks in a heading": ("a.md", lambda: b"# a" + b" " * 500_000 + b"x\n"),
    "brackets": ("a.docx", lambda: docx(paragraph(noise(100_000) + "[" * 300_000))),
    "runs of a paragraph": ("a.docx", lambda: docx(f"<w:p>{'<w:r><w:t>雨</w:t></w:r>'.join(noise(40_000))}</w:p>")),
    "blanks before markup": ("a.html", lambda: b"<html>" + b" " * 1_000_000 + b"x"),
    "headings": ("a.txt", lambda: "第一章\n".encode() * 30_000),
    "numbers": ("a.txt", lambda: b"".join(b"%d\n\n" % number for number in range(1, 30_000))),
    "separators": ("a.txt", lambda: b"Chapter 1\n\n---\n\n" * 20_000),
}  # fmt: skip


@pytest.mark.alone
@pytest.mark.parametrize("name", LONG)
def test_work_is_linear(name: str) -> None:
    file, make = LONG[name]
    data = make()
    began = time.process_time()
    assert text_of(read_document(file, data))
    assert time.process_time() - began < 5


def test_limits_name_their_values() -> None:
    with pytest.raises(Problem) as caught:
        read_document("a.txt", b"abcdef", ImportLimits(max_chars=5))
    assert caught.value.params == {"name": "a.txt", "value": 6, "limit": 5}


def test_elements_are_limited() -> None:
    few = ImportLimits(max_elements=1_000)
    assert (
        code_of(lambda: read_document("a.docx", docx(paragraph("雨") * 600), few))
        == "document_elements"
    )
    assert (
        code_of(lambda: read_document("a.html", b"<html>" + b"<p>x" * 2_000, few))
        == "document_elements"
    )


def outcomes(files: Any) -> dict[str, str]:
    return {path: got.code if isinstance(got, Problem) else text_of(got) for path, got in files}


def test_one_bad_file_does_not_stop_an_archive() -> None:
    data = zipped(
        {
            "书/第10章.txt": "十",
            "书/第2章.txt": "二".encode("gbk"),
            "书/图.png": b"\x89PNG\r\n\x1a\n",
            "书/雪.docx": docx(paragraph("雪")),
            "书/空.txt": "",
            "内.zip": zipped({"a.txt": "x"}),
            "__MACOSX/._a.txt": "x",
            ".DS_Store": "x",
        }
    )
    assert outcomes(read_archive(data)) == {
        "书/第2章.txt": "二",
        "书/第10章.txt": "十",
        "书/图.png": "document_unsupported",
        "书/雪.docx": "雪",
        "书/空.txt": "document_empty",
        "内.zip": "document_nested",
    }
    paths = [path for path, _ in read_archive(data)]
    assert paths.index("书/第2章.txt") < paths.index("书/第10章.txt")


def test_names_of_chinese_windows_are_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as package:
        package.writestr("XXYY.txt", "雨")
    data = buffer.getvalue().replace(b"XXYY", "雨夜".encode("gbk"))
    assert outcomes(read_archive(data)) == {"雨夜.txt": "雨"}


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: b"not a zip", "document_not_archive"),
        (lambda: b"", "document_not_archive"),
        (lambda: zipped({"a/../../b.txt": "x"}), "document_unsafe"),
        (lambda: zipped({"\\\\host\\b.txt": "x"}), "document_unsafe"),
        (link, "document_unsafe"),
        (twice, "document_unsafe"),
        (lambda: with_flag(zipped({"a.txt": "x"}), 1), "document_encrypted"),
        (lambda: zipped({"a.txt": "x" * 100})[:-40], "document_damaged"),
        (lambda: many_entries(10_001), "document_entries"),
        (lambda: zipped({f"{n}.txt": "a" * 31_000_000 for n in range(2)}), "document_bomb"),
    ],
)
def test_a_hostile_archive_gives_a_problem(make: Callable[[], bytes], code: str) -> None:
    data = make()
    assert code_of(lambda: list(read_archive(data))) == code


def test_the_limits_of_an_archive_are_of_all_files() -> None:
    files = {f"{number}.txt": "雨" * 100 for number in range(10)}
    limits = ImportLimits(max_chars=550)
    assert code_of(lambda: list(read_archive(zipped(files), limits))) == "document_too_long"
    folder = [(name, text.encode()) for name, text in files.items()]
    assert code_of(lambda: list(read_files(folder, limits))) == "document_too_long"
    nested = zipped({"a.docx": docx(paragraph("雨" * 500)), "b.docx": docx(paragraph("雨" * 500))})
    assert (
        code_of(lambda: list(read_archive(nested, ImportLimits(max_unpacked_bytes=4_000))))
        == "document_unpacked"
    )


def test_a_folder_is_read_in_its_order() -> None:
    files = [("b.txt", b"b"), ("a.txt", b"a"), (".git/x", b"x"), ("c.png", b"\x89PNG\r\n")]
    assert outcomes(read_files(files)) == {
        "b.txt": "b",
        "a.txt": "a",
        "c.png": "document_unsupported",
    }


GOOD = [
    ("a.docx", docx(paragraph("第一章", "x") + paragraph("雨夜归人"))),
    (
        "a.epub",
        epub({"a.xhtml": "<h1>第一章</h1><p>雨</p>"}, nav='<li><a href="a.xhtml">第一章</a></li>'),
    ),
    ("a.html", "<html><h1>雨</h1><table><tr><td>a<td>b</table><ol start=3><li>x".encode()),
    ("a.md", "# 雨\n\n```\n# x\n```\n".encode()),
]


@given(st.sampled_from(GOOD), st.data())
def test_no_damage_makes_anything_but_a_problem(
    file: tuple[str, bytes], data: st.DataObject
) -> None:
    name, content = file
    place = data.draw(st.integers(0, len(content)))
    size = data.draw(st.integers(0, 20))
    damaged = content[:place] + data.draw(st.binary(max_size=20)) + content[place + size :]
    try:
        document = read_document(name, damaged)
    except Problem as problem:
        assert problem.code.startswith("document_")  # noqa: PT017
    else:
        assert isinstance(document, Document)


@given(st.text(alphabet='<>/"=!-?[]abp &;#\n雨', max_size=200))
def test_no_markup_makes_anything_but_a_problem(markup: str) -> None:
    for name, content in (
        ("a.html", b"<html>" + markup.encode()),
        ("a.docx", with_part("word/document.xml", markup)),
        ("a.epub", epub({"a.xhtml": markup})),
    ):
        try:
            read_document(name, content)
        except Problem as problem:
            assert problem.code.startswith("document_")  # noqa: PT017
