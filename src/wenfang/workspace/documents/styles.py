"""The paragraph and character styles of a docx: which of them mean a heading, a title, a quotation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from .blocks import Role
from .numbering import number_of

_HEADING = re.compile(r"(?:heading|标题|標題)\s*([1-9])", re.IGNORECASE)
_ROLES: Final[dict[str, Role]] = {"title": "title", "author": "author"}
_QUOTES: Final = frozenset({"quote", "intense quote"})
_CODES: Final = frozenset({"code", "html preformatted", "macro text"})
_OFF: Final = frozenset({"0", "false", "off"})
_DEEPEST = 20


@dataclass(slots=True)
class WordStyle:
    """`outline` counts from 0; None is text. `num` is the id of the numbering that it brings along."""

    name: str = ""
    based_on: str = ""
    outline: int | None = None
    num: str = ""
    num_level: int = 0
    bold: bool = False
    italic: bool = False

    @property
    def role(self) -> Role:
        return _ROLES.get(self.name.lower(), "")

    @property
    def is_quote(self) -> bool:
        return self.name.lower() in _QUOTES

    @property
    def is_code(self) -> bool:
        return self.name.lower() in _CODES


NO_STYLE: Final = WordStyle()


@dataclass(slots=True)
class Styles:
    """Reads the part `styles.xml`."""

    _styles: dict[str, WordStyle] = field(default_factory=dict[str, WordStyle])
    _current: WordStyle | None = None
    _is_paragraph: bool = False
    _default: str = ""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if name == "style":
            self._begin(attributes)
        elif self._current is None:
            return
        elif name == "name":
            self._current.name = value
            if found := _HEADING.fullmatch(value):
                self._current.outline = int(found[1]) - 1
        elif name == "basedOn":
            self._current.based_on = value
        elif name == "outlineLvl":
            self._current.outline = number_of(value)
        elif name == "numId":
            self._current.num = value
        elif name == "ilvl":
            self._current.num_level = number_of(value)
        elif name in ("b", "i") and not self._is_paragraph:
            is_on = value not in _OFF
            self._current.bold = is_on if name == "b" else self._current.bold
            self._current.italic = is_on if name == "i" else self._current.italic

    def end(self, name: str) -> None:
        if name == "style":
            self._current = None

    def data(self, text: str) -> None:
        """There is no text in this part."""

    def get(self, identity: str) -> WordStyle:
        """The style with what it inherits."""
        style = self._styles.get(identity or self._default, NO_STYLE)
        above, seen = style, 0
        while above.based_on and above.outline is None and seen < _DEEPEST:
            above, seen = self._styles.get(above.based_on, NO_STYLE), seen + 1
        if style.outline is None and above.outline is not None:
            style.outline = above.outline
            style.num = style.num or above.num
            style.num_level = style.num_level or above.num_level
        return style

    def _begin(self, attributes: Mapping[str, str]) -> None:
        identity = attributes.get("styleId", "")
        self._current = self._styles[identity] = WordStyle()
        self._is_paragraph = attributes.get("type") == "paragraph"
        if self._is_paragraph and attributes.get("default") in ("1", "true"):
            self._default = identity
