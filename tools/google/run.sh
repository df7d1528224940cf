#!/usr/bin/env bash
# Runs Google's own Python libraries for the grant and for reading against the simulated search engine.
# usage: tools/google/run.sh
# Everything is installed and kept below target/google. SERVER names a built `sightline` to use instead of building one. Needs
# Rust and Python 3.11.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/google
work=$root/target/google
mkdir -p "$work"

. "$root/tools/common.sh"
trap stop_server EXIT

install_python "$here/requirements.txt"
find_server
start_server simulator --listen 127.0.0.1:0
"$work/venv/bin/python" "$here/check.py" "$url"
