#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The main job from nothing: install, build, characterise the best device of this machine.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/run.sh [--full] [--new] [--device DEV] [--output DIR]

Installs what is missing, builds Occupipe and characterises a device: measures its instructions,
fits λ and Λ, and writes raw measurements, profile, table and summary to a folder.

  --full        the whole sweep; the default is the quick one, a few minutes
  --device DEV  the device (see: build/release/cli/occupipe list devices); default: the first GPU,
                else the first OpenCL device, which is this machine's CPU if it has no GPU
  --output DIR  output folder; default: a new folder out/DATE-TIME
  --new         do not continue an interrupted run
TEXT
}

effort=(--quick)
device=()
output=
start_new=no
while (($# > 0)); do
    case $1 in
        --full) effort=() ;;
        --new) start_new=yes ;;
        --device | --output)
            [[ -n ${2:-} ]] || { usage >&2; exit 2; }
            if [[ $1 == --device ]]; then device=(--device "$2"); else output=$2; fi
            shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
[[ -z $output || $output == /* ]] || output=$PWD/$output

cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf 'run: %s\n' "$*" >&2; }

tools/build.sh release occupipe

# A folder is named here as long as its run has not come to its end.
unfinished=out/unfinished
if [[ -z $output ]]; then
    if [[ $start_new == no && -s $unfinished && -d $(< "$unfinished") ]]; then
        output=$(< "$unfinished")
        say "continuing the interrupted run in $output (--new starts another)"
    else
        output=out/$(date +%Y-%m-%d-%H%M%S)
    fi
    mkdir -p "$output"
    printf '%s\n' "$output" > "$unfinished"
fi

say "characterising into $output"
build/release/cli/occupipe characterize "${device[@]}" "${effort[@]}" -o "$output"

if [[ -s $unfinished && $(< "$unfinished") == "$output" ]]; then
    rm "$unfinished"
fi
