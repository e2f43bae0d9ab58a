"""Documents made by hand for the tests: zips with any names, docx and epub from their XML."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def zipped(files: Mapping[str, str | bytes], *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as package:
        for name, content in files.items():
            package.writestr(name, content)
    return buffer.getvalue()


def relations(*rows: tuple[str, str, str]) -> str:
    """Id, kind, target; a target with a colon is outside."""
    inner = "".join(
        f'<Relationship Id="{identity}" Type="{_REL}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if ":" in target else "/>")
        for identity, kind, target in rows
    )
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f"{inner}</Relationships>"
    )


def docx_parts(
    body: str,
    *,
    styles: str = "",
    numbering: str = "",
    footnotes: str = "",
    links: tuple[tuple[str, str], ...] = (),
    main_type: str = _MAIN_TYPE,
) -> dict[str, str | bytes]:
    """The parts of a docx whose body is WordprocessingML."""
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        f'<Override PartName="/word/document.xml" ContentType="{main_type}"/></Types>',
        "_rels/.rels": relations(("rId1", "officeDocument", "word/document.xml")),
        "word/document.xml": f"<w:document {W} {R}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relations(
            ("s", "styles", "styles.xml"),
            ("n", "numbering", "numbering.xml"),
            ("f", "footnotes", "footnotes.xml"),
            *((identity, "hyperlink", target) for identity, target in links),
        ),
    }
    for name, inner in (("styles", styles), ("numbering", numbering), ("footnotes", footnotes)):
        if inner:
            parts[f"word/{name}.xml"] = f"<w:{name} {W}>{inner}</w:{name}>"
    return parts


def docx(body: str, **more: str) -> bytes:
    return zipped(docx_parts(body, **more))  # type: ignore[arg-type]


def paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def epub_parts(
    pages: Mapping[str, str],
    *,
    nav: str = "",
    title: str = "书",
    encryption: str = "",
    prefix: str = "",
) -> dict[str, str | bytes]:
    """The parts of an epub whose pages are the inside of `body`; `nav` is the inside of its toc."""
    names = [*pages, *(["nav.xhtml"] if nav else [])]
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"'
        + (' properties="nav"/>' if name == "nav.xhtml" else "/>")
        for name in names
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in pages)
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>',
        "OEBPS/content.opf": '<package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" version="3.0"><metadata>'
        f"<dc:title>{title}</dc:title><dc:creator>某某</dc:creator></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    for name, body in pages.items():
        parts[f"OEBPS/{name}"] = (
            f'{prefix}<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head>'
            f"<body>{body}</body></html>"
        )
    if nav:
        parts["OEBPS/nav.xhtml"] = (
            '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops">'
            f'<body><nav epub:type="toc"><ol>{nav}</ol></nav></body></html>'
        )
    if encryption:
        parts["META-INF/encryption.xml"] = (
            '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
            f'<enc:EncryptionMethod Algorithm="{encryption}"/></enc:EncryptedData></encryption>'
        )
    return parts


def epub(pages: Mapping[str, str], **more: str) -> bytes:
    return zipped(epub_parts(pages, **more))
