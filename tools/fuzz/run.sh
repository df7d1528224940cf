#!/usr/bin/env bash
# Fuzzes a running server with schemathesis: every operation of its document, apart from those under README's "Not yet".
# usage: tools/fuzz/run.sh [more arguments of `schemathesis run`]
# Everything is installed and kept below target/fuzz. SERVER names a built `sightline` to use instead of building one, EXAMPLES
# is how many cases an operation gets per phase. Needs Rust and Python 3.11.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/fuzz
work=$root/target/fuzz
mkdir -p "$work"

finish() {
    if [ -n "${server_id:-}" ]; then kill "$server_id" && wait "$server_id" || true; fi
    if [ -n "${data:-}" ]; then rm -rf "$data"; fi
}
trap finish EXIT

# The installation is made anew when the list of what it holds has changed.
if ! cmp -s "$here/requirements.txt" "$work/venv/requirements.txt"; then
    rm -rf "$work/venv"
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$work/venv/"
fi

if [ -z "${SERVER:-}" ]; then cargo build --manifest-path "$root/Cargo.toml"; fi
server=$(realpath "${SERVER:-${CARGO_TARGET_DIR:-$root/target}/debug/sightline}")
data=$(mktemp -d)
# No setting of the person who runs this reaches the server. The pace towards the simulated search engine is for real ones.
(cd "$data" && exec env -i PATH="$PATH" HOME="$data" RUST_LOG=warn SIGHTLINE_LISTEN=127.0.0.1:0 \
    SIGHTLINE_RATE_LIMIT__ENABLED=false SIGHTLINE_SEARCH_ENGINE__BUCKET=1000000 \
    SIGHTLINE_SEARCH_ENGINE__REFILL_PER_SECOND=1000000 "$server" serve) >"$work/server.out" 2>"$work/server.log" &
server_id=$!
for _ in $(seq 600); do
    base_url=$(sed -n 's/^listening on //p' "$work/server.out")
    if [ -n "$base_url" ]; then break; fi
    kill -0 "$server_id" || break
    sleep 0.1
done
if [ -z "$base_url" ]; then cat "$work/server.log"; exit 1; fi

TOKEN=$(env -i PATH="$PATH" HOME="$data" SIGHTLINE_BASE_URL="$base_url" "$server" login --as owner)
export TOKEN BASE_URL=$base_url NO_PROXY=127.0.0.1 no_proxy=127.0.0.1

# The list between "## Not yet" and "What else" names operations in backticks.
not_yet=$(sed -n '/^## Not yet/,/^What else/p' "$root/README.md" | grep -o '`[a-z][A-Za-z]*`' | tr -d '`' || true)
excluded=()
for operation in $not_yet; do
    grep -q "\"operationId\": \"$operation\"" "$root/openapi.json" || { echo "README: $operation is no operation" >&2; exit 1; }
    excluded+=(--exclude-operation-id "$operation")
done
echo "not fuzzed, as README says: $((${#excluded[@]} / 2)) operations"

# What it remembers of failures is kept where it runs, and it looks for hooks there.
cp "$here/hooks.py" "$work/"
cd "$work"
"$work/venv/bin/schemathesis" --config-file "$here/schemathesis.toml" run "$base_url/openapi.json" \
    --max-examples "${EXAMPLES:-15}" --report junit --report-dir "$work" "${excluded[@]}" "$@"
