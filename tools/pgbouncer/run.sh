#!/usr/bin/env bash
# Runs the integration suite on PostgreSQL behind PgBouncer in transaction mode.
# usage: tools/pgbouncer/run.sh [argument of the test program...]
# SIGHTLINE_TEST_POSTGRES_URL names the server, such as postgres://postgres@127.0.0.1/postgres, and SIGHTLINE_TEST_REDIS_URL a Redis server
# if tests shall share one. PGBOUNCER names the program, from version 1.21. Without one, that of this system is used or installed. If it is
# older, the one of Debian's stable release is built from source and kept in target/pgbouncer, which needs a C compiler. TESTS names a
# built test program to use instead of building one. Needs Rust and Python 3.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
work=$root/target/pgbouncer
mkdir -p "$work"

# Tests that cannot work behind a pooler, with their reason.
skipped=(
)

fail() { echo "test-pgbouncer: $1" >&2; exit 1; }

# Whether a program is PgBouncer 1.21 or newer: older ones know nothing of prepared statements.
fits() {
    local version
    version=$("$1" --version 2>/dev/null | sed -n 's/^PgBouncer \([0-9]*\.[0-9]*\).*/\1/p')
    [ -n "$version" ] && [ "$(printf '%s\n' 1.21 "$version" | sort -V | head -1)" = 1.21 ]
}

install() { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }

# Builds the source package of Debian's stable release, from the place where this system has its packages from.
build() {
    local place apt folder
    install dpkg-dev gcc libc6-dev libevent-dev make pkg-config || return
    # shellcheck disable=SC2016 # apt-get fills this in
    place=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' | sed -n 1p)
    [ -n "$place" ] || { echo 'this system has no packages of Debian' >&2; return 1; }
    folder=$(mktemp -d)
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $place stable main" >"$folder/sources.list"
    apt=(apt-get --option "Dir::Etc::sourcelist=$folder/sources.list" --option Dir::Etc::sourceparts=/dev/null
        --option "Dir::State::lists=$folder/lists" --option "Dir::Cache=$folder/cache" --option APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$folder" && "${apt[@]}" source pgbouncer && cd pgbouncer-*/ &&
        ./configure --quiet --without-cares --without-openssl --without-pam --without-systemd && make --silent pgbouncer &&
        cp pgbouncer "$work/")
    rm -rf "$folder"
}

# Sets PGBOUNCER to a program that fits.
find_pgbouncer() {
    if [ -n "${PGBOUNCER:-}" ]; then
        fits "$PGBOUNCER" || fail "$PGBOUNCER is no PgBouncer from version 1.21"
        return
    fi
    local candidate
    for candidate in "$(command -v pgbouncer || true)" /usr/sbin/pgbouncer "$work/pgbouncer"; do
        if fits "$candidate"; then PGBOUNCER=$candidate; return; fi
    done
    candidate=$(apt-cache policy pgbouncer 2>/dev/null | sed -n 's/^ *Candidate: //p')
    if [ -n "$candidate" ] && dpkg --compare-versions "$candidate" ge 1.21; then
        install pgbouncer
        PGBOUNCER=/usr/sbin/pgbouncer
    else
        build
        PGBOUNCER=$work/pgbouncer
    fi
    fits "$PGBOUNCER" || fail 'no PgBouncer from version 1.21 could be had'
}

# Starts PgBouncer on a port that the kernel picks, and sets `pooler` to its address. Another program may take the port before it does.
start_pgbouncer() {
    local port as=()
    # It refuses to run as root.
    if [ "$(id -u)" = 0 ]; then as=(--user=nobody); fi
    for _ in 1 2 3 4 5; do
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        # Two connections serve the four of a test app, so that statements of several share each of them.
        cat >"$folder/pgbouncer.ini" <<INI
[databases]
* = host=$host port=$server_port user=$user${password:+ password=$password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_prepared_statements = 200
ignore_startup_parameters = extra_float_digits, options
default_pool_size = 2
max_client_conn = 500
INI
        "$PGBOUNCER" "${as[@]}" "$folder/pgbouncer.ini" >"$work/pgbouncer.log" 2>&1 &
        process=$!
        until grep -q 'process up' "$work/pgbouncer.log"; do
            kill -0 "$process" 2>/dev/null || break
            sleep 0.1
        done
        if kill -0 "$process" 2>/dev/null; then pooler=127.0.0.1:$port; return; fi
    done
    cat "$work/pgbouncer.log" >&2
    fail 'PgBouncer did not start'
}

stop() {
    if [ -n "${process:-}" ]; then kill "$process" 2>/dev/null && wait "$process" || true; fi
    rm -rf "$folder"
}

url=${SIGHTLINE_TEST_POSTGRES_URL:-}
pattern='^postgres(ql)?://([^:@/]+)(:([^@/]*))?@([^:/]+)(:([0-9]+))?/'
[[ $url =~ $pattern ]] || fail 'set SIGHTLINE_TEST_POSTGRES_URL, such as postgres://postgres@127.0.0.1/postgres'
user=${BASH_REMATCH[2]} password=${BASH_REMATCH[4]} host=${BASH_REMATCH[5]} server_port=${BASH_REMATCH[7]:-5432}

folder=$(mktemp -d)
chmod 755 "$folder"
trap stop EXIT
find_pgbouncer
start_pgbouncer
echo "test-pgbouncer: $("$PGBOUNCER" --version | head -1) on $pooler"

cd "$root"
tests=(cargo test --test it --)
if [ -n "${TESTS:-}" ]; then tests=("$TESTS"); fi
arguments=()
for name in "${skipped[@]}"; do arguments+=(--skip "$name"); done
SIGHTLINE_TEST_POSTGRES_POOLER=$pooler "${tests[@]}" "${arguments[@]}" "$@"

# A suite that went past the pooler would prove nothing.
databases=$(sed -n 's/.*login attempt: db=\(sightline_test_[0-9_]*\).*/\1/p' "$work/pgbouncer.log" | sort -u | wc -l)
echo "test-pgbouncer: $databases databases were used behind PgBouncer"
[ "$databases" -gt 0 ] || fail 'no test reached PgBouncer'
