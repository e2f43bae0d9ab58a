"""What a file is, by its content: the name is only a hint."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, get_args

TextFormat: TypeAlias = Literal["txt", "md", "html"]
Format: TypeAlias = Literal["txt", "md", "html", "docx", "epub"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)

_EXTENSIONS: Final[dict[str, Format]] = {
    "txt": "txt",
    "text": "txt",
    "md": "md",
    "markdown": "md",
    "mdown": "md",
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "docx": "docx",
    "docm": "docx",
    "dotx": "docx",
    "dotm": "docx",
    "epub": "epub",
}

# What begins like this is no text, whatever it is called; "zip" and "ole" are looked into.
_MAGIC: Final[tuple[tuple[bytes, str], ...]] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "ole"),
    (b"%PDF-", "PDF"),
    (b"{\\rtf", "RTF"),
    (b"\x89PNG\r\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"RIFF", "RIFF"),
    (b"Rar!\x1a", "RAR"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x1f\x8b\x08", "gzip"),
    (b"BZh9", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x7fELF", "ELF"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"ID3", "MP3"),
    (b"OggS", "Ogg"),
    (b"ITSF", "CHM"),
)
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,500}?-->\s*)*<(?:!doctype\s+html|html)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_CHARSET = re.compile(rb"(?:charset|encoding)\s{0,9}=\s{0,9}[\"']?([\w-]{2,20})", re.IGNORECASE)
_KIND_AT = 60  # a Mobipocket book names itself in the middle of its header


def named_format(name: str) -> Format | None:
    """The format that the name claims, or None."""
    _, dot, extension = name.rpartition(".")
    return _EXTENSIONS.get(extension.lower()) if dot else None


def extension_of(name: str) -> str:
    """What stands after the last dot, in small letters; "" if there is no dot."""
    _, dot, extension = name.rpartition(".")
    return extension.lower() if dot else ""


def sniff(data: bytes) -> str | None:
    """ "zip", "ole", "html", the name of a format that is not read, or None for what may be text."""
    for magic, found in _MAGIC:
        if data.startswith(magic):
            return found
    if data[_KIND_AT : _KIND_AT + 8] == b"BOOKMOBI":
        return "MOBI"
    return "html" if _HTML.match(data[:2_000]) else None


def declared_encoding(page: bytes) -> str:
    """The encoding that an HTML page names, "" if it names none."""
    found = _CHARSET.search(page[:2_000])
    return found[1].decode().lower() if found else ""


def is_encrypted_ole(data: bytes) -> bool:
    """Whether a compound file is a newer Office document under a password."""
    return "EncryptedPackage".encode("utf-16-le") in data
