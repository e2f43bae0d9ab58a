"""A room has one door: its `__init__` lists the public names, and other rooms import from there only."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from inline_snapshot import snapshot

HEAVY = ("aiohttp", "alembic", "fastapi", "griffe", "httpx2", "numpy", "pydantic", "rich")
HEAVY += ("sqlalchemy", "starlette", "typer", "uvicorn", "xllamacpp")
HEAVY += ("charset_normalizer", "defusedxml", "docx", "lxml", "markdown_it")
BESIDE_ROOMS = {"web"}  # no Python in it
# A room within a room: who speaks to a provider needs nothing of the embedded model, who calls tools
# natively nothing of the text dialects, who has one machine nothing of PostgreSQL, and who reads a project's
# files nothing of other formats.
INNER_DOORS = [
    "wenfang.core.dialects.text",
    "wenfang.models.local",
    "wenfang.storage.postgres",
    "wenfang.workspace.body",
    "wenfang.workspace.documents",
    "wenfang.workspace.edits",
    "wenfang.workspace.project",
]


def rooms(root: Path) -> list[str]:
    folders = (root / "src/wenfang").iterdir()
    return sorted(each.name for each in folders if (each / "__init__.py").exists())


def imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[int, str, list[str]]]:
    """Line, absolute module and names of each import; of `import a.b` the names are empty."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*above, *filter(None, [node.module])))
            yield node.lineno, module, [alias.name for alias in node.names]


def is_by_the_door(module: str, names: list[str], room: str) -> bool:
    """Whether an import in `room` of another room names nothing inside of it."""
    parts = module.split(".")
    if parts[0] != "wenfang" or parts[1:2] == [room]:
        return True
    if any(name.startswith("_") and not name.startswith("__") for name in (*parts, *names)):
        return False
    return len(parts) <= 2 or module in INNER_DOORS


def test_rooms_are_entered_by_their_door(root: Path) -> None:
    source = root / "src"
    inside: list[str] = []
    for file in sorted((source / "wenfang").rglob("*.py")):
        place = file.relative_to(source).with_suffix("").parts
        if len(place) < 3:
            continue  # the package's own modules are above or below all rooms
        for line, module, names in imports(ast.parse(file.read_text("utf-8")), place[:-1]):
            if not is_by_the_door(module, names, place[1]):
                inside.append(
                    f"{'/'.join(place)}.py:{line} from {module} import {', '.join(names)}"
                )
    assert inside == []


def doors(root: Path) -> list[str]:
    of_rooms = [f"wenfang.{room}" for room in rooms(root) if room not in BESIDE_ROOMS]
    return ["wenfang", *of_rooms, *INNER_DOORS]


