"""What can go wrong with local model files. The codes are rows of the application's problem table."""

from __future__ import annotations

from typing import Literal, TypeAlias

Code: TypeAlias = Literal["model_not_found", "pull_active", "pull_failed", "disk_full"]


class LocalModelError(Exception):
    """An expected failure. `params` fill the words of `code`: `name` for "model_not_found", `problem`
    for "pull_failed"; the others have none."""

    def __init__(self, code: Code, **params: str) -> None:
        super().__init__(f"{code}: {', '.join(params.values())}" if params else code)
        self.code: Code = code
        self.params = params
