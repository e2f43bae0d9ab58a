"""Where the files of projects are: in the database, or in a person's own folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from wenfang.storage import Store, Tx
from wenfang.workspace import Files, FolderFiles, Workspace

if TYPE_CHECKING:
    from wenfang.workspace.templates import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """Makes the `Files` of a project, for one writer."""

    database: Store
    clock: Callable[[], float]
    new_id: Callable[[str], str]

    def files(
        self,
        project_id: str,
        folder: Path | None,
        actor: Literal["author", "ai", "system"],
        run_id: str | None = None,
    ) -> Files:
        """`folder` is a person's own; `run_id` names the run that an agent writes in."""
        if folder is not None:
            return FolderFiles(Workspace(folder, new_id=self.new_id))
        from wenfang.workspace.project import By, Manuscript  # not for folders

        by = By(actor=actor, run_id=run_id)
        return Manuscript(self.database, project_id, by=by, clock=self.clock, new_id=self.new_id)

    def planting(self, template: Template) -> Callable[[Tx, str], None]:
        """What puts a template into a new project, within the transaction that makes the project."""
        from wenfang.workspace.project import By, ProjectFiles

        def plant(tx: Tx, project_id: str) -> None:
            by = By(actor="system")
            files = ProjectFiles(
                self.database, project_id, by=by, clock=self.clock, new_id=self.new_id
            )
            files.plant_in(tx, template.folders, template.seeds)

        return plant
