# shellcheck shell=bash
# Functions for the run.sh of google, mcp, providers, fuzz, recipes, restore and sdk. Each sources this file with `root` and `work` set.

# Installs the Python packages of a requirements.txt below $work/venv, anew when the list has changed.
# usage: install_python FILE
install_python() {
    if cmp -s "$1" "$work/venv/requirements.txt"; then return; fi
    rm -rf "$work/venv"
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$1"
    cp "$1" "$work/venv/requirements.txt"
}

# Sets `server` to the program that SERVER names, or builds it.
find_server() {
    if [ -z "${SERVER:-}" ]; then cargo build --manifest-path "$root/Cargo.toml"; fi
    server=$(realpath "${SERVER:-${CARGO_TARGET_DIR:-$root/target}/debug/sightline}")
}

# Runs the program in a new folder, and sets `url` to its address once it accepts requests. No setting of the person who runs this
# reaches it.
# usage: start_server [NAME=VALUE...] COMMAND [ARGUMENT...]
start_server() {
    local settings=()
    while [[ $1 == *=* ]]; do
        settings+=("$1")
        shift
    done
    data=$(mktemp -d)
    # Emptied before the server starts in the background, so that the loop below never reads the address of an earlier run.
    : >"$work/server.out"
    (cd "$data" && exec env -i PATH="$PATH" HOME="$data" RUST_LOG=warn "${settings[@]}" "$server" "$@") \
        >"$work/server.out" 2>"$work/server.log" &
    server_id=$!
    for _ in $(seq 600); do
        url=$(sed -n 's/^listening on //p' "$work/server.out")
        if [ -n "$url" ]; then break; fi
        kill -0 "$server_id" || break
        sleep 0.1
    done
    if [ -z "$url" ]; then cat "$work/server.log"; return 1; fi
    export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
}

# Stops what `start_server` started, and deletes its folder.
stop_server() {
    if [ -n "${server_id:-}" ]; then kill "$server_id" && wait "$server_id" || true; fi
    if [ -n "${data:-}" ]; then rm -rf "$data"; fi
}

# Signs the demo owner in at the running server, and sets `TOKEN`.
sign_in() {
    TOKEN=$(env -i PATH="$PATH" HOME="$data" SIGHTLINE_BASE_URL="$url" "$server" login --as owner)
}
