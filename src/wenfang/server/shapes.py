"""The shapes of docs/wire.md. Times are Unix seconds, sizes bytes, paths relative with forward slashes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints

from wenfang.accounts import MemberRole, Role, Scope
from wenfang.core import DialectName, Reason, Status, Usage
from wenfang.crews import BackupState
from wenfang.problems import Language
from wenfang.runs import Event
from wenfang.settings import Change, DialectChoice, LanguageChoice, Provider
from wenfang.workspace import Kind

TemplateKey = Literal["novel", "short_story", "screenplay", "report", "prd"]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Path = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Words = Annotated[str, StringConstraints(min_length=1, max_length=1_000_000, pattern=r"\S")]


class Shape(BaseModel):
    # Built when it is used first: an idle server uses few of them.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Body(Shape):
    """What a request carries. FastAPI gives it a name, which needs a shape that has been built."""

    model_config = ConfigDict(defer_build=False)


class Health(Shape):
    status: Literal["ok"] = "ok"
    version: str


class Ready(Shape):
    status: Literal["ready", "not_ready"]
    checks: dict[str, bool]


class ModelState(Shape):
    """`model` is the name of what would answer the next run; `progress` is set while pulling."""

    provider: Provider
    model: str
    state: Literal["ready", "missing", "pulling", "error"]
    progress: float | None = None
    error: str | None = None
    size_bytes: int = 0


class Info(Shape):
    """`local`: there are no accounts, and whoever reaches the server is its one user."""

    version: str
    local: bool
    model: ModelState


class Me(Shape):
    id: str
    name: str
    role: Role


class Account(Shape):
    """`user` is who is logged in; `needs_setup`: there is nobody yet, so the first admin has to be made."""

    mode: Literal["local", "accounts"]
    needs_setup: bool
    user: Me | None = None


class User(Me):
    created_at: float
    enabled: bool


class ApiKey(Shape):
    """`prefix` is how the secret begins; `seen_at` when it was used last, within five minutes."""

    id: str
    name: str
    prefix: str
    scopes: list[Scope]
    created_at: float
    expires_at: float | None
    seen_at: float | None


class NewKey(ApiKey):
    secret: str


class Member(Shape):
    user_id: str
    name: str
    role: MemberRole


class AuditEntry(Shape):
    """`user` did `action` to `target`, an id or a name."""

    n: int
    at: float
    user: str
    action: str
    target: str
    detail: str
    address: str


class Project(Shape):
    """`path` is a person's own folder of the disk; empty: the files are in the database. `words` is null
    where they were not counted."""

    id: str
    title: str
    path: str
    created_at: float
    updated_at: float
    files: int
    size_bytes: int
    words: int | None
    running: int


class Entry(Shape):
    """`id` stays when it is renamed (where files are in the database). `words` is null where they were
    not counted."""

    id: str
    path: str
    kind: Literal["file", "folder"]
    type: Kind
    size_bytes: int
    words: int | None
    modified_at: float
    revision: str | None = None


class Tree(Shape):
    entries: list[Entry]
    truncated: bool


class FileSaved(Shape):
    path: str
    revision: str
    size_bytes: int
    words: int | None
    modified_at: float
    newline: Literal["\n", "\r\n"]


class FileText(FileSaved):
    """The text keeps its own line ends byte for byte."""

    text: str


class Version(Shape):
    """One version of a file. `n` counts from 1; `parent` is the one it was made from, `origin` the one whose
    text was brought back; `revision` names the text, as in `FileSaved`. Lines are counted against
    `parent`. A version that was saved again within ten minutes keeps `opened_at`."""

    n: int
    parent: int | None
    revision: str
    actor: Literal["author", "ai", "system"]
    change: Literal["create", "edit", "ai_edit", "restore", "auto_save", "import", "merge"]
    run_id: str | None
    origin: int | None
    words: int
    characters: int
    lines_added: int
    lines_removed: int
    opened_at: float
    saved_at: float


class Hit(Shape):
    """`line` and `column` count from 1, `column` in characters; `excerpt` is of the line around it, and
    what was found goes there from `start` to `end`, in characters from 0."""

    path: str
    line: int
    column: int
    excerpt: str
    start: int
    end: int


class Found(Shape):
    """`total` counts all hits, `files` the files that have some; `hits` are the first."""

    hits: list[Hit]
    total: int
    files: int


class ImportedFile(Shape):
    path: str
    size_bytes: int


class ImportNotice(Shape):
    """What was left out or guessed. `code` is stable, `message` is English for developers."""

    code: str
    params: dict[str, str | int]
    message: str


class ImportProblem(Shape):
    """A document of an archive that was not imported: `name` is its path there, the rest an error."""

    name: str
    code: str
    params: dict[str, str | int | float | bool | None]
    message: str


class ImportOut(Shape):
    """`files` are the new ones in reading order."""

    files: list[ImportedFile]
    warnings: list[ImportNotice]
    problems: list[ImportProblem]


class Trashed(Shape):
    trash_id: str


class Session(Shape):
    id: str
    project_id: str
    title: str
    created_at: float
    updated_at: float
    active_run: str | None


class Run(Shape):
    id: str
    session_id: str
    project_id: str
    status: Literal["queued", "running"] | Status
    reason: Reason | None
    created_at: float
    finished_at: float | None
    usage: Usage


class Snapshot(Shape):
    """The facts of a session's last runs, then the running message as deltas with `off` 0."""

    seq: int
    frames: list[Event]
    partials: list[Event]
    more: bool


