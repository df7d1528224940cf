#!/usr/bin/env bash
# Runs the code blocks of README, the guide, the recipes and the page for operators against the demo, then the demo behind the proxies that
# the page for operators configures.
# usage: tools/recipes/run.sh
# Everything is written below target/recipes. SERVER names a built `sightline` to use instead of building one. Needs Rust, Node 20, Python
# 3.11, curl and OpenSSL. nginx and Caddy, where they are missing, are Debian's, unpacked there and not installed.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/recipes
work=$root/target/recipes
mkdir -p "$work/debian"

. "$root/tools/common.sh"
trap stop_server EXIT

# Prints the path of a program, which the Debian package of the same name holds.
# usage: proxy NAME
proxy() {
    local program
    for program in "$(PATH=$PATH:/usr/sbin command -v "$1")" "$work/debian/usr/sbin/$1" "$work/debian/usr/bin/$1"; do
        if [ -x "$program" ]; then
            echo "$program"
            return
        fi
    done
    (
        cd "$work/debian"
        apt-get download "$1" || { apt-get update && apt-get download "$1"; }
        dpkg -x "$1"_*.deb .
    ) >&2
    ls "$work/debian"/usr/*bin/"$1"
}

find_server
nginx=$(proxy nginx)
caddy=$(proxy caddy)
# A person on the plan `pro` may ask more than the recipes do. The plan `free` keeps its burst, and meets it; it fills up sooner, so that what waits for
# it waits for seconds.
start_server SIGHTLINE_LISTEN=127.0.0.1:0 SIGHTLINE_PLANS__PRO__BURST=1000 SIGHTLINE_PLANS__FREE__PER_MINUTE=600 serve
python3 -B "$here/run.py" "$server" "$url" "$work/blocks" README.md docs/GUIDE.md docs/RECIPES.md docs/OPERATING.md
python3 -B "$here/proxies.py" "$server" "$work/proxies" "$nginx" "$caddy"
echo "recipes: every block that can run was run"
