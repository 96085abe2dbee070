#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writes the reference pages that the program itself knows.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/reference.sh [--check] [--profiles DIR] [PROGRAM]

Writes docs/reference/commands.md, instructions.md and models.md from what PROGRAM prints
(default: build/release/cli/occupipe).

  --check         write nothing; exit code 1 if a page is not what PROGRAM makes of it
  --profiles DIR  instead, write DIR/index.md and a page for each shipped profile into DIR
TEXT
}

options=()
program=
while (($# > 0)); do
    case $1 in
        --check) options+=("$1") ;;
        --profiles)
            [[ -n ${2:-} ]] || { usage >&2; exit 2; }
            options+=("$1" "$(realpath --canonicalize-missing "$2")")
            shift ;;
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *) program=$(realpath --canonicalize-missing "$1") ;;
    esac
    shift
done
cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=${program:-$PWD/build/release/cli/occupipe}
[[ -x $program ]] || { printf 'reference: no program %s (tools/build.sh makes it)\n' "$program" >&2; exit 1; }
exec python3 tools/reference.py "${options[@]}" "$program"
