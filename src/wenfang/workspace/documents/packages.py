"""Zip packages from strangers: docx, epub and archives. Nothing is unpacked before its claim is checked,
nothing is written anywhere, and the names inside are only names."""

from __future__ import annotations

import io
import lzma
import re
import stat
import struct
import zipfile
import zlib
from dataclasses import dataclass
from typing import Final

from wenfang.problems import Problem

from .limits import Budget

_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,  # zipfile's word for a compression that it does not know
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
_END = struct.Struct("<4s4H2LH")
_ENTRY_BYTES = 46
_LONGEST_NAME_BYTES = 1_000
_ENCRYPTED = 0x1
_UTF8 = 0x800
_DRIVE = re.compile(r"[A-Za-z]:")
_CHUNK_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Package:
    """An opened zip. `names` are its files in their stored order."""

    _zip: zipfile.ZipFile
    _entries: dict[str, zipfile.ZipInfo]
    _budget: Budget

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def read(self, name: str) -> bytes:
        """The unpacked part, within the budget. Raises `Problem`; `KeyError` if there is none."""
        entry = self._entries[name]
        budget = self._budget
        budget.check_part(name, entry.file_size, entry.compress_size)
        chunks: list[bytes] = []
        try:
            with self._zip.open(entry) as file:
                while chunk := file.read(_CHUNK_BYTES):
                    budget.unpack(len(chunk))
                    chunks.append(chunk)
        except _BROKEN as error:
            raise Problem("document_damaged", name=budget.name, part=name) from error
        return b"".join(chunks)


def open_package(data: bytes, budget: Budget) -> Package:
    """Raises `Problem`: `document_damaged`, `document_entries`, `document_encrypted`, `document_unsafe`."""
    _check_end(data, budget)
    try:
        package = zipfile.ZipFile(io.BytesIO(data))
    except _BROKEN as error:
        raise Problem("document_damaged", name=budget.name, part="") from error
    budget.check_entries(len(package.infolist()))
    entries: dict[str, zipfile.ZipInfo] = {}
    for entry in package.infolist():
        name = _name(entry)
        if entry.flag_bits & _ENCRYPTED:
            raise Problem("document_encrypted", name=budget.name)
        if _is_unsafe(name, entry) or name in entries:
            raise Problem("document_unsafe", name=budget.name, part=name[:200])
        if not name.endswith("/"):
            entries[name] = entry
    return Package(package, entries, budget)


def _check_end(data: bytes, budget: Budget) -> None:
    """The directory's size before it is read: a million entries would cost seconds each time."""
    at = data.rfind(b"PK\x05\x06")
    if at < 0 or len(data) - at < _END.size:
        raise Problem("document_damaged", name=budget.name, part="")
    directory_bytes: int = _END.unpack_from(data, at)[5]
    if directory_bytes > budget.limits.max_entries * (_ENTRY_BYTES + _LONGEST_NAME_BYTES):
        budget.check_entries(directory_bytes // _ENTRY_BYTES)


def _name(entry: zipfile.ZipInfo) -> str:
    """Names without the UTF-8 flag are in the packer's own encoding; Chinese Windows writes GBK."""
    name = entry.orig_filename
    if not entry.flag_bits & _UTF8 and not name.isascii():
        raw = name.encode("cp437")
        for encoding in ("utf-8", "gb18030"):
            try:
                name = raw.decode(encoding)
                break
            except UnicodeDecodeError:
                continue
    return name.replace("\\", "/")


def _is_unsafe(name: str, entry: zipfile.ZipInfo) -> bool:
    """Whether the entry would leave its folder if somebody unpacked it, or is no plain file."""
    mode = entry.external_attr >> 16
    is_special = stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR)
    leaves = name.startswith("/") or _DRIVE.match(name) is not None or ".." in name.split("/")
    return is_special or leaves or not name or "\0" in name
