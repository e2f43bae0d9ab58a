"""Templates are data: `data/<language>/<key>/template.toml` and the texts that it names, read when asked for."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from typing import Any, Final, Literal, TypeAlias, get_args

from wenfang.problems import Language

from ..project import ProjectFiles, RootFolder, Seed

TemplateKey: TypeAlias = Literal["novel", "short_story", "screenplay", "report", "prd"]
TEMPLATES: Final[tuple[TemplateKey, ...]] = get_args(TemplateKey)
"""In the order in which they are offered."""
LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """`title` and `description` (one sentence) are for choosing, `opens` is the path to show first. Root
    folders stand in the order of `folders`."""

    key: TemplateKey
    language: Language
    title: str
    description: str
    folders: tuple[RootFolder, ...]
    seeds: tuple[Seed, ...]
    opens: str

    @property
    def name(self) -> str:
        """Under which `template_named` finds it again."""
        return f"{self.key}/{self.language}"


@cache
def templates(language: Language) -> tuple[Template, ...]:
    """All of them in one language."""
    return tuple(find_template(key, language) for key in TEMPLATES)


@cache
def find_template(key: TemplateKey, language: Language) -> Template:
    """One of them."""
    folder = resources("wenfang.workspace.templates") / "data" / language / key
    told = tomllib.loads((folder / "template.toml").read_text("utf-8"))
    return Template(
        key=key,
        language=language,
        title=told["title"],
        description=told["description"],
        folders=tuple(RootFolder(**row) for row in told["folders"]),
        seeds=tuple(_seed(folder, row) for row in told["seeds"]),
        opens=told["opens"],
    )


def template_named(name: str) -> Template | None:
    """The template with this `name`; None for one that is not offered any more."""
    return next(
        (each for language in LANGUAGES for each in templates(language) if each.name == name), None
    )


def _seed(folder: Traversable, row: dict[str, Any]) -> Seed:
    text = (folder / row["text"]).read_text("utf-8")
    return Seed(folder=row["folder"], name=row["name"], text=text)


async def plant(files: ProjectFiles, template: Template) -> str:
    """Put folders and texts into a project, all or nothing; returns the path to show first. Raises
    `WorkspaceError` "path_exists" if something stands where a text belongs."""
    await files.plant(template.folders, template.seeds)
    return template.opens


async def mend_folders(files: ProjectFiles, template: Template) -> None:
    """Bring back root folders that are missing, empty and under their old ids (writing.md TL-7)."""
    await files.plant(template.folders)
