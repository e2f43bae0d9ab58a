"""What a new project may begin with."""

from __future__ import annotations

from wenfang.problems import Language

from ..access import Router
from ..shapes import Template

router = Router(prefix="/api/templates", tags=["projects"])


@router.get("")
async def list_templates(language: Language) -> list[Template]:
    """The templates in one language, in the order in which they are offered."""
    from wenfang.workspace.templates import templates  # an idle server has none

    return [
        Template(id=each.key, title=each.title, description=each.description, opens=each.opens)
        for each in templates(language)
    ]
