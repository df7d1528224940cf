#!/usr/bin/env bash
# Makes records at a service on PostgreSQL, backs it up and restores it by the commands of docs/OPERATING.md, and compares the answers.
# usage: tools/restore/run.sh
# SIGHTLINE_TEST_POSTGRES_URL names the server, such as postgres://postgres@127.0.0.1/postgres, on which two databases are made and dropped.
# SERVER names a built `sightline` to use instead of building one. Needs Rust and Python 3.11; installs Debian's
# client of PostgreSQL if there is none.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/tools/common.sh"

[ -n "${SIGHTLINE_TEST_POSTGRES_URL:-}" ] || {
    echo 'restore-drill: set SIGHTLINE_TEST_POSTGRES_URL, such as postgres://postgres@127.0.0.1/postgres' >&2
    exit 1
}
if ! compgen -G '/usr/lib/postgresql/*/bin/pg_dump' >/dev/null && ! command -v pg_dump >/dev/null; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-client
fi
# Debian keeps the programs of each version apart. The newest reads all servers.
newest=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -1 || true)
export PATH=${newest:+$newest:}$PATH
find_server
# shellcheck disable=SC2154 # find_server sets it
exec python3 -B "$root/tools/restore/drill.py" "$server" "$SIGHTLINE_TEST_POSTGRES_URL"
