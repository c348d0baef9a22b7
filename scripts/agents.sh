#!/bin/sh
# Installs the agent programs that `make test-agents` drives, at the versions the adapters were tried with, into
# .cache/agents/<program>: Codex and Claude Code, with AGENTS=all Copilot and OpenCode too, and the makers' SDKs of the
# first two (450 MB, most of it a second Claude Code) in an environment of their own. What cannot be installed is said and
# its tests are skipped; in CI that is a failure for Codex and Claude Code, so that no green CI hides it.
set -eu
cd "$(dirname "$0")/.."

case "$(uname -s)-$(uname -m)" in
Linux-x86_64) platform=linux-x64 ;;
Linux-aarch64) platform=linux-arm64 ;;
Darwin-x86_64) platform=darwin-x64 ;;
Darwin-arm64) platform=darwin-arm64 ;;
*) platform= ;;
esac

# program package version
agents() {
    echo "codex @openai/codex 0.169.0"
    echo "claude @anthropic-ai/claude-code-$platform 2.1.327"
    if [ "${AGENTS:-}" = all ]; then
        echo "copilot @github/copilot 1.0.102"
        echo "opencode opencode-ai 1.18.33"
    fi
}

# Where npm puts a program: beside the others of its prefix, or, of Claude Code's package, in the package itself.
place() { # program package
    for file in ".cache/agents/$1/bin/$1" ".cache/agents/$1/lib/node_modules/$2/$1"; do
        if [ -x "$file" ]; then echo "$file" && return; fi
    done
}

is_there() { # program package version
    file=$(place "$1" "$2")
    [ -n "$file" ] && "$file" --version 2>/dev/null | grep -qF -- "$3"
}

# Another folder first: a program that is only half there is never found.
install() { # program package version
    command -v npm >/dev/null || { why="npm is not here" && return 1; }
    half=.cache/agents/.$1.half
    rm -rf "$half" && mkdir -p "$half"
    log=.cache/agents/$1.log
    npm install --global --prefix "$half" --no-audit --no-fund --no-update-notifier "$2@$3" >"$log" 2>&1 || {
        why="npm could not install it (see $log)" && return 1
    }
    rm -rf ".cache/agents/$1" && mv "$half" ".cache/agents/$1"
    is_there "$1" "$2" "$3" || { why="what npm installed does not say that it is $3" && return 1; }
}

missing=
while read -r program package version; do
    if is_there "$program" "$package" "$version"; then
        echo "$program $version is in .cache/agents/$program"
    elif install "$program" "$package" "$version"; then
        echo "$program $version was installed into .cache/agents/$program"
    else
        echo "SKIPPING the tests of the real $program: $package@$version: $why" >&2
        case $program in codex | claude) missing="$missing $program" ;; esac
    fi
done <<LIST
$(agents)
LIST

# A file says when they are whole: an environment knows its place, so it is not made elsewhere first.
sdks() {
    sdk=.cache/agents/sdk
    wanted="claude-agent-sdk==0.2.184 openai-codex-sdk==0.1.11"
    if [ -x "$sdk/bin/python" ] && [ "$(cat "$sdk/wanted" 2>/dev/null)" = "$wanted" ]; then
        echo "$wanted are in $sdk" && return
    fi
    rm -rf "$sdk"
    # shellcheck disable=SC2086 # two words
    if .venv/bin/python -m venv "$sdk" &&
        "$sdk/bin/python" -m pip --disable-pip-version-check install --quiet $wanted >"$sdk.log" 2>&1; then
        echo "$wanted" >"$sdk/wanted"
        echo "$wanted were installed into $sdk"
    else
        rm -rf "$sdk"
        echo "SKIPPING the tests of the SDKs: pip could not install $wanted (see $sdk.log)" >&2
    fi
}
if [ "${AGENTS:-}" = all ]; then sdks; fi

if [ -n "$missing" ] && [ "${CI:-}" = true ]; then
    echo "CI has to try the real programs, and these could not be installed:$missing" >&2
    exit 1
fi
