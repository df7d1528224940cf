#!/bin/sh
# Lints the OpenAPI document with three independent linters; none may report an error or a warning.
# usage: tools/lint/run.sh [openapi.json]
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/lint
document=$(realpath "${1:-$root/openapi.json}")

if [ ! -x "$here/.venv/bin/openapi-spec-validator" ]; then
    python3 -m venv "$here/.venv"
    "$here/.venv/bin/pip" install --quiet --requirement "$here/requirements.txt"
fi
if [ ! -x "$here/node_modules/.bin/redocly" ]; then
    npm ci --prefix "$here" --no-audit --no-fund
fi

export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
"$here/.venv/bin/openapi-spec-validator" "$document"
# Redocly looks for a configuration file where it runs.
cd "$here"
./node_modules/.bin/redocly lint "$document" --extends=recommended-strict
./node_modules/.bin/spectral lint "$document" --ruleset spectral.yaml --fail-severity=warn
