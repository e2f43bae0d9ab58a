"""The routes, one module for each thing the studio works with."""

from . import (
    accounts,
    documents,
    files,
    model,
    projects,
    runs,
    sessions,
    settings,
    system,
    templates,
    versions,
)

routers = (
    system.router,
    accounts.router,
    projects.router,
    templates.router,
    files.router,
    versions.router,
    documents.router,
    sessions.router,
    runs.router,
    settings.router,
    model.router,
)
