# `make run` serves, `make test` tests; everything is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Arguments for pytest, for example: make test ARGS="-k search -x"
ARGS ?=
# Checks read the settings of a fresh installation, and leave nobody's state directory behind.
CHECK_ENV := GOCLAW_CONFIG_CHECK=1 GOCLAW_STATE_DIR=$(CURDIR)/.cache/state
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	--no-emit-index-url --no-emit-find-links --no-header
APT := apt-get -qq -o DPkg::Lock::Timeout=120

.DEFAULT_GOAL := help
.PHONY: help setup run screenshots test test-backends test-slow check format lock docs bench-retrieval chromium

help:
	@echo "make setup            install everything into $(VENV)"
	@echo "make run              start the server on http://localhost:8000/"
	@echo "make test             run the tests (ARGS=\"...\" goes to pytest)"
	@echo "make test-backends    run what touches the database on PostgreSQL (.ci/run does)"
	@echo "make test-slow        run the slow ones (.ci/run does)"
	@echo "make check            format, lint, types, imports, templates, migrations, docs"
	@echo "make format           put code into its form"
	@echo "make docs             write the generated pages of docs/"
	@echo "make lock             write requirements*.txt from requirements*.in"
	@echo "make screenshots      pictures of every page, into screenshots/"
	@echo "make bench-retrieval  measure retrieval (BENCH_DATA, CROSS=1 cross-validates)"

setup: $(VENV)/.dev

run: $(VENV)/.runtime
	@$(BIN)/goclaw up

test: $(VENV)/.dev chromium
	$(BIN)/python -m pytest -n auto -m "not slow" $(ARGS)

# The tests start a PostgreSQL of their own, from the wheel.
test-backends: $(VENV)/.dev
	GOCLAW_TEST_DATABASE=postgres $(BIN)/python -m pytest -n auto -m "db and not slow" $(ARGS)

# Crowds, long inputs and live loads: minutes, not seconds.
test-slow: $(VENV)/.dev chromium
	$(BIN)/python -m pytest -m slow $(ARGS)

check: $(VENV)/.dev
	@mkdir -p .cache/state
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(CHECK_ENV) $(BIN)/mypy .
	$(CHECK_ENV) $(BIN)/lint-imports
	$(BIN)/djlint templates --lint --quiet
	$(CHECK_ENV) $(BIN)/python manage.py makemigrations --check --dry-run
	$(CHECK_ENV) $(BIN)/python manage.py docs_configuration --check

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.runtime
	@mkdir -p .cache/state
	$(CHECK_ENV) $(BIN)/python manage.py docs_configuration

lock: $(VENV)/.dev
	$(LOCK) requirements.in -o requirements.txt
	$(LOCK) requirements-dev.in -o requirements-dev.txt

bench-retrieval: $(VENV)/.runtime
	$(BIN)/python -m benchmarks.retrieval $(if $(CROSS),--cross-validate)

# Every page, light and dark, wide and narrow, for people to look at.
screenshots: $(VENV)/.dev chromium
	$(BIN)/python -m benchmarks.screenshots

# Debian's package: playwright's own download is not needed.
chromium:
	@if command -v chromium >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium for the browser tests ..."; \
		export DEBIAN_FRONTEND=noninteractive; \
		{ $(APT) update && $(APT) install -y --no-install-recommends chromium; } >/dev/null && exit 0; \
	fi; \
	echo "Chromium is not here (apt install chromium): browser tests are skipped."

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; PYTHON=/path/to/python3 names another one."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "Python's venv module is missing. On Debian: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.created requirements.txt requirements.in pyproject.toml setup.py
	$(PIP) install -r requirements.txt
	$(PIP) install --no-deps -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements-dev.txt
	$(PIP) install -r requirements-dev.txt
	@touch $@
