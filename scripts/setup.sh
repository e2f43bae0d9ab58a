#!/usr/bin/env bash
# Set up this machine, as root or not. Every step is skipped when there is nothing to do.
#   scripts/setup.sh run       environment with the pinned packages, studio, the package itself
#   scripts/setup.sh dev       the same with the tools of the tests and checks
#   scripts/setup.sh browser   Chromium and Chinese fonts, for the browser tests
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv
py=$venv/bin/python

say() { printf '== %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# apt_install PACKAGE...: 0 if Debian's packages could be installed, as root or by sudo without a password.
apt_install() {
  command -v apt-get >/dev/null || return 1
  local as=()
  if [ "$(id -u)" != 0 ]; then
    sudo -n true 2>/dev/null || return 1
    as=(sudo -n)
  fi
  say "Installing Debian packages: $*"
  local quiet=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
  "${as[@]}" "${quiet[@]}" update >/dev/null &&
    "${as[@]}" "${quiet[@]}" install -y --no-install-recommends "$@" >/dev/null
}

find_python() {
  local each
  for each in ${PYTHON:-python3.11 python3.12 python3.13 python3}; do
    if "$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$each"
      return
    fi
  done
  fail "Python 3.11 or newer is needed. On Debian: apt-get install python3 python3-venv"
}

# Debian splits ensurepip off; without it and without root, a pip of the system can fill the environment.
make_environment() {
  local python package
  python=$(find_python)
  package=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv
  say "Making the environment $venv with $("$python" --version)"
  if "$python" -c 'import ensurepip' 2>/dev/null || apt_install "$package"; then
    "$python" -m venv --clear $venv
  elif "$python" -m pip --version >/dev/null 2>&1; then
    "$python" -m venv --clear --without-pip $venv
    "$python" -m pip --python $py install --quiet pip
  else
    fail "Python's venv module cannot install pip here. Run as root: apt-get install $package"
  fi
}

# The stamp is the hash of what an installation is made from, the place included: scripts name it.
stamp() { { pwd; cat requirements*.lock pyproject.toml; } | sha256sum | cut -d' ' -f1; }
is_installed() { [ -x $py ] && [ "$(cat $venv/.installed-"$1" 2>/dev/null)" = "$(stamp)" ]; }

environment() {
  local kind=$1 lock=requirements.lock
  [ "$kind" = run ] || lock=requirements-dev.lock
  if ! is_installed "$kind" && ! is_installed dev; then
    $py -m pip --version >/dev/null 2>&1 || make_environment
    say "Installing the pinned packages (a minute or two the first time)"
    $py -m pip install --quiet --disable-pip-version-check --require-hashes -r $lock
    $py hatch_build.py
    $py -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    stamp >$venv/.installed-"$kind"
  fi
  $py hatch_build.py
}

browser() {
  local missing=()
  command -v chromium >/dev/null || missing+=(chromium)
  [ -n "$(fc-list :lang=zh 2>/dev/null)" ] || missing+=(fontconfig fonts-noto-cjk)
  [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}" ||
    fail "the browser tests need Debian packages. Run as root: apt-get install -y ${missing[*]}"
}

case ${1:-} in
  run | dev) environment "$1" ;;
  browser) browser ;;
  *) fail "usage: scripts/setup.sh run | dev | browser" ;;
esac
