#!/usr/bin/env bash
# Signs the sums of a packed release, in SHA256SUMS.minisig. The signed comment names the version and the day of the release.
# usage: SOURCE_DATE_EPOCH=SECONDS tools/dist/sign.sh FOLDER SECRET_KEY
# SECRET_KEY is a file that `minisign -G -s SECRET_KEY -p PUBLIC_KEY` made.
set -euo pipefail

version=$(cargo pkgid --manifest-path "$(dirname "$0")/../../Cargo.toml" | sed 's/.*[#@]//')
day=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%F)
minisign -S -s "$2" -m "$1/SHA256SUMS" -x "$1/SHA256SUMS.minisig" -t "sightline $version $day"
