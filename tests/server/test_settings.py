from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from wenfang.problems import Problem
from wenfang.settings import Change, SettingsStore, data_dir, open_data_dir

KEY = "sk-secret-0123456789"


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("WENFANG_")]:
        monkeypatch.delenv(name)


def test_defaults(tmp_path: Path) -> None:
    settings = SettingsStore(tmp_path).current()
    assert (settings.provider, settings.model, settings.dialect) == ("embedded", "", "auto")
    assert not (tmp_path / "settings.json").exists()


def test_saved_values_survive_and_the_file_is_private(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path)
    store.save(Change.model_validate({"provider": "openai", "model": "m", "api_key": KEY}))
    store.save(Change(language="zh"))
    file = tmp_path / "settings.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = SettingsStore(tmp_path).current()
    assert (again.provider, again.model, again.language) == ("openai", "m", "zh")
    assert again.api_key.get_secret_value() == KEY
    assert KEY not in repr(again)
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]


def test_an_empty_key_removes_it_and_none_keeps_it(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path)
    store.save(Change.model_validate({"api_key": KEY}))
    assert store.save(Change(model="x")).api_key.get_secret_value() == KEY
    assert store.save(Change.model_validate({"api_key": ""})).api_key.get_secret_value() == ""


def test_environment_wins_and_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SettingsStore(tmp_path).save(Change(model="stored", dialect="schema"))
    monkeypatch.setenv("WENFANG_MODEL", "from-env")
    store = SettingsStore(tmp_path)
    assert (store.current().model, store.current().dialect) == ("from-env", "schema")
    assert store.locked == {"model": "WENFANG_MODEL"}
    with pytest.raises(Problem) as caught:
        store.save(Change(model="other"))
    assert (caught.value.code, caught.value.params["variable"]) == (
        "setting_locked",
        "WENFANG_MODEL",
    )
    store.save(Change(model="from-env", language="en"))
    monkeypatch.delenv("WENFANG_MODEL")
    assert SettingsStore(tmp_path).current().model == "stored"


def test_flags_win_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WENFANG_MODEL", "from-env")
    store = SettingsStore(tmp_path, {"model": "flag", "base_url": None})
    assert store.current().model == "flag"


def test_an_address_from_above_means_that_provider(tmp_path: Path) -> None:
    store = SettingsStore(tmp_path, {"base_url": "http://127.0.0.1:9/v1"})
    assert store.current().provider == "openai"
    scripted = SettingsStore(tmp_path, {"base_url": "http://h/v1", "provider": "scripted"})
    assert scripted.current().provider == "scripted"


def test_a_stored_key_is_not_sent_to_another_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SettingsStore(tmp_path).save(
        Change.model_validate({"base_url": "https://mine.example/v1", "api_key": KEY})
    )
    other = SettingsStore(tmp_path, {"base_url": "https://other.example/v1"})
    assert other.current().api_key.get_secret_value() == ""
    same = SettingsStore(tmp_path, {"base_url": "https://mine.example/v1/"})
    assert same.current().api_key.get_secret_value() == KEY
    monkeypatch.setenv("WENFANG_BASE_URL", "https://other.example/v1")
    locked = SettingsStore(tmp_path)
    assert locked.save(Change.model_validate({"api_key": KEY})).api_key.get_secret_value() == KEY


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://h/v1/", "https://h/v1"),
        (" https://h/v1 ", "https://h/v1"),
        ("https://h/v1/chat/completions", "https://h/v1"),
        ("", ""),
    ],
)
def test_base_url_is_tidied(given: str, kept: str) -> None:
    assert Change(base_url=given).base_url == kept


@pytest.mark.parametrize(
    "fields",
    [
        {"base_url": "ftp://h"},
        {"base_url": "h/v1"},
        {"base_url": "http://"},
        {"base_url": "http://user:pass@h/v1"},
        {"base_url": "http://h/v1?key=1"},
        {"base_url": "http://h/a b"},
        {"api_key": "two words"},
        {"api_key": "line\nbreak"},
        {"api_key": "密钥"},
        {"provider": "other"},
        {"dialect": "x"},
        {"model": "x" * 301},
        {"model": "a\nb"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_bad_values_are_refused_without_showing_them(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError) as caught:
        Change.model_validate(fields)
    assert "pass@" not in str(caught.value)
    assert "two words" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"provider": "x"}', '{"api_key": 3}'])
def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)
    with pytest.raises(Problem) as caught:
        SettingsStore(tmp_path).current()
    assert caught.value.code == "settings_invalid"
    assert str(tmp_path / "settings.json") in caught.value.text()


def test_a_file_of_a_newer_version_is_read(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"model": "m", "later": True}))
    assert SettingsStore(tmp_path).current().model == "m"


def test_a_bad_variable_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WENFANG_PROVIDER", "nobody")
    with pytest.raises(Problem) as caught:
        SettingsStore(tmp_path)
    assert caught.value.params["variable"] == "WENFANG_PROVIDER"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SettingsStore(tmp_path)
    store.save(Change(model="old"))

    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Problem) as caught:
        store.save(Change(model="new"))
    assert caught.value.code == "disk_full"
    assert store.current().model == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]


def test_data_dir_from_flag_environment_or_platform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    assert data_dir() == tmp_path / "xdg" / "wenfang"
    monkeypatch.setenv("WENFANG_DATA", str(tmp_path / "env"))
    assert data_dir() == tmp_path / "env"
    assert data_dir(tmp_path / "flag") == tmp_path / "flag"


def test_a_data_dir_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Problem) as caught:
        open_data_dir(tmp_path / "file")
    assert caught.value.code == "data_unwritable"


BACKUP = {"backup_base_url": "https://b.example/v1", "backup_model": "b", "backup_api_key": KEY}


def test_the_backup_is_kept_like_the_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FO-1."""
    store = SettingsStore(tmp_path)
    store.save(Change.model_validate({"provider": "openai", "model": "m", **BACKUP}))
    again = SettingsStore(tmp_path).current()
    assert KEY not in repr(again)
    backup = again.of_backup()
    assert (backup.provider, backup.base_url, backup.model) == (
        "openai",
        "https://b.example/v1",
        "b",
    )
    assert backup.api_key.get_secret_value() == KEY
    assert (backup.backup_base_url, backup.backup_api_key.get_secret_value()) == ("", "")
    monkeypatch.setenv("WENFANG_BACKUP_MODEL", "fixed")
    locked = SettingsStore(tmp_path)
    assert locked.locked == {"backup_model": "WENFANG_BACKUP_MODEL"}
    assert locked.current().of_backup().model == "fixed"
    with pytest.raises(Problem) as caught:
        locked.save(Change(backup_model="other"))
    assert caught.value.code == "setting_locked"
    gone = store.save(Change.model_validate({"backup_api_key": ""}))
    assert gone.backup_api_key.get_secret_value() == ""


def test_each_key_stays_with_its_address(tmp_path: Path) -> None:
    mine = {"base_url": "https://a.example/v1", "api_key": KEY, **BACKUP}
    SettingsStore(tmp_path).save(Change.model_validate(mine))
    other = SettingsStore(tmp_path, {"backup_base_url": "https://other.example/v1"}).current()
    assert other.backup_api_key.get_secret_value() == ""
    assert other.api_key.get_secret_value() == KEY
    assert other.provider == "embedded"  # only the provider's own address makes it one
