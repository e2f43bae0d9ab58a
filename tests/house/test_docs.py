"""The documentation is true: links lead somewhere, programs run, options exist."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from wenfang.testing import Reply, Script, ScriptedServer, call, say

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
COMMAND = re.compile(r"\bwenfang(?![\w.-])(?P<words>(?: [a-z]+)*)(?P<rest>[^`|#\n]*)")
OPTION = re.compile(r"(?<!\S)(--?[a-z][a-z-]*)")
# What the provider answers to the programs of a page that ask one.
PRICE: list[Reply] = [call("price", seats=15), say("180")]
REPLIES = {"README.md": PRICE, "README.zh.md": PRICE}

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in FENCE.findall(page.read_text("utf-8")) if kind == language]


def slug(heading: str) -> str:
    kept = re.sub(r"[^\w\s-]", "", heading.lower().replace("`", ""))
    return re.sub(r"\s", "-", kept.strip())


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    text = FENCE.sub("", page.read_text("utf-8"))
    for link in LINK.findall(text):
        path, _, anchor = link.partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} in {page.name}"
        if anchor:
            headings = map(slug, HEADING.findall(target.read_text("utf-8")))
            assert anchor in headings, f"{link} in {page.name}"


def test_the_start_page_leads_to_every_page() -> None:
    start = ROOT / "docs/index.md"
    linked = {(start.parent / link).resolve() for link in LINK.findall(start.read_text("utf-8"))}
    assert [
        page for page in ROOT.glob("docs/**/*.md") if page != start and page not in linked
    ] == []


async def run_program(program: str, replies: list[Reply]) -> tuple[int, str, list[str]]:
    """Run a page's program with a scripted provider: exit code, what it printed, unused replies."""
    async with ScriptedServer(Script(name="docs", replies=tuple(replies))) as server:
        provider = {"BASE_URL": server.url, "API_KEY": "key", "MODEL": "scripted"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error", "-c", program),
            env=os.environ | {f"WENFANG_{name}": value for name, value in provider.items()},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        printed, _ = await process.communicate()
        return process.returncode or 0, printed.decode(), server.problems()


WITH_PYTHON = [name for name in NAMES if blocks(ROOT / name, "python")]
FOR_DEVELOPERS = ("docs/rooms/", "docs/notes/")
WITH_PROGRAMS = [name for name in WITH_PYTHON if not name.startswith(FOR_DEVELOPERS)]


@pytest.mark.anyio
@pytest.mark.parametrize("name", WITH_PROGRAMS)
async def test_programs_run(name: str) -> None:
    """The Python of one page is one program, from top to bottom."""
    program = "\n".join(blocks(ROOT / name, "python"))
    replies = REPLIES.get(name, [])
    code, printed, problems = await run_program(program, replies)
    assert code == 0, printed
    assert problems == []
    if replies:
        assert printed == "180\n"


@pytest.mark.parametrize("name", WITH_PYTHON)
def test_fragments_are_python(name: str) -> None:
    for block in blocks(ROOT / name, "python"):
        compile(block, name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def commands(page: Path) -> set[tuple[str, str]]:
    """The subcommand and each option of every `wenfang ...` line on a page."""
    text = page.read_text("utf-8")
    spans = [
        *re.findall(r"`([^`\n]+)`", FENCE.sub("", text)),
        *blocks(page, "bash"),
        *blocks(page, "sh"),
    ]
    return {
        (found["words"].strip(), option)
        for span in spans
        for found in COMMAND.finditer(span)
        for option in [*OPTION.findall(re.sub(r'"[^"]*"', "", found["rest"])), "--help"]
    }


def help_of(words: str) -> str:
    """Help of the longest command in `words` (the rest are arguments)."""
    parts = words.split()
    done = subprocess.run(
        [sys.executable, "-m", "wenfang", "--lang", "en", *parts, "--help"],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200", "TERM": "dumb"},
    )
    if done.returncode and parts:
        raise AssertionError(f"there is no command `wenfang {words}`: {done.stderr.strip()}")
    return done.stdout


def test_commands_and_options_exist() -> None:
    wanted: dict[str, set[str]] = {}
    for page in PAGES:
        for words, option in commands(page):
            wanted.setdefault(words, set()).add(option)
    assert "run" in wanted
    for words, options in sorted(wanted.items()):
        shown = help_of(words)
        missing = {option for option in options if not re.search(rf"(?<!\S){option}\b", shown)}
        assert missing == set(), f"wenfang {words}"
