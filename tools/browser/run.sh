#!/usr/bin/env bash
# Walks through the pages of a running service in headless Chromium: with local accounts, with a provider to sign in at, and with an
# issuer of its own.
# usage: tools/browser/run.sh [journey...]
# SERVER names a built `sightline` to use instead of building one, CHROMIUM a browser. Screens are kept in target/browser. Needs Rust and
# Node 20; installs Debian's Chromium and Poppler if there is none.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/browser

if ! cmp -s "$here/package-lock.json" "$here/node_modules/installed.json"; then
    npm ci --prefix "$here" --no-audit --no-fund
    cp "$here/package-lock.json" "$here/node_modules/installed.json"
fi
if [ -z "${CHROMIUM:-}" ]; then
    CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
fi
packages=()
if [ -z "$CHROMIUM" ]; then packages+=(chromium); fi
if ! command -v pdftotext >/dev/null; then packages+=(poppler-utils); fi
if [ ${#packages[@]} -gt 0 ]; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
    CHROMIUM=${CHROMIUM:-$(command -v chromium)}
fi
if [ -z "${SERVER:-}" ]; then
    cargo build --manifest-path "$root/Cargo.toml"
    SERVER=${CARGO_TARGET_DIR:-$root/target}/debug/sightline
fi
mkdir -p "$root/target/browser"
SERVER=$SERVER CHROMIUM=$CHROMIUM SCREENS=$root/target/browser exec node "$here/main.mjs" "$@"
