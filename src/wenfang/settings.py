"""Settings: which model answers and how, from flags, the environment and a stored file, in that order.

The file `settings.json` lives in the data directory, readable by its owner only, and is replaced as a
whole. A value given by a flag or by a `WENFANG_*` variable wins over the file and is `locked`: saving
another value for it is refused instead of being silently without effect.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from wenfang.core import DialectName
from wenfang.problems import Problem

Provider: TypeAlias = Literal["embedded", "openai", "scripted"]
DialectChoice: TypeAlias = Literal["auto", DialectName]
LanguageChoice: TypeAlias = Literal["auto", "zh", "en"]

PREFIX = "WENFANG_"
FILE = "settings.json"
_KEYS = {
    "api_key": "base_url",
    "backup_api_key": "backup_base_url",
}  # and the address each belongs to


def _base_url(value: str) -> str:
    """An http(s) address without the part a client adds; empty means none."""
    value = value.strip().rstrip("/").removesuffix("/chat/completions")
    if not value:
        return ""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must start with http:// or https:// and name a host")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must not hold a user name, a key or a query; the key has its own field")
    if any(c.isspace() for c in value):
        raise ValueError("must not contain spaces")
    return value


def _api_key(value: SecretStr) -> SecretStr:
    """A key travels in a header, so it is one line of plain characters."""
    key = value.get_secret_value().strip()
    if not all(33 <= ord(c) <= 126 for c in key):
        raise ValueError("must be one word of plain ASCII characters")
    return SecretStr(key)


def _model(value: str) -> str:
    value = value.strip()
    if len(value) > 300 or any(ord(c) < 32 for c in value):
        raise ValueError("must be one line of at most 300 characters")
    return value


BaseUrl: TypeAlias = Annotated[str, AfterValidator(_base_url)]
ModelName: TypeAlias = Annotated[str, AfterValidator(_model)]
ApiKey: TypeAlias = Annotated[SecretStr, AfterValidator(_api_key)]


class Settings(BaseModel):
    """What is in force. `model` is a provider's model name, or for the embedded provider a name or
    the path of a GGUF file; empty means the default, "none" no embedded model. The `backup_*` fields name
    a second OpenAI-compatible provider, which answers when that of `base_url` does not (FO-1)."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)

    provider: Provider = "embedded"
    base_url: BaseUrl = ""
    model: ModelName = ""
    api_key: ApiKey = SecretStr("")
    dialect: DialectChoice = "auto"
    language: LanguageChoice = "auto"
    backup_base_url: BaseUrl = ""
    backup_model: ModelName = ""
    backup_api_key: ApiKey = SecretStr("")

    def of_backup(self) -> Settings:
        """The settings as if the backup were the only provider. A chosen dialect holds for both."""
        changes = {
            "provider": "openai",
            "base_url": self.backup_base_url,
            "model": self.backup_model,
            "api_key": self.backup_api_key,
            "backup_base_url": "",
            "backup_model": "",
            "backup_api_key": SecretStr(""),
        }
        return self.model_copy(update=changes)


class Change(BaseModel):
    """Fields to change; None leaves one as it is. An empty key removes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    provider: Provider | None = None
    base_url: BaseUrl | None = None
    model: ModelName | None = None
    api_key: ApiKey | None = None
    dialect: DialectChoice | None = None
    language: LanguageChoice | None = None
    backup_base_url: BaseUrl | None = None
    backup_model: ModelName | None = None
    backup_api_key: ApiKey | None = None


class _Environment(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, hide_input_in_errors=True, extra="ignore"
    )

    provider: Provider | None = None
    base_url: BaseUrl | None = None
    model: ModelName | None = None
    api_key: ApiKey | None = None
    dialect: DialectChoice | None = None
    language: LanguageChoice | None = None
    backup_base_url: BaseUrl | None = None
    backup_model: ModelName | None = None
    backup_api_key: ApiKey | None = None


def data_dir(given: Path | None = None) -> Path:
    """Where everything is kept: `given`, else `WENFANG_DATA`, else the platform's user data folder."""
    named = given or os.environ.get(f"{PREFIX}DATA")
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("wenfang", appauthor=False)


def database_url(given: str | None = None) -> str | None:
    """The PostgreSQL database to use in place of the file in the data directory: `given`, else
    `WENFANG_DATABASE`, else none. It may hold a password and is told to nobody.

    Raises Problem `invalid_request` for what is no such address.
    """
    url = (given or os.environ.get(f"{PREFIX}DATABASE") or "").strip()
    if not url:
        return None
    if not url.startswith(("postgresql://", "postgres://")):
        problem = "must be an address like postgresql://user@host/name"
        raise Problem("invalid_request", field="database", problem=problem)
    return url