class DialectFound(Shape):
    """What probes found out: the dialect that "auto" means, and how many probes were right in it."""

    dialect: DialectName
    right: int
    total: int
    at: float


class ProbeState(Shape):
    """`progress` (0..1) is set while probes run; `code`, `message` and `params` say why the last search
    found nothing, like an error's."""

    progress: float | None
    code: str | None
    message: str
    params: dict[str, str | int | float | bool | None]


class SettingsOut(Shape):
    """`found` is of the model in force, null if it was never probed. `backup_state` says whether the
    backup answers runs when the provider does not, or why not: "dialect" means that it cannot be asked as
    the provider is. `locked` names the fields that an environment variable fixes."""

    model_config = ConfigDict(title="Settings")

    provider: Provider
    base_url: str
    model: str
    api_key_set: bool
    dialect: DialectChoice
    language: LanguageChoice
    backup_base_url: str
    backup_model: str
    backup_api_key_set: bool
    backup_state: BackupState
    found: DialectFound | None = None
    locked: list[str] = []


class SettingsIn(Change):
    """Null leaves a field as it is; an empty key removes it."""


class TestResult(Shape):
    """`code` is "ok" or why the model did not answer."""

    ok: bool
    code: str
    message: str
    models: list[str]
    latency_ms: int


class ProjectIn(Body):
    title: Title


class NewProjectIn(ProjectIn):
    """`path` is an existing folder of this machine, whose files the project shall have; without it they
    are in the database. `template` is what it begins with there, in `language`."""

    path: Path | None = None
    template: TemplateKey | None = None
    language: Language | None = None


class Template(Shape):
    """What a project may begin with; `opens` is the path to show first."""

    id: TemplateKey
    title: str
    description: str
    opens: str


class RenameSessionIn(Body):
    title: Title


class SessionIn(Body):
    title: Title | None = None


class SaveIn(Body):
    """`base` is the revision that was edited, null for a new file."""

    text: str
    base: str | None


class FolderIn(Body):
    path: Path


class RestoreIn(Body):
    path: Path


class ArrangeIn(Body):
    """`folder` is "" for the project itself; `names` are of files and folders in it."""

    folder: Annotated[str, StringConstraints(max_length=1000)] = ""
    names: Annotated[list[Path], Field(max_length=5000)]


class RenameIn(Body):
    path: Path
    to: Path


class RunIn(Body):
    """The same `request_id` again gives the same run."""

    text: Words
    request_id: Annotated[str, Field(min_length=1, max_length=100)] | None = None


class SteerIn(Body):
    text: Words


UserName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Password = Annotated[SecretStr, Field(min_length=1, max_length=2000)]


class LoginIn(Body):
    name: UserName
    password: Password


class SetUpIn(LoginIn):
    code: Password


class PasswordIn(Body):
    password: Password


class PasswordsIn(Body):
    old: Password
    new: Password


class KeyIn(Body):
    """`expires_at` null: it does not expire."""

    name: UserName
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3)]
    expires_at: Annotated[float, Field(gt=0, le=1e11)] | None = None


class NewUserIn(LoginIn):
    role: Role = "member"


class UserIn(Body):
    role: Role | None = None
    enabled: bool | None = None


class MemberIn(Body):
    name: UserName
    role: MemberRole
