"""The project folder that a command was given."""

from __future__ import annotations

from pathlib import Path

from wenfang.problems import Problem


def existing_project(path: Path) -> Path:
    """The absolute path of a project folder. Raises Problem `project_path_missing`."""
    if not path.is_dir():
        raise Problem("project_path_missing", path=str(path))
    return path.resolve()
