#!/usr/bin/env bash
# Set up this machine, as root or not. Every step is skipped when there is nothing to do.
#   scripts/setup.sh run       environment with the pinned packages, studio, the package itself
#   scripts/setup.sh dev       the same with the tools of the tests and checks
#   scripts/setup.sh browser   Chromium and Chinese fonts, for the browser tests
set -euo pipefail
cd "$(dirname "$0")/.."
venv=.venv
py=$venv/bin/python
debian=.make/debian

say() { printf '== %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# apt_install PACKAGE...: install Debian packages, as root or by sudo without a password.
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

# apt_unpack PACKAGE...: without root, unpack Debian packages and what they need into .make/debian.
apt_unpack() {
  command -v apt-get >/dev/null || return 1
  local work=$PWD/.make/apt names
  mkdir -p "$work"/state/lists/partial "$work"/cache/archives/partial $debian
  local apt=(apt-get -qq -o Dir::State="$work"/state -o Dir::State::status=/var/lib/dpkg/status
    -o Dir::Cache="$work"/cache -o Debug::NoLocking=true)
  say "Unpacking Debian packages into $debian, since this is not root: $*"
  "${apt[@]}" update >/dev/null || return 1
  names=$("${apt[@]}" --simulate install --no-install-recommends "$@" |
    awk '/^Inst / && $2 !~ /^libc(6|-bin)$/ {print $2}') || return 1
  (cd "$work/cache" && "${apt[@]}" download $names >/dev/null) || return 1
  for package in "$work"/cache/*.deb; do
    dpkg-deb --extract "$package" $debian || return 1
  done
  rm -rf "$work"
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

# Debian keeps ensurepip in a package of its own; without it, Debian's wheel of pip fills the environment.
make_environment() {
  local python package wheel
  python=$(find_python)
  package=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv
  say "Making the environment $venv with $("$python" --version)"
  if "$python" -c 'import ensurepip' 2>/dev/null || apt_install "$package"; then
    "$python" -m venv --clear $venv
  elif apt_unpack python3-pip-whl; then
    "$python" -m venv --clear --without-pip $venv
    wheel=($debian/usr/share/python-wheels/pip-*.whl)
    $py "${wheel[0]}/pip" install --quiet pip
  else
    fail "Python's venv module cannot install pip here. Run as root: apt-get install -y $package"
  fi
}

# The embedded model's runtime needs GNU OpenMP, which a small Debian lacks. Unpacked, it is loaded at the
# start of the environment's Python, because no search path of the system leads to it.
openmp() {
  local check='import ctypes; ctypes.CDLL("libgomp.so.1")' library
  if $py -c "$check" 2>/dev/null || apt_install libgomp1; then return; fi
  if apt_unpack libgomp1; then
    library=$(find "$PWD/$debian" -name libgomp.so.1 | head -n 1)
    printf 'import ctypes; ctypes.CDLL("%s", mode=ctypes.RTLD_GLOBAL)\n' "$library" \
      >"$($py -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/wenfang-openmp.pth"
  else
    say "The embedded model will not run without libgomp1. Run as root: apt-get install -y libgomp1"
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
    openmp
    $py hatch_build.py
    $py -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    stamp >$venv/.installed-"$kind"
  fi
  $py hatch_build.py
}

# A Chromium that was unpacked finds its libraries and fonts through this command.
write_chromium() {
  local libraries
  libraries=$(find "$PWD/$debian/usr/lib" "$PWD/$debian/lib" -regex '.*\.so\(\.[0-9.]*\)?' -printf '%h\n' | sort -u | paste -sd:)
  mkdir -p .make/bin
  cat >.make/fonts.conf <<END
<fontconfig>
  <dir>$PWD/$debian/usr/share/fonts</dir>
  <cachedir>$PWD/.make/fonts</cachedir>
</fontconfig>
END
  cat >.make/bin/chromium <<END
#!/bin/sh
export LD_LIBRARY_PATH="$libraries" FONTCONFIG_FILE="$PWD/.make/fonts.conf"
exec "$PWD/$debian/usr/lib/chromium/chromium" "\$@"
END
  chmod +x .make/bin/chromium
  .make/bin/chromium --version >/dev/null || { rm .make/bin/chromium; return 1; }
}

browser() {
  local missing=()
  if [ -x .make/bin/chromium ]; then return; fi
  command -v chromium >/dev/null || missing+=(chromium)
  [ -n "$(fc-list :lang=zh 2>/dev/null)" ] || missing+=(fontconfig fonts-noto-cjk)
  if [ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"; then return; fi
  apt_unpack chromium fontconfig fonts-noto-cjk && write_chromium ||
    fail "the browser tests need Debian packages. Run as root: apt-get install -y ${missing[*]}"
}

case ${1:-} in
  run | dev) environment "$1" ;;
  browser) browser ;;
  *) fail "usage: scripts/setup.sh run | dev | browser" ;;
esac
