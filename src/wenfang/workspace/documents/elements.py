"""XML and HTML from strangers as a stream of elements, without a tree, an entity or a look outside."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final, Protocol

from wenfang.problems import Problem

from .limits import Budget

_CHUNK = 16_000
_XML_OWN: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})
_NAMED = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_DECLARATION = re.compile(r"\A<\?xml[^>]*\?>")


class Reader(Protocol):
    """What is told the elements in their order. Names come without namespaces, those of HTML in small
    letters."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def data(self, text: str) -> None: ...


_COUNTED_AT_ONCE = 500
_NOTHING: Final[Mapping[str, str]] = {}


@dataclass(slots=True)
class _Target:
    """Counts elements before it hands them on."""

    reader: Reader
    budget: Budget
    depth: int = 0
    uncounted: int = 0
    names: dict[Any, str] = field(default_factory=dict[Any, str])

    def start(self, tag: Any, attributes: Mapping[Any, str]) -> None:
        self.depth += 1
        self.uncounted += 1
        if self.uncounted >= _COUNTED_AT_ONCE:
            self.budget.take_elements(self.uncounted)
            self.uncounted = 0
        if self.depth > self.budget.limits.max_depth:
            self.budget.check_depth(self.depth)
        local = (
            {self._local(key): value for key, value in attributes.items()}
            if attributes
            else _NOTHING
        )
        self.reader.start(self.names.get(tag) or self._local(tag), local)

    def end(self, tag: Any) -> None:
        self.depth -= 1
        self.reader.end(self.names.get(tag) or self._local(tag))

    def data(self, data: str) -> None:
        self.reader.data(data)

    def close(self) -> None:
        self.budget.take_elements(self.uncounted)

    def _local(self, name: Any) -> str:
        local = self.names.get(name)
        if local is None:
            local = name.rpartition("}")[2] if isinstance(name, str) else ""
            if len(self.names) < _COUNTED_AT_ONCE:
                self.names[name] = local
        return local


def read_xml(
    data: bytes, reader: Reader, part: str, budget: Budget, *, may_have_doctype: bool = False
) -> None:
    """Raises `Problem`: `document_unsafe` for entities (and a DOCTYPE, unless it may have one),
    `document_damaged` for what is not well-formed."""
    defused = import_module("defusedxml.ElementTree")
    errors = import_module("defusedxml.common")
    parser = defused.DefusedXMLParser(
        target=_Target(reader, budget), forbid_dtd=not may_have_doctype
    )
    try:
        parser.feed(data)
        parser.close()
    except errors.DefusedXmlException as error:
        raise Problem("document_unsafe", name=budget.name, part=part) from error
    except (defused.ParseError, LookupError, ValueError) as error:
        raise Problem("document_damaged", name=budget.name, part=part) from error


def read_xhtml(
    data: bytes, make_reader: Callable[[], Reader], part: str, budget: Budget
) -> tuple[Reader, bool]:
    """The reader that has read the page, and whether the page had to be repaired. `make_reader` is asked
    again for a page that is not well-formed, which is then read as browsers do."""
    reader = make_reader()
    try:
        read_xml(_NAMED.sub(_resolved, data), reader, part, budget, may_have_doctype=True)
    except Problem as problem:
        if problem.code != "document_damaged":
            raise
        reader = make_reader()
        read_html(data.decode("utf-8", errors="replace"), reader, budget)
        return reader, True
    return reader, False


def read_html(text: str, reader: Reader, budget: Budget) -> None:
    """HTML as browsers read it. Never fails on its form; raises `Problem` for its size."""
    etree: Any = import_module("lxml.etree")
    parser = etree.HTMLParser(
        target=_Target(reader, budget), encoding="utf-8", huge_tree=True, no_network=True
    )
    data = _DECLARATION.sub("", text.lstrip(), count=1).encode("utf-8", errors="replace")
    if not data.strip():
        return
    # In pieces, because a failure of the target is only seen between two of them.
    for at in range(0, len(data), _CHUNK):
        parser.feed(data[at : at + _CHUNK])
    parser.close()


def _resolved(found: re.Match[bytes]) -> bytes:
    """HTML's named characters, which XML does not know."""
    name = found[1].decode()
    if name in _XML_OWN:
        return found[0]
    char = html.unescape(f"&{name};")
    return (
        found[0] if char.startswith("&") else "".join(f"&#{ord(each)};" for each in char).encode()
    )
