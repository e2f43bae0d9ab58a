# `make start` and `make test` do all set-up themselves: they need Python 3.11, git and make, no more.
SHELL := /bin/bash
PY := .venv/bin/python
COMPILE := $(PY) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header

.PHONY: help start test check studio format lock mutants clean

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 18

start: ## set everything up, then serve the studio and print its address (ARGS="--port 9000")
	@scripts/setup.sh run
	@$(PY) scripts/first_model.py
	@exec $(PY) -m wenfang serve --project examples/office $(ARGS)

test: ## set everything up, then run all tests and the coverage gate
	@scripts/setup.sh dev
	@scripts/setup.sh browser
	@scripts/test.sh

check: ## lint, types, import contract, studio checks and bundle budget
	@scripts/setup.sh dev
	@scripts/check.sh

studio: ## build the studio again if its sources changed
	@scripts/setup.sh run

format: ## format the Python code
	@scripts/setup.sh dev
	@$(PY) -m ruff check --fix --quiet .
	@$(PY) -m ruff format --quiet .

lock: ## compile the hashed lock files after a change in pyproject.toml (ARGS=--upgrade: newest versions)
	@scripts/setup.sh dev
	@$(COMPILE) $(ARGS) pyproject.toml --group build -o requirements.lock
	@$(COMPILE) $(ARGS) pyproject.toml --all-extras --group build --group dev -c requirements.lock -o requirements-dev.lock

mutants: ## change the code of core and runs on purpose and count how often the tests notice
	@scripts/setup.sh dev
	@$(PY) scripts/mutants.py $(ARGS)

clean: ## remove the environment and everything that was built; keeps your data
	@rm -rf .venv .make build dist htmlcov mutants web/node_modules src/wenfang/web/static
