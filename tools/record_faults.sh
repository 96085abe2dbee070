#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compiles tests/cli/faults/faults.cu to the machine code beside it, which the tests execute without
# a compiler.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/record_faults.sh

Needs nvcc on $PATH. Writes tests/cli/faults/faults.cubin (sm_90, with line numbers).
TEXT
}

case ${1:-} in
    -h | --help) usage; exit 0 ;;
    ?*) usage >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# The compiler notes the folder that it works in.
folder=$(mktemp -d /tmp/faults.XXXXXX)
trap 'rm -rf "$folder"' EXIT
cp tests/cli/faults/faults.cu "$folder/"
(cd "$folder" && nvcc -arch=sm_90 -lineinfo -cubin faults.cu -o faults.cubin)
cp "$folder/faults.cubin" tests/cli/faults/faults.cubin
