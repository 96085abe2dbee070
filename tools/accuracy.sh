#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the table in docs/background/accuracy.md anew: planted devices, measured by an event simulation, fitted.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/accuracy.sh [DEVICES]

Fits DEVICES planted devices of three instructions in each scenario (default 40; about 5 minutes on
two cores) with build/release/tests/accuracy and replaces the table in docs/background/accuracy.md. Seeds are
fixed: the same program makes the same table. Build first: ./tools/build.sh release accuracy
TEXT
}

case ${1:-} in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
program=build/release/tests/accuracy
page=docs/background/accuracy.md
if [[ ! -x $program ]]; then
    printf 'accuracy: no program at %s; build it: ./tools/build.sh release accuracy\n' "$program" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$program" --devices "${1:-40}" --jobs 2 > "$work/table"
awk -v table="$work/table" '
    /<!-- table begins/ { print; while ((getline line < table) > 0) print line; skip = 1; next }
    /<!-- table ends/ { skip = 0 }
    !skip' "$page" > "$work/page"
cp "$work/page" "$page"
