#!/usr/bin/env bash
# Holds the dependencies against deny.toml, and Swagger UI against its newest release. What cannot be had here (cargo-deny, the database of
# advisories, the registry) is named and fails nothing, unless AUDIT=whole demands all of it.
# usage: tools/audit/run.sh
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"

missing=0
lacks() {
    echo "audit: not checked: $1"
    missing=1
}

dependencies() {
    if ! cargo deny --version >/dev/null 2>&1; then
        lacks 'dependencies: cargo-deny is not installed; cargo install --locked cargo-deny'
        return
    fi
    cargo deny --log-level warn check --disable-fetch bans licenses sources
    if timeout 60 cargo deny --log-level error fetch db >/dev/null 2>&1; then
        cargo deny --log-level warn check --disable-fetch advisories
    elif compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*/crates" >/dev/null; then
        echo 'audit: the database of advisories cannot be fetched; the one that was fetched last is used'
        cargo deny --log-level warn check --disable-fetch advisories
    else
        lacks 'advisories: their database cannot be fetched'
    fi
}

swagger_ui() {
    local ours newest rest
    read -r ours rest <src/web/documentation/swagger-ui/VERSION
    if ! newest=$(timeout 60 npm view --silent swagger-ui-dist version 2>/dev/null); then
        lacks 'Swagger UI: its newest release cannot be asked for'
    elif [ "$ours" != "$newest" ]; then
        echo "audit: Swagger UI is $ours, and $newest is out: tools/swagger-ui/update.sh"
    fi
}

dependencies
swagger_ui
if [ "$missing" = 0 ]; then echo 'audit: everything was checked'; fi
if [ "${AUDIT:-}" = whole ]; then exit "$missing"; fi
