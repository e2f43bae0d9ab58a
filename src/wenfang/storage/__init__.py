"""The database: tables, migrations, and the threads that read and write (durable.md §3)."""

from .database import FILE, Database, open_database, run_now
from .tables import (
    blobs,
    events,
    file_metadata,
    files,
    mirrored,
    mirrors,
    partials,
    projects,
    quota,
    revisions,
    runs,
    sessions,
    signals,
    workers,
)
from .thread import Tx

__all__ = [
    "FILE",
    "Database",
    "Tx",
    "blobs",
    "events",
    "file_metadata",
    "files",
    "mirrored",
    "mirrors",
    "open_database",
    "partials",
    "projects",
    "quota",
    "revisions",
    "run_now",
    "runs",
    "sessions",
    "signals",
    "workers",
]
