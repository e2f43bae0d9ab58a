"""What a new project of a kind begins with, in each language: folders, sheets to fill in, and what to open."""

from .loading import (
    TEMPLATES,
    Template,
    TemplateKey,
    find_template,
    mend_folders,
    plant,
    template_named,
    templates,
)

__all__ = [
    "TEMPLATES",
    "Template",
    "TemplateKey",
    "find_template",
    "mend_folders",
    "plant",
    "template_named",
    "templates",
]
