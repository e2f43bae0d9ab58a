#!/usr/bin/env bash
# All tests once: first those that can share the machine, under coverage; then those that need it for
# themselves (a browser, a clock); then the studio's own.
set -euo pipefail
cd "$(dirname "$0")/.."
py=.venv/bin/python
export PATH="$PWD/.make/bin:$PATH" # a Chromium that was set up without root
rm -rf .make/reports
mkdir -p .make/reports

$py -m pytest -m "not alone" -n 2 --dist worksteal --junitxml=.make/reports/shared.xml \
  --cov --cov-report= --cov-report=json:.make/reports/coverage.json
$py -m pytest -m alone --junitxml=.make/reports/alone.xml
$py scripts/coverage_gate.py .make/reports/coverage.json core models runs
$py hatch_build.py npm run test
