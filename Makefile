# `make demo` and `make test` need Python >= 3.11 and make, nothing else.
# Every target works inside .venv, which is filled from requirements.lock and from nothing else.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYRIGHT := $(BIN)/pyright --project pyproject.toml --pythonpath $(BIN)/python
PYTHON_CANDIDATES := $(PYTHON) python3 python3.13 python3.12 python3.11 python3.14
UV_FLAGS ?=
PYTEST_FLAGS ?= -n 2

# Kernels are measured and tested one core at a time; BLAS must not start threads of its own beside them.
export OMP_NUM_THREADS ?= 1

.PHONY: help install demo test bench lint types format lock clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      set up .venv and run the demonstration"
	@echo "make test      set up .venv and run all tests"
	@echo "make bench     benchmarks, as ratios measured in one run"
	@echo "make lint      style, formatting and types"
	@echo "make types     types only"
	@echo "make format    rewrite the sources in the project's style"
	@echo "make lock      write requirements.lock anew (UV_FLAGS=--upgrade for newer versions)"
	@echo "make clean     remove .venv and caches"

demo: $(STAMP)
	$(BIN)/dynid demo -o dynid-demo --force

test: $(STAMP)
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

bench: $(STAMP)
	$(BIN)/python -m benchmarks

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYRIGHT)

types: $(STAMP)
	$(PYRIGHT)

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(STAMP)
	$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --python-version 3.11 --universal \
	    --fork-strategy fewest --generate-hashes --no-annotate --no-header --quiet $(UV_FLAGS) \
	    --output-file requirements.lock > /dev/null

clean:
	rm -rf $(VENV) .pytest_cache .hypothesis .ruff_cache build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2> /dev/null || true

install: $(STAMP)

# Run again whenever the lock or the project's own description changes.
$(STAMP): requirements.lock pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(BIN)/python:
	@for python in $(PYTHON_CANDIDATES); do \
	    if $$python -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then \
	        echo "setting up $(VENV) with $$($$python --version); this takes a few minutes"; \
	        exec $$python -m venv $(VENV); \
	    fi; \
	done; \
	echo "dynid needs Python 3.11 or newer with its venv module (tried: $(strip $(PYTHON_CANDIDATES)))." >&2; \
	echo "Install one (on Debian and Ubuntu also python3-venv), or name it: make PYTHON=/path/to/python3" >&2; \
	exit 1

.DELETE_ON_ERROR:
