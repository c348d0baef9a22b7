# Everything a person or CI does here. `make` alone lists it; each target installs what it needs first.
.DEFAULT_GOAL := help
.PHONY: help setup demo test test-agents test-all bench bench-peers check clean
MAKEFLAGS += --no-builtin-rules --no-print-directory

BIN := .venv/bin
CORE := .venv/.core-installed
DEV := .venv/.dev-installed
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 20

setup: $(DEV)  ## make .venv and install skillopt and its tools from the locks

demo: $(CORE)  ## improve a small skill on scripted models: no key, no network
	@$(BIN)/skillopt demo

test: $(DEV)  ## every test that needs no other program than Python
	@$(BIN)/python -m pytest -n 2

test-agents: $(DEV)  ## the sandbox and the real agents, which are installed first; AGENTS=all installs every one
	@sh scripts/bubblewrap.sh
	@sh scripts/agents.sh
	@$(BIN)/python -m pytest -n 2 tests/sandbox tests/agents_real

test-all: test test-agents  ## test, test-agents, and the dashboard in a browser
	@echo "SKIPPED: no dashboard yet: nothing to run in a browser"

bench: $(DEV)  ## measure skillopt on the benchmark worlds
	@$(BIN)/python -m benchmarks

bench-peers:  ## measure the peers beside it
	@echo "bench-peers is not available yet: it comes with a later change. 'make bench' measures skillopt alone." >&2
	@exit 2

# Every tool runs, so that one round shows everything there is to mend; the last line names those that failed.
check: $(DEV)  ## lint, format, types, layers, dead code, docstrings, dependencies
	@failed=; \
	run() { name=$$1; shift; echo "== $$name"; "$$@" || failed="$$failed $$name"; }; \
	run ruff-check $(BIN)/ruff check --quiet --output-format concise; \
	run ruff-format $(BIN)/ruff format --check --quiet --output-format concise; \
	run mypy $(BIN)/mypy --no-error-summary; \
	run import-linter $(BIN)/lint-imports --no-logo --no-cache; \
	run vulture $(BIN)/vulture; \
	run interrogate $(BIN)/interrogate -vv --omit-covered-files src; \
	run deptry $(BIN)/deptry --no-ansi src; \
	if [ -n "$$failed" ]; then echo "check FAILED:$$failed" >&2; exit 1; fi; \
	echo "check passed"

clean:  ## remove what these targets made, .venv too
	rm -rf .venv .venv-lock build dist .hypothesis
	find . \( -name __pycache__ -o -name '.*_cache' \) -type d -prune -exec rm -rf {} +

# An environment that is missing, broken or too old is made anew; one that is fine is kept.
$(CORE): requirements.lock pyproject.toml
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	    python=$$(sh scripts/python.sh) && echo "making .venv with $$python" && "$$python" -m venv --clear .venv; }
	@echo "installing requirements.lock"
	@$(PIP) --require-hashes --requirement requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(CORE) requirements-dev.lock
	@echo "installing requirements-dev.lock"
	@$(PIP) --require-hashes --requirement requirements-dev.lock
	@touch $@
