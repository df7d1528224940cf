#!/usr/bin/env bash
# Makes clients from openapi.json with other people's generators, compiles them, and makes typed calls with each against
# a running server.
# usage: tools/sdk/run.sh [openapi.json]
# Everything is installed and generated below target/sdk, which is kept between runs. SERVER names a built `sightline` to
# use instead of building one. Needs Rust, Node 20 and Python 3.11; Java comes with a Python package.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/sdk
work=$root/target/sdk
document=$(realpath "${1:-$root/openapi.json}")
package=packageName=sightline_client
mkdir -p "$work"
. "$root/tools/common.sh"

# Prints one line for a step; what the step itself printed is shown by `finish`, and only if it failed.
step() {
    running=$1
    local start=$SECONDS
    shift
    "$@" >"$work/step.log" 2>&1
    printf 'ok  %-60s %3d s\n' "$running" $((SECONDS - start))
    running=
}

# The first command that fails ends the script, also inside a step, whose output goes elsewhere: hence the copies.
exec 3>&1 4>&2
finish() {
    stop_server
    if [ -n "${running:-}" ]; then
        cat "$work/step.log" >&3
        printf 'FAILED  %s\n' "$running" >&4
    fi
}
trap finish EXIT

# The installation is made anew when the list of what it holds has changed.
install_node() {
    if cmp -s "$here/typescript/package-lock.json" "$work/node_modules/installed.json"; then return; fi
    cp "$here/typescript/package.json" "$here/typescript/package-lock.json" "$work/"
    npm ci --prefix "$work" --no-audit --no-fund
    cp "$work/package-lock.json" "$work/node_modules/installed.json"
}

# generator, folder, options
openapi_generator() {
    rm -rf "$work/$2/client"
    "$work/venv/bin/openapi-generator-cli" generate -i "$document" -g "$1" -o "$work/$2/client" \
        --additional-properties="$3"
}

# A Python client is installed as a package, so that its metadata is held to the standards too, and imported whole.
install_client() {
    rm -rf "$work/$1/site"
    "$work/venv/bin/python" -W error -m compileall -q -f "$work/$1/client/sightline_client"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
        --target "$work/$1/site" "$work/$1/client"
    PYTHONPATH=$work/$1/site "$work/venv/bin/python" -c 'import importlib, pkgutil, sightline_client as client
for module in pkgutil.walk_packages(client.__path__, "sightline_client."):
    importlib.import_module(module.name)'
}

call_with_python() {
    PYTHONPATH=$work/$1/site "$work/venv/bin/python" "$here/python/$2"
}

# The compiler checks client and calls, and writes what Node runs, or neither.
compile_typescript() {
    rm -rf "$work/$1/js"
    cp "$here/typescript/tsconfig.json" "$here/typescript/$1.ts" "$work/$1/"
    (cd "$work/$1" && "$work/node_modules/.bin/tsc" --outDir js)
}

openapi_typescript() {
    mkdir -p "$work/openapi-typescript/client"
    "$work/node_modules/.bin/openapi-typescript" "$document" -o "$work/openapi-typescript/client/schema.ts"
}

hey_api() {
    mkdir -p "$work/hey-api"
    "$work/node_modules/.bin/openapi-ts" -i "$document" -o "$work/hey-api/client" --no-log-file
}

openapi_python_client() {
    rm -rf "$work/openapi-python-client/client"
    # It formats its output with ruff, which it looks for in PATH.
    PATH=$work/venv/bin:$PATH openapi-python-client generate --path "$document" \
        --output-path "$work/openapi-python-client/client" --fail-on-warning
}

# The lock file is copied with the calls, so that Cargo may note another version of the client in the copy.
compile_rust() {
    mkdir -p "$work/rust/call"
    cp -R "$here/rust/." "$work/rust/call/"
    CARGO_TARGET_DIR=$work/rust/target RUSTFLAGS="-D warnings" cargo build --manifest-path "$work/rust/call/Cargo.toml"
}

step "Python tools installed" install_python "$here/python/requirements.txt"
step "Node tools installed" install_node

version=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["info"]["version"])' "$document")
step "openapi-generator python: generated" openapi_generator python python "$package,packageVersion=$version"
step "openapi-generator python: installed and imported" install_client python
step "openapi-python-client: generated" openapi_python_client
step "openapi-python-client: installed and imported" install_client openapi-python-client
step "openapi-generator typescript-fetch: generated" openapi_generator typescript-fetch typescript-fetch ""
step "openapi-generator typescript-fetch: compiled with its calls" compile_typescript typescript-fetch
step "openapi-typescript: generated" openapi_typescript
step "openapi-typescript: compiled with its calls" compile_typescript openapi-typescript
step "@hey-api/openapi-ts: generated" hey_api
step "@hey-api/openapi-ts: compiled with its calls" compile_typescript hey-api
# A CSV reaches the caller of a Rust client only as the content of a response, which this option hands out.
step "openapi-generator rust: generated" openapi_generator rust rust \
    "$package,supportMultipleResponses=true,useSingleRequestParameter=true"
step "openapi-generator rust: compiled with its calls" compile_rust

step "server built" find_server
step "server started" start_server SIGHTLINE_LISTEN=127.0.0.1:0 SIGHTLINE_RATE_LIMIT__ENABLED=false serve
step "signed in" sign_in
export TOKEN BASE_URL=$url

step "openapi-generator python: called" call_with_python python openapi_generator.py
step "openapi-python-client: called" call_with_python openapi-python-client openapi_python_client.py
for client in typescript-fetch openapi-typescript hey-api; do
    step "$client: called" node "$work/$client/js/$client.js"
done
step "openapi-generator rust: called" "$work/rust/target/debug/call"
echo "sdk-check: six generated clients compile, and each made its typed calls against $BASE_URL"
