#!/usr/bin/env bash
# Packs a built program for a release, without its symbols. The same program and commit give the same bytes.
# usage: SOURCE_DATE_EPOCH=SECONDS tools/dist/pack.sh PROGRAM FOLDER
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
deploy=$root/deploy
mkdir -p "$2"
out=$(realpath "$2")
umask 022
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
program=$stage/sightline
strip --strip-all -o "$program" "$1"

cd "$root"
version=$(cargo pkgid | sed 's/.*[#@]//')
host=$(rustc -vV | sed -n 's/^host: //p')
name=sightline-$version-${host%%-*}-linux

# Copies what people read.
# usage: copy_documents FOLDER
copy_documents() {
    mkdir -p "$1"
    # Also what they link.
    git ls-files -z ':(glob)*.md' LICENSE deny.toml openapi.json docs deploy/compose deploy/grafana deploy/kubernetes deploy/prometheus |
        xargs -0 cp --parents --target-directory "$1"
    cp "$deploy/sightline.example.toml" "$stage/$name.cdx.json" "$1"
}

# Gives a tree the modes and times that do not depend on this machine.
# usage: settle FOLDER
settle() {
    chmod -R u=rwX,go=rX "$1"
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

list_materials() {
    cargo metadata --locked --format-version 1 --filter-platform "$host" | python3 -B tools/dist/sbom.py >"$stage/$name.cdx.json"
    cp "$stage/$name.cdx.json" "$out"
}

make_tarball() {
    local tree=$stage/tarball/$name
    copy_documents "$tree"
    install -m 755 "$program" "$tree/sightline"
    cp "$deploy/sightline.service" "$tree"
    settle "$tree"
    tar --create --directory "$stage/tarball" --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "$name" |
        gzip -n >"$out/$name.tar.gz"
}

# The libraries that the program needs, as Debian's packages with their least versions.
libraries() {
    mkdir -p "$stage/libraries/debian"
    printf 'Source: sightline\n\nPackage: sightline\nArchitecture: any\n' >"$stage/libraries/debian/control"
    (cd "$stage/libraries" && dpkg-shlibdeps -O "$1") | sed -n 's/^shlibs:Depends=//p'
}

make_package() {
    local tree=$stage/package documents=$stage/package/usr/share/doc/sightline architecture size libraries
    copy_documents "$documents"
    mv "$documents/LICENSE" "$documents/copyright"
    install -D -m 755 "$program" "$tree/usr/bin/sightline"
    install -D -m 644 "$deploy/sightline.service" "$tree/usr/lib/systemd/system/sightline.service"
    install -D -m 644 "$deploy/sightline.example.toml" "$tree/etc/sightline/sightline.toml"
    settle "$tree"
    architecture=$(dpkg --print-architecture)
    size=$(du --summarize --apparent-size --block-size=1024 "$tree" | cut -f1)
    libraries=$(libraries "$tree/usr/bin/sightline")
    mkdir "$tree/DEBIAN"
    echo /etc/sightline/sightline.toml >"$tree/DEBIAN/conffiles"
    sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@SIZE@/$size/; s/@LIBRARIES@/$libraries/" \
        "$deploy/debian/control" >"$tree/DEBIAN/control"
    install -m 755 "$deploy"/debian/{postinst,prerm,postrm} "$tree/DEBIAN"
    (cd "$tree" && find etc usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    settle "$tree"
    dpkg-deb --root-owner-group -Zzstd -z12 --build "$tree" "$out/sightline_${version}_$architecture.deb"
}

# Fills the root of the image: the program, the libraries that it loads, certificates, a user who is not root, and how names are resolved.
fill_image() {
    local tree=$1/root library
    install -D -m 755 "$program" "$tree/usr/bin/sightline"
    while read -r library; do
        install -D -m 755 "$(realpath "$library")" "$tree$library"
    done < <(ldd "$program" | grep -o '/[^ ]*')
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/ca-certificates.crt"
    install -D -m 644 LICENSE "$tree/usr/share/doc/sightline/copyright"
    mkdir -p "$tree/etc/sightline" "$1/data"
    echo 'sightline:x:65532:65532:Sightline:/data:/usr/sbin/nologin' >"$tree/etc/passwd"
    echo 'sightline:x:65532:' >"$tree/etc/group"
    echo 'hosts: files dns' >"$tree/etc/nsswitch.conf"
    cp "$deploy/image/Containerfile" "$1"
    settle "$1"
}

# buildah keeps the health check in Docker's format only.
make_image() {
    local context=$stage/image tag=localhost/sightline:$version
    mkdir "$context"
    fill_image "$context"
    store=(buildah --storage-driver vfs --root "$stage/store" --runroot "$stage/store-run")
    "${store[@]}" build --isolation chroot --format docker --identity-label=false --timestamp "$SOURCE_DATE_EPOCH" --tag "$tag" "$context"
    "${store[@]}" push --quiet "$tag" "docker-archive:$stage/image.tar:$tag"
    python3 -B tools/dist/archive.py "$stage/image.tar" "$tag" | gzip -n >"$out/$name.image.tar.gz"
}

list_materials
make_tarball
make_package
make_image
(cd "$out" && export LC_ALL=C && sha256sum "$name"* sightline_*.deb >"$stage/sums" && cp "$stage/sums" SHA256SUMS)
