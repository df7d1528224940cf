#!/usr/bin/env bash
# Signs in with the metadata of common assistants, then uses the tool endpoint with the official clients of the Model Context Protocol in
# TypeScript and Python, from sign-in to the last tool, with the protocol's conformance runner, and with official SDKs as they are
# (sdks/run.sh).
# usage: tools/mcp/run.sh
# Everything is installed and kept below target/mcp. SERVER names a built `sightline` to use instead of building one. MCP_SDKS says which
# SDKs: `all` unless set, or `few`. Needs Rust, Node 20 and Python 3.11.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/mcp
work=$root/target/mcp
mkdir -p "$work/node"

. "$root/tools/common.sh"
finish() {
    if [ $? -ne 0 ] && [ -n "${server_id:-}" ]; then tail -n 20 "$work/server.log" >&2; fi
    stop_server
}
trap finish EXIT

install_python "$here/requirements.txt"
# The installation is made anew when the list of what it holds has changed.
if ! cmp -s "$here/package-lock.json" "$work/node/node_modules/installed.json"; then
    cp "$here/package.json" "$here/package-lock.json" "$work/node/"
    npm ci --prefix "$work/node" --silent --no-audit --no-fund
    cp "$here/package-lock.json" "$work/node/node_modules/installed.json"
fi
# Node looks for packages beside a module.
rm -rf "$work/node/not-applicable"
cp -R "$here"/*.mjs "$here"/*.py "$here"/*.json "$here/not-applicable" "$work/node/"

export PYTHON=$work/venv/bin/python TOKEN RESULTS=$work/results
"$PYTHON" "$here/certificate.py" "$work/certificate.pem"

find_server
# The server trusts the certificate, and no other.
start_server SSL_CERT_FILE="$work/certificate.pem" SIGHTLINE_LISTEN=127.0.0.1:0 SIGHTLINE_RATE_LIMIT__ENABLED=false serve
sign_in

cd "$work/node"
"$PYTHON" assistants.py "$url" "$work/certificate.pem"
# Two of the tools ask an SEO provider.
node connect-provider.mjs "$url"
node client.mjs "$url/mcp"
"$PYTHON" client.py "$url/mcp" "$work/certificate.pem"
node conformance.mjs "$url"
# Each of these has a service of its own.
SERVER=$server "$here/sdks/run.sh"
echo "test-mcp: two official clients used every tool, the conformance runner's scenarios that apply passed, and SDKs signed in and refreshed"
