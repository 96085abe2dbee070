#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A Debian source package of HEAD, from which dpkg-buildpackage makes the packages.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/debian_source.sh [--output DIR] [--build]

Makes occupipe_VERSION.orig.tar.gz, occupipe_VERSION-1.debian.tar.xz and occupipe_VERSION-1.dsc of HEAD in
DIR (default: out/release). packaging/debian/ becomes debian/; its changelog is written here, with the
version of CMakeLists.txt and the date of HEAD. Needs dpkg-dev.

  --build  also builds the packages on this machine with dpkg-buildpackage; what it needs is in
           packaging/debian/control. DEB_BUILD_OPTIONS=parallel=N says with how many processes.
TEXT
}

output=out/release
build=no
while (($# > 0)); do
    case $1 in
        --output) output=${2:?$(usage)}; shift ;;
        --build) build=yes ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
output=$(realpath --canonicalize-missing "$output")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(tools/version.sh)
name=occupipe-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"

git archive --format=tar --prefix="$name/" HEAD | gzip --no-name -9 > "$work/occupipe_$version.orig.tar.gz"
tar -xzf "$work/occupipe_$version.orig.tar.gz" -C "$work"
cp -r packaging/debian "$work/$name/debian"
cat > "$work/$name/debian/changelog" <<TEXT
occupipe ($version-1) unstable; urgency=medium

  * Version $version: see CHANGELOG.md.

 -- The Occupipe authors <maintainers@occupipe.example>  $(git log -1 --format=%cD)
TEXT
(cd "$work" && dpkg-source --build "$name" >&2)
if [[ $build == yes ]]; then
    (cd "$work/$name" && dpkg-buildpackage --unsigned-source --unsigned-changes --build=binary >&2)
fi
find "$work" -maxdepth 1 -type f -exec cp {} "$output/" \;
printf '%s\n' "$output/occupipe_$version-1.dsc"
