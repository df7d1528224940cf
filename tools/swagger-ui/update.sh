#!/usr/bin/env bash
# Renews Swagger UI in src/web/documentation/swagger-ui/: the files of its newest release, or of the one that is named. npm compares what it
# loads with the registry's digest, which VERSION repeats. Then run `make test-browser`. Needs Node 20.
# usage: tools/swagger-ui/update.sh [VERSION]
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$root/src/web/documentation/swagger-ui
files=(LICENSE NOTICE oauth2-redirect.html oauth2-redirect.js swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt swagger-ui.css)

version=${1:-$(npm view --silent swagger-ui-dist version)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
archive=$(npm pack --silent --pack-destination "$work" "swagger-ui-dist@$version")
tar -xzf "$work/$archive" -C "$work"
mkdir -p "$folder"
for file in "${files[@]}"; do
    install -m 644 "$work/package/$file" "$folder/$file"
done
printf '%s %s\n' "$version" "$(npm view --silent "swagger-ui-dist@$version" dist.integrity)" >"$folder/VERSION"
echo "swagger-ui: $version"
