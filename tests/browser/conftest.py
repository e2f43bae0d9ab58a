"""A real server, a scripted model and a real Chromium for the studio's tests.

Fixtures live as long as a module: Playwright's loop must be closed before other tests of the same
process start theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from tests.browser.rig import CHROMIUM, FLAGS, Desk, Models, Studio, allow_clipboard

EXPECT_MS = 10_000


@pytest.fixture(scope="module")
def models() -> Iterator[Models]:
    with Models() as running:
        yield running


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with Studio(tmp_path_factory.mktemp("data")) as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.fail("Chromium is missing: `make test` installs it, or apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def profile(chromium: Browser, studio: Studio) -> Iterator[BrowserContext]:
    opened = chromium.new_context(
        base_url=studio.url,
        locale="zh-CN",
        viewport={"width": 1280, "height": 800},
        color_scheme="light",
        reduced_motion="reduce",
    )
    opened.set_default_timeout(EXPECT_MS)
    allow_clipboard(opened)
    yield opened
    opened.close()


@pytest.fixture
def errors(profile: BrowserContext) -> list[str]:
    """What the page complained about; a test may clear what it provoked."""
    seen: list[str] = []
    profile.on("weberror", lambda error: seen.append(str(error.error)))
    profile.on(
        "console",
        lambda message: seen.append(message.text) if message.type in ("error", "warning") else None,
    )
    return seen


@pytest.fixture
def tab(profile: BrowserContext, errors: list[str]) -> Iterator[Page]:
    page = profile.new_page()
    yield page
    assert errors == []


@pytest.fixture
def desk(studio: Studio, models: Models, tab: Page) -> Callable[..., Desk]:
    """`desk(replies, files)`: a new project with these files (in `folder`, if there is one), open in the browser, and a model that
    answers with these replies."""

    def make(
        replies: list[object] | None = None,
        files: dict[str, str | bytes] | None = None,
        folder: Path | None = None,
        template: str | None = None,
    ) -> Desk:
        project = studio.make_project("试验", files or {}, folder, template)
        server = models.serve(replies or [])
        studio.use_model(server.url)
        tab.goto(f"/p/{project.id}")
        tab.get_by_role("tree").or_(tab.get_by_text("还没有文件")).first.wait_for()
        return Desk(page=tab, studio=studio, project=project, model=server)

    return make
