#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, and runs every test that needs no GPU. CI runs exactly this.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/test.sh [PRESET [CTEST-ARGUMENT…]]

  PRESET          release (default) or dev, which adds the address and undefined-behaviour sanitizers
  CTEST-ARGUMENT  handed on, for example: tools/test.sh dev -R kernel
TEXT
}

case ${1:-} in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
esac
preset=${1:-release}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/build.sh "$preset"

# Compiled OpenCL kernels are cached between runs; tests start from none, so that their outcome does
# not depend on what ran before.
POCL_CACHE_DIR=$(mktemp -d)
export POCL_CACHE_DIR
trap 'rm -rf "$POCL_CACHE_DIR"' EXIT

printf 'test: running the tests of build/%s\n' "$preset" >&2
ctest --preset "$preset" --parallel "$(nproc)" "${@:2}"
