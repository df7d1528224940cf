#!/usr/bin/env bash
# Runs three replicas under load and faults for ten minutes, and checks what they promised.
# usage: tools/soak/run.sh [more arguments of main.py, such as --seed N]
# SOAK_SECONDS is how long it takes, 600 unless set. SERVER and SERVER_NEXT name built programs of two versions to use instead of building
# them. The history and the logs are kept in target/soak/last. Needs Rust, Python 3.11, git, PostgreSQL and redis-server.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/soak
work=$root/target/soak
mkdir -p "$work"

. "$root/tools/common.sh"

python3 -B -m unittest discover --quiet --start-directory "$here"
find_server
if [ -z "${SERVER_NEXT:-}" ]; then
    target=$(realpath "${CARGO_TARGET_DIR:-$root/target}")
    python3 -B "$here/next_version.py" "$root" "$work/next"
    (cd "$work/next" && cargo build --target-dir "$target")
    SERVER_NEXT=$target/debug/sightline-next
fi
python3 -B "$here/main.py" --seconds "${SOAK_SECONDS:-600}" --keep "$work/last" "$@" "$server" "$SERVER_NEXT"
