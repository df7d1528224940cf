#!/usr/bin/env bash
# Signs in with official SDKs of the Model Context Protocol as they are, the newest release of each major that can sign in, with mcp-remote
# and with the MCP Inspector, calls every tool by each, and refreshes.
# usage: tools/mcp/sdks/run.sh
# MCP_SDKS says which: `all`, which it is unless set, `few` for one that is new and one that is old, or names of folders here. Everything
# is installed and kept below target/mcp/sdks. SERVER names a built `sightline` to use instead of building one. Needs Rust, Node 20 and
# Python 3.11.
set -euo pipefail

root=$(cd "$(dirname "$0")/../../.." && pwd)
here=$root/tools/mcp/sdks
sdks=$root/target/mcp/sdks

. "$root/tools/common.sh"

case ${MCP_SDKS:-all} in
    all) names=$(cd "$here" && printf '%s\n' */ | tr -d /) ;;
    few) names='typescript-2 python-1' ;;
    *) names=$MCP_SDKS ;;
esac

# Installs an SDK below $sdks/NAME, anew when the list of what it holds has changed, beside the program that drives it.
# usage: install NAME
install() {
    local name=$1 work=$sdks/$1 driver
    # Both majors of a language have one driver.
    driver=$(echo "$here/${name%-[0-9]}".*)
    mkdir -p "$work"
    rm -rf "$work"/driver.* "$work"/store-*
    cp "$driver" "$work/driver.${driver##*.}"
    cp "$here/browser.py" "$root/tools/mcp/person.py" "$work/"
    if [ -f "$here/$name/requirements.txt" ]; then
        install_python "$here/$name/requirements.txt"
    elif ! cmp -s "$here/$name/package-lock.json" "$work/node_modules/installed.json"; then
        cp "$here/$name/package.json" "$here/$name/package-lock.json" "$work/"
        # No script of a package runs here. The Inspector asks for Node 22, and this part of it works on 20.
        npm ci --prefix "$work" --silent --no-audit --no-fund --ignore-scripts
        cp "$here/$name/package-lock.json" "$work/node_modules/installed.json"
    fi
}

for name in $names; do
    if [ ! -d "$here/$name" ]; then echo "test-mcp: no SDK $name in tools/mcp/sdks" >&2; exit 1; fi
    install "$name"
done

find_server
export PYTHON=${PYTHON:-python3} NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
# shellcheck disable=SC2086
node "$here/check.mjs" "$server" "$sdks" "$root/tools/mcp/calls.json" $names
