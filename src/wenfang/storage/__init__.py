"""The database: tables, migrations, and the threads that read and write (durable.md §3)."""

from .database import FILE, Database, open_database, open_store
from .store import LONGEST_WAIT_S, OwnConnection, Store, Tx
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
from .thread import SqliteTx

__all__ = [
    "FILE",
    "LONGEST_WAIT_S",
    "Database",
    "OwnConnection",
    "SqliteTx",
    "Store",
    "Tx",
    "blobs",
    "events",
    "file_metadata",
    "files",
    "mirrored",
    "mirrors",
    "open_database",
    "open_store",
    "partials",
    "projects",
    "quota",
    "revisions",
    "runs",
    "sessions",
    "signals",
    "workers",
]