def open_data_dir(path: Path) -> Path:
    """Create the data directory if it is missing and make sure it can be written.

    Raises Problem `data_unwritable` or `disk_full`.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"0")
            probe.flush()
    except OSError as error:
        raise storage_problem(error, path) from error
    return path


def storage_problem(error: OSError, path: Path) -> Problem:
    """The problem a failed write stands for."""
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Problem("disk_full")
    return Problem("data_unwritable", path=str(path), problem=error.strerror or "unknown error")


class SettingsStore:
    """Reads and saves the settings of one data directory. `flags` are values given on the command
    line; they are checked like all others (Problem `invalid_request`)."""

    def __init__(self, data: Path, flags: Mapping[str, str | None] | None = None) -> None:
        self.file = data / FILE
        self._above = _environment()
        given = {name: value for name, value in (flags or {}).items() if value is not None}
        self._above |= _set_fields(_change(given))
        if "base_url" in self._above:
            self._above.setdefault("provider", "openai")

    @property
    def locked(self) -> dict[str, str]:
        """The fields fixed from above, each with the variable that can change it."""
        return {name: PREFIX + name.upper() for name in self._above}

    def current(self) -> Settings:
        """What is in force now; the file is read each time, so a change holds for the next run.

        A stored key belongs to the address it was saved for and is not sent to another one.
        Raises Problem `settings_invalid`.
        """
        stored = self._stored()
        for key, address in _KEYS.items():
            there = getattr(stored, address)
            if self._above.get(address, there) != there:
                stored = stored.model_copy(update={key: SecretStr("")})
        return stored.model_copy(update=self._above)

    def preview(self, change: Change) -> Settings:
        """What would be in force after `change`."""
        return self.current().model_copy(update=_set_fields(change))

    def save(self, change: Change) -> Settings:
        """Keep `change` in the file. Raises Problem `setting_locked`, `data_unwritable`, `disk_full`."""
        fields = _set_fields(change)
        for name, variable in self.locked.items():
            if name in fields and fields.pop(name) != self._above[name]:
                raise Problem("setting_locked", field=name, variable=variable)
        for key, address in _KEYS.items():
            if key in fields and address in self._above:
                fields[address] = self._above[address]
        stored = self._stored().model_copy(update=fields)
        try:
            replace_file(self.file, _encode(stored))
        except OSError as error:
            raise storage_problem(error, self.file.parent) from error
        return self.current()

    def _stored(self) -> Settings:
        try:
            text = self.file.read_text("utf-8")
        except FileNotFoundError:
            return Settings()
        except (OSError, UnicodeDecodeError) as error:
            raise self._invalid("it cannot be read") from error
        try:
            return Settings.model_validate_json(text)
        except ValidationError as error:
            raise self._invalid(_first(error)[1]) from error

    def _invalid(self, problem: str) -> Problem:
        return Problem("settings_invalid", file=str(self.file), problem=problem)


def _environment() -> dict[str, Any]:
    try:
        return _set_fields(_Environment())
    except ValidationError as error:
        name, problem = _first(error)
        variable = PREFIX + name.upper().removeprefix(PREFIX)
        raise Problem("environment_invalid", variable=variable, problem=problem) from error


def _change(values: Mapping[str, str]) -> Change:
    try:
        return Change.model_validate(values)
    except ValidationError as error:
        name, problem = _first(error)
        flag = "--" + name.replace("_", "-")
        raise Problem("invalid_request", field=flag, problem=problem) from error


def _set_fields(model: BaseModel) -> dict[str, Any]:
    values = {name: getattr(model, name) for name in type(model).model_fields}
    return {name: value for name, value in values.items() if value is not None}


def _first(error: ValidationError) -> tuple[str, str]:
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    problem = first["msg"].removeprefix("Value error, ")
    return name, f"{name}: {problem}" if name else problem


def _encode(settings: Settings) -> bytes:
    values = settings.model_dump()
    values |= {key: values[key].get_secret_value() for key in _KEYS}
    return json.dumps(values, ensure_ascii=False, indent=2).encode() + b"\n"


def replace_file(file: Path, content: bytes) -> None:
    """Write a file as a whole, for its owner only: the old one or the new one is there, never a part.
    Raises OSError."""
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # mode 0600
    try:
        with os.fdopen(handle, "wb") as temporary:
            temporary.write(content)
            temporary.flush()
            os.fsync(temporary.fileno())
        os.replace(name, file)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
