# graphmem: `make demo` shows it, `make test` proves it. Needs Python 3.11 or later and make; everything else is installed here.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-fast test-slow test-live lint bench clean

demo: $(STAMP)
	$(BIN)/graphmem demo

# Two processes: the machine that runs this in CI has two cores.
test: $(STAMP)
	$(PYTEST) -m "not slow and not live" -n 2 --dist loadgroup

test-fast: $(STAMP)
	$(PYTEST) -q

test-slow: $(STAMP)
	$(PYTEST) -m slow --durations 10

# Costs a few calls: GRAPHMEM_LIVE_MODEL=NAME OPENAI_API_KEY=... make test-live; see CONTRIBUTING.md.
test-live: $(STAMP)
	$(PYTEST) -m live tests/live -p no:randomly

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[local]" --group dev
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
