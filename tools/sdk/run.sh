#!/usr/bin/env bash
# Makes clients from openapi.json with other people's generators, compiles them, and makes typed calls with each against
# a running server. Then makes each read that the converters of Postman and Bruno make of the document that the server serves.
# usage: tools/sdk/run.sh [openapi.json]
# Everything is installed and generated below target/sdk, which is kept between runs, but for Debian's packages of Ruby, PHP, Go and
# Java, which are installed where they are missing. SERVER names a built `sightline` to use instead of building one. Needs Rust, Node 20,
# Python 3.11 and Debian; the Java that generates comes with a Python package.
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
# usage: install_node FROM TO
install_node() {
    if cmp -s "$1/package-lock.json" "$2/node_modules/installed.json"; then return; fi
    mkdir -p "$2"
    cp "$1/package.json" "$1/package-lock.json" "$2/"
    npm ci --prefix "$2" --no-audit --no-fund
    cp "$2/package-lock.json" "$2/node_modules/installed.json"
}

# The interpreters and compilers of four languages, and what the clients need beside their standard libraries.
install_debian() {
    local packages=() package
    for package in ruby ruby-typhoeus php-cli php-curl php-mbstring php-guzzlehttp-guzzle golang-go golang-golang-x-oauth2-dev \
        libgeronimo-annotation-1.3-spec-java; do
        if ! dpkg -s "$package" >/dev/null 2>&1; then packages+=("$package"); fi
    done
    if ! command -v javac >/dev/null; then packages+=(default-jdk-headless); fi
    if [ ${#packages[@]} = 0 ]; then return; fi
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
}

# generator, folder, options
openapi_generator() {
    rm -rf "$work/$2/client"
    "$work/venv/bin/openapi-generator-cli" generate -i "$document" -g "$1" -o "$work/$2/client" \
        --additional-properties="$3"
}

# Four clients by one Java process, which spends most of its time on starting and on reading the document. The files generator.json name
# document and folders as they are below target/sdk.
openapi_generator_batch() {
    rm -rf "$work"/{ruby,php,go,java}
    cp "$document" "$work/openapi.json"
    (cd "$work" && venv/bin/openapi-generator-cli batch --fail-fast "$here"/{ruby,php,go,java}/generator.json)
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

# Go finds the client and Debian's packages in its older way, by GOPATH, and so fetches no modules.
compile_go() {
    mkdir -p "$work/go/src/call"
    cp "$here/go/main.go" "$work/go/src/call/"
    local settings=(GO111MODULE=off GOPATH="$work/go:/usr/share/gocode" GOCACHE="$work/go-cache" GOFLAGS= GOTOOLCHAIN=local)
    env "${settings[@]}" go vet sightline call
    env "${settings[@]}" go build -o "$work/go/call" call
}

# Debian has not all of Jackson that the client needs, and the generator holds it. `classpath` is used again to call.
compile_java() {
    local generator
    generator=$("$work/venv/bin/python" -c 'import openapi_generator_cli as package; print(package.__path__[0])')
    classpath=$work/java/classes:$generator/openapi-generator.jar:/usr/share/java/geronimo-annotation-1.3-spec.jar
    find "$work/java/client/src/main" -name '*.java' >"$work/java/sources"
    javac -proc:none -nowarn -encoding UTF-8 -cp "$classpath" -d "$work/java/classes" @"$work/java/sources" "$here/java/Call.java"
}

step "Python tools installed" install_python "$here/python/requirements.txt"
step "Node tools installed" install_node "$here/typescript" "$work"
step "converters installed" install_node "$here/converters" "$work/converters"
step "Ruby, PHP, Go and Java installed" install_debian

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
step "openapi-generator ruby, php, go, java: generated" openapi_generator_batch
step "openapi-generator go: compiled with its calls" compile_go
step "openapi-generator java: compiled with its calls" compile_java

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
step "openapi-generator ruby: loaded and called" ruby -I "$work/ruby/client/lib" "$here/ruby/call.rb"
step "openapi-generator php: loaded and called" php "$here/php/call.php" "$work/php/client"
step "openapi-generator go: called" "$work/go/call"
step "openapi-generator java: called" java -cp "$classpath" Call
step "Postman's and Bruno's converters: reads made" env PACKAGES="$work/converters" node "$here/converters/call.mjs"
echo "sdk-check: ten generated clients compile, and each made its typed calls against $BASE_URL; so did two converters' reads"
