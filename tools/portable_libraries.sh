#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the static libraries that the portable program and the wheels are linked with.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/portable_libraries.sh

Compiles Google Benchmark, Ceres and yaml-cpp from Debian's own source packages, once, into
build/portable-deps: Debian has no static library of the first, its Ceres needs twenty others, and
its static yaml-cpp cannot become part of a shared library. That takes ten minutes on two cores.

  OCCUPIPE_JOBS=N  in the environment: compile N files at a time (default: number of cores)
TEXT
}

case ${1:-} in
    '') ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
say() { printf 'portable libraries: %s\n' "$*" >&2; }
dependencies=$root/build/portable-deps
jobs=${OCCUPIPE_JOBS:-$(nproc)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# fetch_source PACKAGE FOLDER: unpacks what Debian's package PACKAGE is made of. apt checks the
# signature of the index and the hash of the source; lists and state of its own leave the machine's
# apt configuration alone, and no rights are needed.
fetch_source() {
    local package=$1 folder=$2 state=$scratch/apt mirror
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$folder"
    # shellcheck disable=SC2016  # apt expands these
    mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
        awk '$2 == "bookworm" { print $1; exit }')
    printf 'deb-src %s bookworm main\n' "${mirror:-http://deb.debian.org/debian}" > "$state/sources.list"
    local options=(-q -o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$state/lists" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >&2
    (cd "$scratch" && apt-get "${options[@]}" source --download-only "$package" >&2)
    tar -xf "$scratch/${package}"_*.orig.tar.* -C "$folder" --strip-components=1
}

# build_library NAME PACKAGE OPTION…: a static library of Debian's source package PACKAGE.
build_library() {
    # In a folder that is the same the next time, so that ccache knows the files.
    local name=$1 package=$2 work=$root/build/portable-work/$2
    local source=$work/source build=$work/build
    shift 2
    if [[ -f $dependencies/lib/lib$name.a && -f $dependencies/$name-LICENSE ]]; then
        say "static $name exists already ($dependencies)"
        return
    fi
    say "compiling $name from Debian's source package $package"
    rm -rf "$work"
    fetch_source "$package" "$source"
    cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
        -DCMAKE_CXX_FLAGS='-ffunction-sections -fdata-sections' -DCMAKE_INSTALL_LIBDIR=lib \
        -DCMAKE_INSTALL_PREFIX="$dependencies" -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v ccache || true)" "$@" >&2
    cmake --build "$build" --parallel "$jobs" >&2
    cmake --install "$build" > /dev/null
    cp "$source/LICENSE" "$dependencies/$name-LICENSE"
    rm -rf "$work"
}

build_library benchmark benchmark -DBENCHMARK_ENABLE_TESTING=OFF -DBENCHMARK_ENABLE_GTEST_TESTS=OFF \
    -DBENCHMARK_ENABLE_WERROR=OFF -DBENCHMARK_INSTALL_DOCS=OFF
# All that the fitter uses is dense QR by Eigen, as in Debian's build.
build_library ceres ceres-solver -DMINIGLOG=ON -DMINIGLOG_MAX_LOG_LEVEL=-3 -DGFLAGS=OFF -DSUITESPARSE=OFF \
    -DCXSPARSE=OFF -DLAPACK=OFF -DCUDA=OFF -DSCHUR_SPECIALIZATIONS=OFF -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF \
    -DBUILD_BENCHMARKS=OFF -DPROVIDE_UNINSTALL_TARGET=OFF
build_library yaml-cpp yaml-cpp -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF -DYAML_CPP_BUILD_CONTRIB=OFF