def test_public_names(root: Path) -> None:
    """`pytest tests/house/test_doors.py --inline-snapshot=fix` takes a change over."""
    listed = {door: sorted(import_module(door).__all__) for door in doors(root)}
    assert listed == snapshot(
        {
            "wenfang": [
                "Agent",
                "AgentEvent",
                "ChatClient",
                "Deny",
                "Hooks",
                "Image",
                "Limits",
                "MessageDelta",
                "MessageEnd",
                "Resilient",
                "RunEnd",
                "Text",
                "ToolContext",
                "ToolEnd",
                "ToolError",
                "ToolOutput",
                "ToolStart",
                "bracket",
                "classic",
                "lenient",
                "markdown",
                "native",
                "plain_zh",
                "schema",
                "tagged",
                "tool",
            ],
            "wenfang.cli": ["main"],
            "wenfang.core": [
                "Abort",
                "Access",
                "Agent",
                "AgentBusy",
                "AgentEvent",
                "Allow",
                "Assistant",
                "Attempt",
                "AttemptReset",
                "Block",
                "CallDone",
                "CallDue",
                "Conversation",
                "DIALECTS",
                "Decoder",
                "Delta",
                "Deny",
                "Dialect",
                "DialectName",
                "Effect",
                "Emit",
                "ErrorKind",
                "Failure",
                "FileCreated",
                "FileRead",
                "FileWritten",
                "Guard",
                "Hint",
                "Hooks",
                "Image",
                "JSON",
                "Limit",
                "LimitEvent",
                "Limits",
                "ListenerFailed",
                "Message",
                "MessageDelta",
                "MessageEnd",
                "ModelClient",
                "ModelDone",
                "ModelDue",
                "ModelError",
                "ModelEvent",
                "ModelRequest",
                "ModelStart",
                "Notice",
                "Ok",
                "Parsed",
                "REASONS",
                "Reason",
                "Replay",
                "Reset",
                "Rewrite",
                "RunEnd",
                "RunStart",
                "Source",
                "Status",
                "Stop",
                "StopReason",
                "Stream",
                "System",
                "Text",
                "Thinking",
                "Tool",
                "ToolCall",
                "ToolChoice",
                "ToolContext",
                "ToolEnd",
                "ToolError",
                "ToolErrorType",
                "ToolOutput",
                "ToolResult",
                "ToolSpec",
                "ToolStart",
                "ToolUpdate",
                "Toolbox",
                "Turn",
                "Usage",
                "User",
                "UserAdded",
                "Verdict",
                "bracket",
                "canonical",
                "classic",
                "estimate_request",
                "estimate_tokens",
                "lenient",
                "markdown",
                "native",
                "nearest",
                "new_id",
                "parse_arguments",
                "plain_zh",
                "run_loop",
                "schema_steps",
                "tagged",
                "tool",
                "user",
                "utf16_len",
            ],
            "wenfang.crews": [
                "Answer",
                "Bounds",
                "Facts",
                "Flaw",
                "Found",
                "FoundDialects",
                "ModelStatus",
                "Models",
                "PROBES",
                "Score",
                "Search",
                "Subject",
                "Tested",
                "Trial",
                "Trying",
                "can_call",
                "choose",
                "find_dialect",
                "greet",
                "judge",
                "list_models",
                "open_models",
            ],
            "wenfang.lang": [
                "Heading",
                "LanguagePack",
                "PACKS",
                "UnitKind",
                "count_words",
                "detect_language",
                "read_heading",
            ],
            "wenfang.models": [
                "ChatClient",
                "DemoModel",
                "HttpRequest",
                "HttpResponse",
                "HttpTransport",
                "Profile",
                "Resilient",
                "RetryPolicy",
                "Transport",
                "TransportError",
                "profile_for",
                "repair_history",
            ],
            "wenfang.runs": [
                "AgentSpec",
                "BlockDelta",
                "Envelope",
                "Ephemeral",
                "Event",
                "Fact",
                "FileChanged",
                "Frame",
                "MakeAgent",
                "MessageFinished",
                "NoticeGiven",
                "Options",
                "Project",
                "RunContext",
                "RunFinished",
                "RunInfo",
                "RunStarted",
                "RunStatus",
                "Runs",
                "Session",
                "SessionChanged",
                "Snapshot",
                "StepReset",
                "StepStarted",
                "Subscription",
                "ToolFinished",
                "ToolProgress",
                "ToolStarted",
                "UserMessage",
                "open_runs",
            ],
            "wenfang.server": [
                "BUILT",
                "Server",
                "Services",
                "bind",
                "is_loopback",
                "make_app",
                "open_services",
                "serve",
                "url_of",
            ],
            "wenfang.storage": [
                "Database",
                "FILE",
                "LONGEST_WAIT_S",
                "SqliteTx",
                "Store",
                "Tx",
                "blobs",
                "events",
                "files",
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
            ],
            "wenfang.testing": [
                "RawItem",
                "RecordedRequest",
                "Reply",
                "Script",
                "ScriptError",
                "ScriptedModel",
                "ScriptedServer",
                "ToolUse",
                "call",
                "load_script",
                "parse_script",
                "say",
            ],
            "wenfang.tools": [
                "PythonSandbox",
                "SandboxLimits",
                "SandboxResult",
                "calculator",
                "make_file_tools",
                "make_python_tool",
            ],
            "wenfang.workspace": [
                "Code",
                "Content",
                "EditError",
                "Entry",
                "Export",
                "ExportFormat",
                "FileText",
                "Files",
                "FolderFiles",
                "Found",
                "Hit",
                "Imported",
                "Item",
                "Kind",
                "Listing",
                "MEDIA_TYPES",
                "OpenFile",
                "Refused",
                "Saved",
                "Workspace",
                "WorkspaceError",
                "Written",
                "export_project",
                "import_document",
                "revision_of",
                "unified_diff",
            ],
            "wenfang.core.dialects.text": [
                "AnswerDelta",
                "Call",
                "Cut",
                "Event",
                "Outcome",
                "Parser",
                "Reason",
                "Reclassify",
                "SHAPES",
                "Shape",
                "TextDelta",
                "ThoughtDelta",
                "ToolReady",
                "ToolStart",
                "parse",
                "render_observation",
                "restore_observation",
                "restored",
            ],
            "wenfang.models.local": [
                "DEFAULT_MODEL",
                "Endpoint",
                "LocalFile",
                "LocalModel",
                "LocalModelError",
                "LocalServer",
                "ModelFile",
                "Parts",
                "Progress",
                "WorkerOptions",
                "default_options",
                "default_store",
                "find_model",
                "list_models",
                "pull_model",
                "remove_model",
            ],
            "wenfang.storage.postgres": ["PostgresDatabase", "open_postgres"],
            "wenfang.workspace.body": [
                "ArgumentCapture",
                "BodyClosed",
                "BodyOpened",
                "BodyReason",
                "BodySink",
                "BodyText",
                "CaptureEvent",
                "CaptureState",
                "ChatText",
                "Commit",
                "Decision",
                "Dropped",
                "ENDINGS",
                "Ending",
                "FileCapture",
                "Interruption",
                "Keep",
                "KeepReason",
                "MAX_BODY_BYTES",
                "commit_decision",
                "deliver",
            ],
            "wenfang.workspace.documents": [
                "Book",
                "DEFAULT_LIMITS",
                "Document",
                "DocumentWarning",
                "ImportLimits",
                "Part",
                "PartKind",
                "Section",
                "SectionKind",
                "WARNINGS",
                "Zip",
                "byline",
                "escape",
                "headed",
                "read_archive",
                "read_document",
                "read_files",
                "safe_path",
                "split_byline",
                "split_heading",
                "to_docx",
                "to_epub",
                "to_markdown",
                "to_txt",
            ],
            "wenfang.workspace.edits": [
                "AppliedEdit",
                "Candidate",
                "Edit",
                "EditErrorType",
                "EditField",
                "EditOp",
                "EditReason",
                "EditResult",
                "EditWarning",
                "FailedEdit",
                "MatchKind",
                "MatchMode",
                "QuoteStyle",
                "Span",
                "apply_edits",
                "describe_failures",
            ],
            "wenfang.workspace.project": [
                "Actor",
                "BODY_KINDS",
                "By",
                "Content",
                "Found",
                "Hit",
                "Hunk",
                "HunkPart",
                "HunkPartKind",
                "Item",
                "Kind",
                "Merge",
                "MergeConflict",
                "ProjectFiles",
                "Revision",
                "Saved",
                "author_edits",
                "is_author_text",
                "three_way",
                "touched",
            ],
        }
    )


def test_every_public_name_is_there(root: Path) -> None:
    for door in doors(root):
        module = import_module(door)
        assert [name for name in module.__all__ if not hasattr(module, name)] == [], door


@pytest.mark.parametrize("statement", ["import wenfang", "from wenfang import Agent, tool"])
def test_importing_is_cheap(statement: str) -> None:
    """Nothing heavy is loaded before it is used (design §8, S6)."""
    program = f"{statement}; import sys; print(*sorted(m for m in {HEAVY!r} if m in sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.split() == []
