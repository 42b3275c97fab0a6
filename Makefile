# On a fresh machine with Python and a C++ compiler, each of these sets up all that it needs:
#   make demo    run the main job on a bundled table
#   make test    run the tests

# Python 3.11 or newer.
PYTHON ?= python3
# Processes that run tests side by side.
JOBS ?= auto

VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -type f -not -name '*.pyc') CMakeLists.txt pyproject.toml
CORE := $(wildcard src/core/*/*.cpp src/core/*/*.hpp)

OLDEST := .venv-oldest/bin

.PHONY: help demo test test-slow test-oldest lint types docs format clean

help:
	@echo "make demo       set up .venv and run the main job on a bundled table"
	@echo "make test       set up .venv and run the tests"
	@echo "make test-slow  run the tests that take minutes"
	@echo "make test-oldest  run the tests with the oldest supported versions, in .venv-oldest"
	@echo "make lint       check the style of the code"
	@echo "make types      check the types"
	@echo "make docs       build the documentation into docs/_build/html"
	@echo "make format     format the code"
	@echo "make clean      remove everything that was built"

demo: $(VENV)/installed-cli
	$(BIN)/lessnaive demo

test: $(VENV)/installed-dev
	$(BIN)/pytest -n $(JOBS) -m "not slow"

test-slow: $(VENV)/installed-dev
	$(BIN)/pytest -n $(JOBS) -m slow

# The package is built with today's tools; the packages that it runs with are the oldest. Without
# river, whose versions want newer ones of pandas and scipy.
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	$(OLDEST)/pip install --quiet -c tests/oldest.txt '.[cli,plot]' \
	  hypothesis pandas polars pytest pytest-xdist
	$(OLDEST)/pytest -n $(JOBS) -m "not slow"

lint: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run -Werror $(CORE)

types: $(VENV)/installed-dev
	$(BIN)/mypy

docs: $(VENV)/installed-dev
	$(BIN)/sphinx-build -W -b html docs docs/_build/html

format: $(VENV)/installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(CORE)

clean:
	rm -rf $(VENV) .venv-oldest build dist demo-output
	rm -rf docs/_build docs/auto_examples docs/api/generated docs/sg_execution_times.rst
	rm -rf .pytest_cache .hypothesis .mypy_cache .ruff_cache

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.version_info < (3, 11) and sys.exit("lessnaive needs Python \
	3.11 or newer, and $(PYTHON) is older: name another one, as in make demo PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)

# The package is installed as users have it, not linked to src; again whenever a source changes.
$(VENV)/installed-cli: $(VENV)/pyvenv.cfg $(SOURCES)
	$(BIN)/pip install --quiet '.[cli]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/pyvenv.cfg $(SOURCES)
	$(BIN)/pip install --quiet '.[dev]'
	@touch $@ $(VENV)/installed-cli
