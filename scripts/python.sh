#!/bin/sh
# Prints the Python that .venv is made with: the first on the PATH that is 3.11 or newer and can make environments.
for name in python3 python3.13 python3.12 python3.11 python; do
    if "$name" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
        command -v "$name"
        exit 0
    fi
done
echo "skillopt needs Python 3.11 or newer with its venv module, and found none on the PATH." >&2
echo "Install one (on Debian: apt-get install python3 python3-venv) and run make again." >&2
exit 1
