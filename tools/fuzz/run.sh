#!/usr/bin/env bash
# Fuzzes a running server with schemathesis: every operation of its document but deletePersonalData, after which its
# token is refused.
# usage: tools/fuzz/run.sh [more arguments of `schemathesis run`]
# Everything is installed and kept below target/fuzz. SERVER names a built `sightline` to use instead of building one, EXAMPLES
# is how many cases an operation gets per phase. Needs Rust and Python 3.11.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/fuzz
work=$root/target/fuzz
mkdir -p "$work"

. "$root/tools/common.sh"
trap stop_server EXIT

install_python "$here/requirements.txt"
find_server
# The pace towards the simulated search engine is for real ones.
start_server SIGHTLINE_LISTEN=127.0.0.1:0 SIGHTLINE_RATE_LIMIT__ENABLED=false SIGHTLINE_SEARCH_ENGINE__BUCKET=1000000 \
    SIGHTLINE_SEARCH_ENGINE__REFILL_PER_SECOND=1000000 serve
sign_in
export TOKEN BASE_URL=$url

# What it remembers of failures is kept where it runs, and it looks for hooks there.
cp "$here/hooks.py" "$work/"
cd "$work"
"$work/venv/bin/schemathesis" --config-file "$here/schemathesis.toml" run "$url/openapi.json" \
    --max-examples "${EXAMPLES:-15}" --report junit --report-dir "$work" --exclude-operation-id deletePersonalData "$@"
