#!/usr/bin/env bash
# All tests once, under coverage: Python (the browser's among them), the coverage gate, the studio's own.
set -euo pipefail
cd "$(dirname "$0")/.."
py=.venv/bin/python
mkdir -p .make
export PATH="$PWD/.make/bin:$PATH" # a Chromium that was set up without root

$py -m pytest -n 2 --dist loadfile --cov --cov-report= --cov-report=json:.make/coverage.json \
  --junitxml=.make/pytest.xml "$@"
$py scripts/coverage_gate.py .make/coverage.json core models runs

$py hatch_build.py npm run test
