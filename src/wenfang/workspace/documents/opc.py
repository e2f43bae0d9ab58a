"""What Office packages say of themselves: the types of their parts, and how parts relate."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .elements import read_xml
from .limits import Budget
from .packages import Package
from .sniffing import extension_of

TYPES: Final = "[Content_Types].xml"


@dataclass(slots=True)
class ContentTypes:
    """[ContentContentTypes].xml"""

    _found: dict[str, str] = field(default_factory=dict[str, str])

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        form = attributes.get("ContentType", "")
        if name == "Override":
            self._found[attributes.get("PartName", "").lstrip("/").lower()] = form
        elif name == "Default":
            self._found["." + attributes.get("Extension", "").lower()] = form

    def end(self, name: str) -> None:
        """All elements are empty."""

    def data(self, text: str) -> None:
        """There is no text in this part."""

    def of(self, part: str) -> str:
        """The type of `part`, "" if none is said."""
        return self._found.get(part.lower()) or self._found.get("." + extension_of(part), "")


def read_types(package: Package, budget: Budget) -> ContentTypes:
    """Raises `Problem`."""
    types = ContentTypes()
    read_xml(package.read(TYPES), types, TYPES, budget)
    return types


def read_relations(package: Package, part: str, budget: Budget) -> dict[str, tuple[str, str]]:
    """Id to the last word of the kind, and the target, of a part's relations ("" is the package)."""
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    if path not in package:
        return {}
    reader = _Relations()
    read_xml(package.read(path), reader, path, budget)
    return {
        identity: (kind, target if is_outside else _resolve(folder, target))
        for identity, kind, target, is_outside in reader.found
    }


@dataclass(slots=True)
class _Relations:
    found: list[tuple[str, str, str, bool]] = field(
        default_factory=list[tuple[str, str, str, bool]]
    )

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "Relationship":
            kind = attributes.get("Type", "").rpartition("/")[2]
            is_outside = attributes.get("TargetMode") == "External"
            self.found.append(
                (attributes.get("Id", ""), kind, attributes.get("Target", ""), is_outside)
            )

    def end(self, name: str) -> None:
        """Relations are empty elements."""

    def data(self, text: str) -> None:
        """There is no text in this part."""


def _resolve(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
