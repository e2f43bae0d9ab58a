"""What docx, html and epub hold besides plain paragraphs (tools.md §4.1): numbering, notes, tables, changes."""

from __future__ import annotations

import io

import docx as python_docx
import pytest
from tests.workspace.documents_made import docx, docx_parts, epub, paragraph, zipped

from wenfang.workspace.documents import Document, read_document


def text_of(document: Document) -> str:
    return "\n".join(filter(None, (line for s in document.sections for line in (s.title, s.text))))


RUN = "<w:r>{0}<w:t>{1}</w:t></w:r>"


def run(text: str, properties: str = "") -> str:
    return RUN.format(f"<w:rPr>{properties}</w:rPr>" if properties else "", text)


def p(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def cell(*paragraphs: str) -> str:
    return f"<w:tc>{''.join(paragraphs)}</w:tc>"


# body of the docx -> text
BODIES: dict[str, tuple[str, str]] = {
    "bold and italics": (
        p(run("a "), run("b", "<w:b/>"), run(" c "), run("d", "<w:i/>"), run(" "), run("e", "<w:b/><w:i/>")),
        "a **b** c *d* ***e***",
    ),
    "bold that is switched off": (p(run("a", '<w:b w:val="0"/>'), run("b", '<w:i w:val="false"/>')), "ab"),
    "bold in pieces": (p(run("他", "<w:b/>"), run("说", "<w:b/>"), run("。")), "**他说**。"),
    "blanks stay outside of marks": (p(run("a"), run(" b ", "<w:b/>"), run("c")), "a **b** c"),
    "line break": (p(run("a"), "<w:r><w:br/></w:r>", run("b")), "a\nb"),
    "page break": (p(run("a"), '<w:r><w:br w:type="page"/></w:r>', run("b")), "ab"),
    "tab": (p(run("a"), "<w:r><w:tab/></w:r>", run("b"), properties='<w:tabs><w:tab w:val="left"/></w:tabs>'), "a\tb"),
    "symbol": (p(run("a"), '<w:r><w:sym w:font="Symbol" w:char="2014"/></w:r>', run("b")), "a—b"),
    "deleted and inserted": (
        p(
            run("a"),
            "<w:del><w:r><w:delText>x</w:delText></w:r></w:del>",
            f"<w:ins>{run('b')}</w:ins>",
            f"<w:moveFrom>{run('y')}</w:moveFrom>",
            f"<w:moveTo>{run('c')}</w:moveTo>",
        ),
        "abc",
    ),
    "field": (p('<w:r><w:instrText>PAGE</w:instrText></w:r>', run("7")), "7"),
    "content control": (f"<w:sdt><w:sdtContent>{p(run('a'))}</w:sdtContent></w:sdt>", "a"),
    "text box, once": (
        p(
            run("a"),
            '<w:r><mc:AlternateContent xmlns:mc="m"><mc:Choice><w:txbxContent>'
            f"{p(run('box'))}</w:txbxContent></mc:Choice><mc:Fallback><w:txbxContent>{p(run('box'))}"
            "</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r>",
            run("b"),
        ),
        "box\n\nab",
    ),
    "empty paragraphs": (p(run("a")) + p() + p(run(" ")) + p(run("b")), "a\n\nb"),
    "scene break": (p(run("a")) + p(run("* * *")) + p(run("b")), "a\n\n***\n\nb"),
    "table": (
        f"<w:tbl><w:tr>{cell(p(run('a|b')))}{cell(p())}</w:tr><w:tr>{cell(p(run('c')), p(run('d')))}{cell(p(run('e')))}</w:tr></w:tbl>",
        "| a\\|b |  |\n| --- | --- |\n| c d | e |",
    ),
    "table of one column": (
        f"<w:tbl><w:tr>{cell(p(run('a')), p(run('b')))}</w:tr></w:tbl>" + p(run("c")),
        "a b\n\nc",
    ),
    "link": (
        p(run("a "), f'<w:hyperlink r:id="l">{run("b")}</w:hyperlink>', run(" c")),
        "a [b](https://example.org/x) c",
    ),
    "marks in plain text": (p(run("1*2*3 _a_ a_b [x](y) # `c`")), "1\\*2\\*3 \\_a\\_ a_b [x]\\(y) # \\`c\\`"),
    "marks at the beginning": (p(run("# a")) + p(run("- b")) + p(run("1. c")) + p(run("> d")), "\\# a\n\n\\- b\n\n1\\. c\n\n\\> d"),
    "backslashes": (p(run("a\\ ")) + p(run("\\b \\* c")), "a\\\\\n\n\\b \\\\\\* c"),
    "quotation": (p(run("a"), properties='<w:pStyle w:val="Q"/>'), "> a"),
    "emphasis by a style": (p(run("a "), run("b", '<w:rStyle w:val="E"/>')), "a *b*"),
    "note": (
        p(run("a"), '<w:r><w:footnoteReference w:id="2"/></w:r>', run("。")) + p(run("b")),
        "a[^2]。\n\n[^2]: 注一\n\nb",
    ),
}  # fmt: skip
STYLES = (
    '<w:style w:type="paragraph" w:styleId="Q"><w:name w:val="Quote"/></w:style>'
    '<w:style w:type="character" w:styleId="E"><w:name w:val="Emphasis"/><w:rPr><w:i/></w:rPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="H"><w:name w:val="heading 1"/>'
    '<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/>'
    '<w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="2"/></w:numPr></w:pPr></w:style>'
)


@pytest.mark.parametrize("name", BODIES)
def test_docx(name: str) -> None:
    body, text = BODIES[name]
    parts = docx_parts(
        body,
        styles=STYLES,
        footnotes=f'<w:footnote w:id="2">{p(run("注一"))}</w:footnote>',
        links=(("l", "https://example.org/x"),),
    )
    assert text_of(read_document("a.docx", zipped(parts))) == text


def level(at: int, form: str, text: str, start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbering(*levels: str) -> str:
    return (
        f'<w:abstractNum w:abstractNumId="0">{"".join(levels)}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'
    )


def numbered(text: str, num: int = 1, at: int = 0) -> str:
    return p(
        run(text), properties=f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{num}"/></w:numPr>'
    )


NUMBERINGS: dict[str, tuple[str, str, str]] = {
    "decimal": (numbering(level(0, "decimal", "%1.")), numbered("a") + numbered("b"), "1. a\n\n2. b"),
    "bullets": (
        numbering(level(0, "bullet", "\uf0b7"), level(1, "bullet", "o")),
        numbered("a") + numbered("b", at=1),
        "- a\n\n   - b",
    ),
    "chinese": (numbering(level(0, "chineseCounting", "%1、", 9)), numbered("a") + numbered("b") + numbered("c"), "九、 a\n\n十、 b\n\n十一、 c"),
    "roman and letters": (
        numbering(level(0, "upperRoman", "%1."), level(1, "lowerLetter", "%2)")),
        numbered("a") + numbered("b", at=1) + numbered("c", at=1) + numbered("d") + numbered("e", at=1),
        "I. a\n\na) b\n\nb) c\n\nII. d\n\na) e",
    ),
    "levels": (
        numbering(level(0, "decimal", "%1"), level(1, "decimal", "%1.%2")),
        numbered("a") + numbered("b", at=1) + numbered("c", at=1),
        "1 a\n\n1.1 b\n\n1.2 c",
    ),
    "begun anew": (
        numbering(level(0, "decimal", "%1.")),
        numbered("a") + numbered("b", num=2) + numbered("c", num=2),
        "1. a\n\n5. b\n\n6. c",
    ),
    "none": (numbering(level(0, "none", "")), numbered("a"), "a"),
    "unknown": ("", numbered("a", num=9), "a"),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERINGS)
def test_numbers_that_word_sets_itself_are_read(name: str) -> None:
    parts, body, text = NUMBERINGS[name]
    assert text_of(read_document("a.docx", docx(body, numbering=parts))) == text


def test_headings_that_word_numbers_are_chapters() -> None:
    body = paragraph("雨", "H") + paragraph("一") + paragraph("雪", "H") + paragraph("二")
    parts = numbering(level(0, "chineseCounting", "第%1章"))
    document = read_document("a.docx", docx(body, styles=STYLES, numbering=parts))
    assert [(each.title, each.number, each.text) for each in document.sections] == [
        ("第一章 雨", 1, "一"),
        ("第二章 雪", 2, "二"),
    ]


def test_a_document_of_another_writer() -> None:
    writer = python_docx.Document()
    writer.add_heading("书名", 0)
    writer.add_heading("第一章 雨", 1)
    writer.add_paragraph("他来了。")
    writer.add_paragraph("一", style="List Bullet")
    writer.add_paragraph("二", style="List Number")
    writer.add_heading("第二章 雪", 1)
    writer.add_paragraph("引用", style="Quote")
    buffer = io.BytesIO()
    writer.save(buffer)
    document = read_document("a.docx", buffer.getvalue())
    assert document.title == "书名"
    assert [(each.title, each.text) for each in document.sections] == [
        ("第一章 雨", "他来了。\n\n- 一\n\n1. 二"),
        ("第二章 雪", "> 引用"),
    ]


# inside of the body -> text
PAGES: dict[str, tuple[str, str]] = {
    "paragraphs": ("<p>a</p><div>b<p>c</p>d</div>", "a\n\nb\n\nc\n\nd"),
    "blanks": ("<p>\n  a\n  b  </p>", "a b"),
    "break": ("<p>a<br/>b</p>", "a\nb"),
    "marks": ("<p><b>a</b> <em>b</em> <i><strong>c</strong></i> 1*2</p>", "**a** *b* ***c*** 1\\*2"),
    "lists": (
        "<ul><li>a</li><li>b<ol start='3'><li>c</li><li>d</li></ol></li></ul><p>e</p>",
        "- a\n\n- b\n\n   3. c\n\n   4. d\n\ne",
    ),
    "quotation": ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n\n> b"),
    "code": ("<pre>a *b*\n  c</pre>", "```\na *b*\n  c\n```"),
    "rule": ("<p>a</p><hr/><p>b</p>", "a\n\n***\n\nb"),
    "table": (
        "<table><tr><th>a</th><th>b</th></tr><tr><td>c|d</td><td><p>e</p><p>f</p></td></tr></table>",
        "| a | b |\n| --- | --- |\n| c\\|d | e f |",
    ),
    "link": ('<p><a href="https://x.org/">a</a> <a href="#n">b</a></p>', "[a](https://x.org/) b"),
    "hidden": ("<script>x</script><style>y</style><p>a</p><noscript>z</noscript>", "a"),
    "ruby": ("<p><ruby>雨<rp>(</rp><rt>yu</rt><rp>)</rp></ruby></p>", "雨yu"),
}  # fmt: skip


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("kind", ["html", "epub"])
def test_pages(name: str, kind: str) -> None:
    inside, text = PAGES[name]
    if kind == "html":
        document = read_document("a.html", f"<html><body>{inside}</body></html>".encode())
    else:
        document = read_document("a.epub", epub({"a.xhtml": inside}))
    assert text_of(document) == text


@pytest.mark.parametrize(
    ("text", "declared", "encoding"),
    [
        ("Дом у реки", "windows-1251", "cp1251"),
        ("雨", "gb2312", "gb18030"),
        ("雨", "nonsense", "utf-8"),
        ("雨", "hex", "utf-8"),
        ("雨夜归人", "utf-8", "gb18030"),
    ],
)
def test_the_encoding_that_a_page_names_is_believed_if_it_fits(
    text: str, declared: str, encoding: str
) -> None:
    page = f'<html><meta charset="{declared}"><p>{text}</p>'.encode(encoding)
    assert text_of(read_document("a.html", page)) == text


def test_html_says_its_title_and_its_encoding_is_found() -> None:
    page = "<html><head><meta charset='gbk'><title> 雨夜 </title></head><h1>一</h1><p>雨下着。</p><h1>二</h1>"
    document = read_document("a.html", page.encode("gbk"))
    assert document.title == "雨夜"
    assert [each.title for each in document.sections] == ["一", "二"]
