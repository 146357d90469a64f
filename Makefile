# graphmem: `make demo` shows it, `make test` proves it. Needs Python 3.11 or later and make; everything else is installed here.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-fast test-neo4j test-slow test-live lint bench neo4j clean

demo: $(STAMP)
	$(BIN)/graphmem demo

# Two processes: the machine that runs this in CI has two cores.
test: $(STAMP)
	$(PYTEST) -m "not slow and not live" -n 2 --dist loadgroup --durations 20

test-fast: $(STAMP)
	$(PYTEST) -q

# On servers of two releases and in a container; each runs in one process, with its tests.
test-neo4j: $(STAMP)
	$(PYTEST) -m "neo4j and not slow" -n 2 --dist loadgroup

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

# A Neo4j server with Browser for machines without Docker, until Ctrl-C. HOME_FOLDER=FOLDER keeps the data there.
neo4j: $(STAMP)
	$(BIN)/python -m graphmem.testing.neo4j $(if $(HOME_FOLDER),--home "$(HOME_FOLDER)")

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[local]" --group dev
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
