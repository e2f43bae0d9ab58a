"""The databases that the tests of the journal run on."""

from __future__ import annotations

import pytest
from tests.workspace.stores import KINDS, Home, OnePostgres, OneSqlite


@pytest.fixture(scope="module")
def on_postgres(postgres_url: str) -> OnePostgres:
    return OnePostgres(postgres_url)


@pytest.fixture(params=KINDS)
def home(request: pytest.FixtureRequest) -> Home:
    """SQLite, then PostgreSQL."""
    if request.param == "sqlite":
        return OneSqlite()
    return request.getfixturevalue("on_postgres")
