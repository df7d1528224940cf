#!/usr/bin/env bash
# Calls the simulated SEO providers with the clients of their vendors: provider A with the vendor's own in Python, which
# checks every type strictly, and in TypeScript, provider B with one of a third party.
# usage: tools/providers/run.sh
# Everything is installed and kept below target/providers. SERVER names a built `sightline` to use instead of building one.
# Needs Rust, Node 20 and Python 3.11.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/providers
work=$root/target/providers
mkdir -p "$work"

. "$root/tools/common.sh"
trap stop_server EXIT

install_python "$here/python/requirements.txt"
# The installation is made anew when the list of what it holds has changed.
if ! cmp -s "$here/node/package-lock.json" "$work/node/node_modules/installed.json"; then
    mkdir -p "$work/node"
    cp "$here/node/package.json" "$here/node/package-lock.json" "$work/node/"
    npm ci --prefix "$work/node" --silent --no-audit --no-fund
    cp "$here/node/package-lock.json" "$work/node/node_modules/installed.json"
fi
cp "$here"/node/*.ts "$here"/node/*.js "$here/node/tsconfig.json" "$work/node/"
(cd "$work/node" && node_modules/.bin/tsc --outDir js)

find_server
start_server simulator --listen 127.0.0.1:0
export SIMULATOR_URL=$url

"$work/venv/bin/python" "$here/python/provider_a.py"
node "$work/node/js/provider_a.js"
node "$work/node/provider_b.js"
echo "providers-check: three clients called the simulated providers"
