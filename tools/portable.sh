#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the measuring half as one program that runs where nothing can be installed, and packs it.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/portable.sh [--output DIR]

Makes occupipe-VERSION-linux-x86_64.tar.gz in DIR (default: out/portable): the program without the
fitter, statically linked but for the C library and the OpenCL loader; the loader in lib/; profiles;
tools/gpu_run.sh; licences. Google Benchmark, of which Debian has no static library, is compiled from
Debian's own source package. See docs/portable.md.
TEXT
}

output=out/portable
case ${1:-} in
    --output) [[ -n ${2:-} ]] || { usage >&2; exit 2; }; output=$(realpath --canonicalize-missing "$2") ;;
    -h | --help) usage; exit 0 ;;
    '') ;;
    *) usage >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
say() { printf 'portable: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

dependencies=$root/build/portable-deps
jobs=${OCCUPIPE_JOBS:-$(nproc)}

# apt checks the signature of the index and the hash of the source; lists and state of its own leave
# the machine's apt configuration alone, and no rights are needed.
fetch_benchmark_source() {
    local work=$1 state=$1/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    local mirror
    # shellcheck disable=SC2016  # apt expands these
    mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
        awk '$2 == "bookworm" { print $1; exit }')
    printf 'deb-src %s bookworm main\n' "${mirror:-http://deb.debian.org/debian}" > "$state/sources.list"
    local options=(-q -o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >&2
    (cd "$work" && apt-get "${options[@]}" source --download-only benchmark >&2)
    mkdir -p "$work/benchmark"
    tar -xf "$work"/benchmark_*.orig.tar.gz -C "$work/benchmark" --strip-components=1
}

build_benchmark() {
    if [[ -f $dependencies/lib/libbenchmark.a ]]; then
        say "static Google Benchmark is built already ($dependencies)"
        return
    fi
    local work; work=$(mktemp -d)
    say "compiling Google Benchmark from Debian's source package"
    fetch_benchmark_source "$work"
    cmake -S "$work/benchmark" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_ENABLE_GTEST_TESTS=OFF -DBENCHMARK_ENABLE_WERROR=OFF \
        -DBENCHMARK_INSTALL_DOCS=OFF -DCMAKE_CXX_FLAGS='-ffunction-sections -fdata-sections' \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$dependencies" >&2
    cmake --build "$work/build" --parallel "$jobs" >&2
    cmake --install "$work/build" > /dev/null
    cp "$work/benchmark/LICENSE" "$dependencies/benchmark-LICENSE"
    rm -rf "$work"
}

# Fails when the program needs any library but those that every glibc system has, and the loader.
check_needs() {
    local program=$1 needed glibc
    needed=$(readelf --dynamic --wide "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort)
    glibc=$(readelf --version-info --wide "$program" | grep -o 'GLIBC_[0-9.]*' | sort --version-sort --unique | tail -n 1)
    say "$(basename "$program") needs: $(tr '\n' ' ' <<< "$needed")and at most $glibc"
    local others
    others=$(grep -v -x -E 'lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux-x86-64\.so\.2|libOpenCL\.so\.1' <<< "$needed" || true)
    [[ -z $others ]] || die "$program needs more than libc and the OpenCL loader: $others"
}

[[ ${OCCUPIPE_SETUP:-yes} == no ]] || tools/setup.sh
build_benchmark
OCCUPIPE_SETUP=no tools/build.sh portable occupipe

program=build/portable/cli/occupipe
version=$("$program" --version | grep -o -E '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
name=occupipe-$version-linux-$(uname -m)
say "packing $name"
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
bundle=$staging/$name
mkdir -p "$bundle/lib" "$bundle/tools" "$bundle/licences" "$output"
cp "$program" LICENSE "$bundle/"
cp -r profiles "$bundle/"
cp tools/gpu_run.sh "$bundle/tools/"
loader=$(ldd "$program" | awk '$1 == "libOpenCL.so.1" { print $3 }')
[[ -n $loader ]] || die "libOpenCL.so.1 was not found"
cp --dereference "$loader" "$bundle/lib/libOpenCL.so.1"
cp "$dependencies/benchmark-LICENSE" "$bundle/licences/benchmark"
for package in libyaml-cpp-dev libfmt-dev nlohmann-json3-dev libcli11-dev libxxhash-dev ocl-icd-libopencl1 libstdc++6; do
    cp --dereference "/usr/share/doc/$package/copyright" "$bundle/licences/$package"
done
check_needs "$bundle/occupipe"
check_needs "$bundle/lib/libOpenCL.so.1"
tar -czf "$output/$name.tar.gz" -C "$staging" --owner=0 --group=0 "$name"
say "$(du -h "$output/$name.tar.gz" | cut -f1) in $output/$name.tar.gz"
