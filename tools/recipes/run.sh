#!/usr/bin/env bash
# Runs the code blocks of README, of the guide, of the recipes and of the page for operators against the demo, then a page, a redirect, a
# sign-in and a client's address behind the proxies that the page for operators configures.
# usage: tools/recipes/run.sh
# Everything is written below target/recipes. SERVER names a built `sightline` to use instead of building one. Needs Rust, Node 20, Python
# 3.11, curl and OpenSSL, and installs Debian's nginx and Caddy where they are missing.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/recipes
work=$root/target/recipes
mkdir -p "$work"

. "$root/tools/common.sh"
trap stop_server EXIT

find_server
# A person on the plan `pro` may ask more than the recipes do. The plan `free` keeps its rate, and meets it.
start_server SIGHTLINE_LISTEN=127.0.0.1:0 SIGHTLINE_PLANS__PRO__BURST=1000 serve
python3 -B "$here/run.py" "$server" "$url" "$work/blocks" ${DOCUMENTS:-README.md docs/GUIDE.md docs/RECIPES.md docs/OPERATING.md}
