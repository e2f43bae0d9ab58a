"""How much of a stranger's file is read. Every figure is checked against what really comes out, not
against what the file says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from wenfang.problems import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLimits:
    """Bounds of one import; for an archive of many files, of all of them together. With them the work
    is bounded too: reading is linear in bytes, elements and characters."""

    max_bytes: int = 100_000_000
    """Of the file as it is uploaded (writing.md UI-9)."""
    max_chars: int = 40_000_000
    """Of all text together; 100 MB of Chinese in UTF-8 are 33 million."""
    max_lines: int = 1_500_000
    """Of txt and Markdown."""
    max_entries: int = 10_000
    """Of a zip package; a long serial has some thousand chapters, each an entry of its epub."""
    max_part_bytes: int = 32_000_000
    """Of one unpacked part (tools.md §4.2)."""
    max_unpacked_bytes: int = 100_000_000
    """Of everything that is unpacked (tools.md §4.2)."""
    max_ratio: int = 120
    """Unpacked to packed size, for parts above 1 MB (tools.md §4.2)."""
    max_elements: int = 1_500_000
    """Of markup, all parts together."""
    max_depth: int = 400
    """Of elements inside each other."""


DEFAULT_LIMITS: Final = ImportLimits()
_RATIO_COUNTS_FROM_BYTES = 1_000_000


@dataclass(slots=True)
class Budget:
    """What is used up so far by the import of `name`."""

    name: str
    limits: ImportLimits = DEFAULT_LIMITS
    _used: dict[str, int] = field(default_factory=dict[str, int])

    def check_bytes(self, count: int) -> None:
        if count > self.limits.max_bytes:
            self._too_much("document_too_large", count, self.limits.max_bytes)

    def check_entries(self, count: int) -> None:
        if count > self.limits.max_entries:
            self._too_much("document_entries", count, self.limits.max_entries)

    def check_part(self, part: str, size: int, packed: int) -> None:
        """Before a part is unpacked: does it claim more than it may have?"""
        if size > self.limits.max_part_bytes:
            raise Problem(
                "document_part_too_large",
                name=self.name,
                part=part,
                value=size,
                limit=self.limits.max_part_bytes,
            )
        if size > _RATIO_COUNTS_FROM_BYTES and size > self.limits.max_ratio * max(packed, 1):
            raise Problem(
                "document_bomb",
                name=self.name,
                part=part,
                value=size // max(packed, 1),
                limit=self.limits.max_ratio,
            )

    def unpack(self, count: int) -> None:
        self._add("document_unpacked", count, self.limits.max_unpacked_bytes)

    def take_chars(self, count: int) -> None:
        self._add("document_too_long", count, self.limits.max_chars)

    def take_lines(self, count: int) -> None:
        self._add("document_lines", count, self.limits.max_lines)

    def take_elements(self, count: int) -> None:
        self._add("document_elements", count, self.limits.max_elements)

    def check_depth(self, depth: int) -> None:
        if depth > self.limits.max_depth:
            self._too_much("document_depth", depth, self.limits.max_depth)

    def renamed(self, name: str) -> Budget:
        """The same budget for another file of the same import."""
        return Budget(name, self.limits, self._used)

    def _add(self, code: str, count: int, limit: int) -> None:
        used = self._used[code] = self._used.get(code, 0) + count
        if used > limit:
            self._too_much(code, used, limit)

    def _too_much(self, code: str, value: int, limit: int) -> None:
        raise Problem(code, name=self.name, value=value, limit=limit)
