"""Text and the bytes it is kept as: UTF-8 with everything in it, or not at all."""

from __future__ import annotations

from .errors import WorkspaceError

_BINARY = "it is binary"


def decode(data: bytes, path: str) -> str:
    """UTF-8 text with everything in it. Raises `WorkspaceError` "file_not_text"."""
    if b"\0" in data:
        raise WorkspaceError("file_not_text", path=path, problem=_BINARY)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        problem = f"byte {error.start + 1} is in another encoding"
        raise WorkspaceError("file_not_text", path=path, problem=problem) from None


def encode(text: str, path: str, limit_bytes: int) -> bytes:
    """The bytes of a text that can be kept. Raises `WorkspaceError` "file_not_text" for what could not
    be read again as text, "file_too_large"."""
    if "\0" in text:
        raise WorkspaceError("file_not_text", path=path, problem=_BINARY)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        problem = "it holds half of a surrogate pair"
        raise WorkspaceError("file_not_text", path=path, problem=problem) from None
    if len(data) > limit_bytes:
        raise WorkspaceError("file_too_large", path=path, limit=limit_bytes)
    return data
