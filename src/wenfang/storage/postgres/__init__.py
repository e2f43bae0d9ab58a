"""The same tables on PostgreSQL, for several processes and machines. Needs the extra `postgres`."""

from .database import PostgresDatabase, open_postgres
from .notices import LONGEST_NOTICE_BYTES, Notices, open_notices

__all__ = [
    "LONGEST_NOTICE_BYTES",
    "Notices",
    "PostgresDatabase",
    "open_notices",
    "open_postgres",
]
