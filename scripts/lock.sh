#!/usr/bin/env bash
# Renews requirements.lock (what skillopt needs, and what installs it from this tree) and
# requirements-dev.lock (that, and the tools of the checks, tests and benchmarks).
# Versions already locked stay unless asked: scripts/lock.sh --upgrade, or --upgrade-package NAME.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=.venv-lock
[ -x "$venv/bin/pip-compile" ] || { "$(scripts/python.sh)" -m venv "$venv" && "$venv/bin/pip" install --quiet pip-tools; }

export CUSTOM_COMPILE_COMMAND="scripts/lock.sh"
compile() {
    "$venv/bin/pip-compile" --quiet --generate-hashes --allow-unsafe --strip-extras --newline lf \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options \
        --build-deps-for editable "$@" pyproject.toml
}

compile "$@" --output-file requirements.lock
compile "$@" --extra dev --extra bench --constraint requirements.lock --output-file requirements-dev.lock
