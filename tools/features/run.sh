#!/usr/bin/env bash
# Fails if tests switch on features of dependencies that `make run` builds without: those dependencies would be compiled twice.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Prints each dependency with its features, as a selection of packages resolves them.
# usage: features ARGUMENT...
features() {
    cargo tree --locked --prefix none --format '{p} [{f}]' "$@" | sed 's/ (\*)$//' | grep -v '(/' | sort -u
}

run=$(features --package sightline --edges normal,build)
tests=$(features --workspace --edges normal,build,dev)
twice=$(comm -23 <(echo "$run") <(echo "$tests"))
if [ -n "$twice" ]; then
    echo "features: tests build these dependencies of the server with other features; name them in Cargo.toml:" >&2
    echo "$twice" >&2
    exit 1
fi
