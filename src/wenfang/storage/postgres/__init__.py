"""The same tables on PostgreSQL, for several processes and machines. Needs the extra `postgres`."""

from .database import PostgresDatabase, open_postgres

__all__ = ["PostgresDatabase", "open_postgres"]
