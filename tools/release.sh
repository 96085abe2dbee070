#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes and tests everything that a release consists of.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/release.sh [--output DIR] [--check-only] [STEP…]

Makes the artefacts of HEAD in DIR (default: out/release), each tried, and SHA256SUMS of them:

  source    occupipe-VERSION.tar.gz, which configures where nothing of git is
  debian    Debian's source package and packages, built and installed in an empty Debian 12 root (needs root)
  portable  occupipe-VERSION-linux-x86_64.tar.gz (tools/portable.sh)
  wheel     the Python package with the programs, a wheel per Python (tools/wheel.sh)

Without a STEP all are made. Before that: the tree has no changes, CHANGELOG.md has a section of the
version, and CITATION.cff names it. The version is that of CMakeLists.txt.

  --check-only  only that
TEXT
}

output=out/release
check_only=no
steps=()
while (($# > 0)); do
    case $1 in
        --output) output=${2:-}; shift ;;
        --check-only) check_only=yes ;;
        source | debian | portable | wheel) steps+=("$1") ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
[[ -n $output ]] || { usage >&2; exit 2; }
output=$(realpath --canonicalize-missing "$output")
((${#steps[@]} > 0)) || steps=(source debian portable wheel)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf 'release: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

version=$(tools/version.sh)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "'$version' is not MAJOR.MINOR.PATCH"
[[ -z $(git status --porcelain) ]] || die "the tree has changes that are not committed"
grep -q "^## \[${version//./\\.}\] - [0-9-]*$" CHANGELOG.md || die "CHANGELOG.md has no section '## [$version] - DATE'"
grep -q "^version: ${version//./\\.}$" CITATION.cff || die "CITATION.cff has another version than $version"
say "version $version, $(git rev-parse --short HEAD)"
[[ $check_only == no ]] || exit 0

step_source() {
    git archive --format=tar --prefix="occupipe-$version/" HEAD | gzip --no-name -9 > "$output/occupipe-$version.tar.gz"
    tar -xzf "$output/occupipe-$version.tar.gz" -C "$scratch"
    cmake -S "$scratch/occupipe-$version" -B "$scratch/configured" -G Ninja -DCMAKE_BUILD_TYPE=Release > "$scratch/configure.log" ||
        { cat "$scratch/configure.log" >&2; die "the source archive does not configure"; }
}

step_debian() {
    ((EUID == 0)) || die "the Debian packages are built in a root of their own, which needs root"
    local root=$scratch/root
    tools/check.sh --bare --root "$root" --keep --log "$output/debian.log" \
        --command "DEB_BUILD_OPTIONS='${DEB_BUILD_OPTIONS:-parallel=$(nproc)}' tools/build_packages.sh"
    cp "$root"/root/occupipe/out/packages/* "$output/"
    rm -rf --one-file-system "$root"
}

step_portable() { tools/portable.sh --output "$output"; }

step_wheel() { tools/wheel.sh --output "$output"; }

mkdir -p "$output"
for step in "${steps[@]}"; do
    say "$step"
    began=$SECONDS
    "step_$step"
    say "$step made in $((SECONDS - began)) s"
done
sums=$scratch/SHA256SUMS
(cd "$output" && find . -maxdepth 1 -type f ! -name SHA256SUMS ! -name '*.log*' -printf '%P\n' | sort | xargs sha256sum) > "$sums"
cp "$sums" "$output/SHA256SUMS"
(cd "$output" && sha256sum --check --quiet SHA256SUMS)
say "in $output:"
cat "$output/SHA256SUMS" >&2
