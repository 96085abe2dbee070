#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, then configures and builds one preset on all cores.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/build.sh [PRESET [TARGET…]]

Builds a preset of CMakePresets.json (default: release) into build/PRESET; all targets, unless
targets are named. Installs missing packages first (tools/setup.sh).

  OCCUPIPE_SETUP=no  in the environment: install nothing
  OCCUPIPE_JOBS=N    in the environment: compile N files at a time (default: number of cores)
TEXT
}

case ${1:-} in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
esac
preset=${1:-release}
targets=("${@:2}")
jobs=${OCCUPIPE_JOBS:-$(nproc)}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf 'build: %s\n' "$*" >&2; }

[[ ${OCCUPIPE_SETUP:-yes} == no ]] || tools/setup.sh

if [[ -e build/$preset && ! -w build/$preset ]]; then
    say "build/$preset belongs to $(stat --format=%U "build/$preset"), and $(id -un) may not write to it; remove it first"
    exit 1
fi

say "configuring preset $preset in build/$preset"
cmake --preset "$preset" >&2
say "compiling, $jobs files at a time"
cmake --build --preset "$preset" --parallel "$jobs" ${targets:+--target "${targets[@]}"} >&2
