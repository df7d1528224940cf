#!/usr/bin/env bash
# Builds what a release holds, in target/packages: a tarball, a Debian package and an image of the program, its bill of materials, and sums.
# usage: tools/dist/run.sh
# DIST_PROFILE names the profile of Cargo, `dist` unless set. The day in `--version` and in the files is SOURCE_DATE_EPOCH, that of the
# commit unless set. With DIST_SIGNING_KEY, a secret key of minisign, the sums are signed. Needs Rust, Python 3.11 and a Debian system; installs
# Debian's buildah and minisign where they are missing.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
profile=${DIST_PROFILE:-dist}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

if ! command -v buildah >/dev/null || ! command -v dpkg-shlibdeps >/dev/null; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends buildah ca-certificates dpkg-dev
fi
if [ -n "${DIST_SIGNING_KEY:-}" ] && ! command -v minisign >/dev/null; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends minisign
fi
# A release does not tell where it was built. Other profiles share their builds with tests and benchmarks, so they keep the usual flags.
if [ "$profile" = dist ]; then
    export RUSTFLAGS="--remap-path-prefix=$root=/sightline --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
fi
# Without SOURCE_DATE_EPOCH, for which build scripts of C would compile everything again.
SIGHTLINE_BUILD_DATE=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%F) env --unset=SOURCE_DATE_EPOCH cargo build --locked --profile "$profile" --bin sightline
folder=$profile
if [ "$profile" = dev ]; then folder=debug; fi
rm -rf target/packages
tools/dist/pack.sh "${CARGO_TARGET_DIR:-target}/$folder/sightline" target/packages
if [ -n "${DIST_SIGNING_KEY:-}" ]; then tools/dist/sign.sh target/packages "$DIST_SIGNING_KEY"; fi
ls -l target/packages
