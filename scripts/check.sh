#!/usr/bin/env bash
# Everything but the tests: lint, format, types, import contract, studio, bundle budget. Runs all, then tells.
set -euo pipefail
cd "$(dirname "$0")/.."
py=.venv/bin/python
failed=()

step() {
  local name=$1
  shift
  printf '== %s\n' "$name"
  "$@" || failed+=("$name")
}

export PYRIGHT_PYTHON_IGNORE_WARNINGS=1 # no look for a newer version
step "lint" $py -m ruff check .
step "format" $py -m ruff format --check .
step "types" $py -m pyright
step "import contract" .venv/bin/lint-imports --no-cache --no-logo
step "studio types" $py hatch_build.py npm run types
step "studio lint" $py hatch_build.py npm run lint
step "bundle budget" $py hatch_build.py npm run budget

if [ ${#failed[@]} -gt 0 ]; then
  printf 'Failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "All checks passed"
