#!/usr/bin/env bash
# Installs what `make dist` built, each part into an empty root, and runs the demo from it. Packs it again, and compares. Holds the bill of
# materials, the unit and the files in deploy/ against what reads them.
# usage: tools/dist/test.sh
# Everything is written below target/test-dist. Needs root, Python 3.11 and a Debian system; installs Debian's debootstrap, minisign and systemd where they are missing.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/tools/dist
packages=$root/target/packages
work=$root/target/test-dist
mkdir -p "$work"
cd "$root"
. "$root/tools/common.sh"

[ "$(id -u)" = 0 ] || { echo 'test-dist: only root can make a root of its own' >&2; exit 1; }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

if ! command -v debootstrap >/dev/null || ! command -v minisign >/dev/null || ! command -v systemd-analyze >/dev/null; then
    apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends debootstrap minisign systemd
fi

# The smallest Debian, of this machine's release: programs need its C library or a newer one.
make_base() {
    local suite
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    base=$work/$suite
    if [ -d "$base" ]; then return; fi
    rm -rf "$work/new"
    debootstrap --variant=minbase --include=adduser,ca-certificates "$suite" "$work/new" >"$work/debootstrap.log" || {
        tail -5 "$work/debootstrap.log" >&2
        echo "test-dist: no empty root could be made: Debian's archive cannot be reached" >&2
        return 1
    }
    rm -rf "$work"/new/var/cache/apt/archives/*.deb
    mv "$work/new" "$base"
}

# Signs a copy of the sums by a new key, and verifies it as docs/OPERATING.md says. Changed sums are refused.
check_signature() {
    local key=$work/key
    rm -rf "$key"
    mkdir "$key"
    cp "$packages/SHA256SUMS" "$key"
    minisign -G -W -s "$key/secret" -p "$key/public" >/dev/null
    "$here/sign.sh" "$key" "$key/secret" >/dev/null
    (cd "$key" && minisign -V -p public -m SHA256SUMS | grep -q "sightline $(cargo pkgid --manifest-path "$root/Cargo.toml" | sed 's/.*[#@]//') ")
    echo >>"$key/SHA256SUMS"
    if (cd "$key" && minisign -V -q -p public -m SHA256SUMS) 2>/dev/null; then
        echo 'test-dist: the signature of other sums is accepted' >&2
        return 1
    fi
    echo 'test-dist: the sums are signed, and changed sums are refused'
}

(cd "$packages" && sha256sum --check --quiet SHA256SUMS)
check_signature
# Packed by another person, elsewhere on the globe.
rm -rf "$work/unpacked" "$work/again"
mkdir "$work/unpacked"
tar --extract --file "$(echo "$packages"/*-linux.tar.gz)" --directory "$work/unpacked" --strip-components=1
(umask 077 && TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$here/pack.sh" "$work/unpacked/sightline" "$work/again") >"$work/again.log" 2>&1 || {
    cat "$work/again.log"
    exit 1
}
diff --recursive --brief "$packages" "$work/again"
echo 'test-dist: packed again, the files are the same'

install_python "$here/requirements.txt"
"$work/venv/bin/python" -B "$here/materials.py" "$packages"/*.cdx.json
version=$(cargo pkgid | sed 's/.*[#@]//')
"$work/venv/bin/python" -B "$here/deployments.py" "$work/unpacked/sightline" "$version"

make_base
# shellcheck disable=SC2154 # make_base sets it
python3 -B "$here/journey.py" "$packages" "$base" "$work" "$version ($(date --utc --date="@$SOURCE_DATE_EPOCH" +%F))"
# What systemd makes of the unit. The program is not where this machine looks for it, so another stands in its place.
sed 's|^ExecStart=.*|ExecStart=/bin/true|' deploy/sightline.service >"$work/sightline.service"
systemd-analyze verify --man=no "$work/sightline.service"
systemd-analyze security --offline=yes --no-pager --threshold=20 "$root/deploy/sightline.service" | tail -1
ls -l "$packages" "$work/unpacked/sightline"
