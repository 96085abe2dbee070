#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures a GPU from end to end, most valuable first, in pieces that fit a time limit.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/gpu_run.sh [--seconds N] [--device DEV] [--output DIR] [--resume DIR] [--dry-run] [PART…]

Runs the parts below one after the other (or only those named) with the portable program, or with
the one in build/. Nothing is installed and no setting of the machine is changed. Each part writes
PART.json; one that was cut short leaves PART.json.partial, from which the next call goes on.

  quick    everything the device can do, at few shapes: all of λ and Λ, coarsely
  float    32-bit floating point, every shape
  special  approximate functions, and mixes of two instructions
  memory   loads, stores, atomics, copies, barriers, launches, every shape
  matrix   matrix units of a warp and of four, every shape
  integer  integers and logic, every shape
  double   64-bit floating point, every shape

  --seconds N   stop after N seconds and keep what was measured (default 540)
  --device DEV  as in `occupipe list devices` (default: the program's, the first GPU)
  --output DIR  where to (default: $OUT, else out/gpu)
  --resume DIR  copy an earlier call's files from DIR to the output folder first
  --dry-run     only print the commands

Environment: DEVICE and OUT stand for --device and --output; OCCUPIPE names the program to use.
Besides the parts the folder gets machine.txt (devices, driver, nvidia-smi -q), run.log and
receipts.tar.gz (a text per kernel: what is in its timed loop): at most ten files. Those over 8 MiB are compressed at the end (gunzip them before `occupipe fit`).
Exit code: 0 all parts done, 1 a part failed, 2 usage, 3 nothing to run on, 4 time ran out: call again.
TEXT
}

seconds=540
device=${DEVICE:-}
output=${OUT:-out/gpu}
resume=
dry_run=no
parts=()
while (($# > 0)); do
    case $1 in
        --seconds | --device | --output | --resume)
            [[ -n ${2:-} ]] || { usage >&2; exit 2; }
            printf -v "${1#--}" %s "$2"
            shift ;;
        --dry-run) dry_run=yes ;;
        -h | --help) usage; exit 0 ;;
        quick | float | special | memory | matrix | integer | double) parts+=("$1") ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
((${#parts[@]} > 0)) || parts=(quick float special memory matrix integer double)

# The names of a part's instructions and mixes, with commas between; nothing where the device has none.
instructions_of() {
    local part=$1 memory='^(ld|st|atom|red|bar|barrier|fence|cp|launch)(\.|$)' special='\.approx\.' matrix='^(w?g?mma|(ld|st|mov)matrix)\.' kept
    case $part in
        memory) kept=$(grep -E "$memory" <<< "$instructions") ;;
        special) kept=$(grep -E "$special" <<< "$instructions"; printf 'mix(*\n') ;;
        float) kept=$(grep -v -E "$memory|$matrix|$special" <<< "$instructions" | grep '\.f32$') ;;
        double) kept=$(grep -v -E "$memory|$matrix|$special" <<< "$instructions" | grep '\.f64$') ;;
        matrix) kept=$(grep -E "$matrix" <<< "$instructions") ;;
        integer) kept=$(grep -v -E "$memory|$matrix|$special|\.f(32|64)$" <<< "$instructions") ;;
    esac || true
    paste -s -d , <<< "$kept"
}

say() { printf 'gpu_run: %s\n' "$*" | tee -a "$log" >&2; }
log=/dev/null

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
find_program() {
    local candidate
    for candidate in "${OCCUPIPE:-}" "$here/../occupipe" "$here/../build/portable/cli/occupipe" \
        "$here/../build/release/cli/occupipe"; do
        if [[ -f $candidate && -x $candidate ]]; then
            realpath "$candidate"
            return
        fi
    done
    say "no program found: unpack the archive that tools/portable.sh makes, or name one with OCCUPIPE=…"
    exit 1
}

# Containers often hold NVIDIA's libraries in folders that the dynamic linker does not search, and
# its OpenCL driver without the file that registers it.
find_drivers() {
    local folder
    for folder in /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/local/cuda/lib64; do
        if [[ -d $folder ]]; then
            export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$folder
        fi
    done
    [[ -z ${OCL_ICD_VENDORS:-} ]] || return 0
    grep -q -s nvidia /etc/OpenCL/vendors/*.icd && return 0
    local driver
    driver=$( (ldconfig -p 2> /dev/null | awk '$1 == "libnvidia-opencl.so.1" { print $NF }'
        ls /usr/local/nvidia/lib64/libnvidia-opencl.so.1 2> /dev/null) | head -n 1 || true)
    if [[ -n $driver ]]; then
        cp /etc/OpenCL/vendors/*.icd "$scratch" 2> /dev/null || true
        printf '%s\n' "$driver" > "$scratch/nvidia.icd"
        export OCL_ICD_VENDORS=$scratch
    fi
}

# Everything that a reader of the results wants to know of the machine; the program records the
# device's own facts in each file.
describe_machine() {
    printf '== %s\n' "$(date --utc +%Y-%m-%dT%H:%M:%SZ)"
    "$program" --version || true
    "$program" list devices || true
    uname -srm
    sed -n 's/^PRETTY_NAME=//p' /etc/os-release || true
    sed -n 's/^model name[^:]*: /CPU: /p' /proc/cpuinfo | head -n 1
    if command -v nvcc > /dev/null; then nvcc --version | tail -n 2; fi
    if command -v nvidia-smi > /dev/null; then nvidia-smi -q || true; fi
}

# Runs one part within the seconds left; says and returns how it went as an exit code of this script.
run_part() {
    local part=$1 left=$2 file=$output/$1.json code=0
    local options=(--quick) names
    if [[ $part != quick ]]; then
        names=$(instructions_of "$part")
        if [[ -z $names ]]; then
            say "$part: this device has no such instructions"
            return 0
        fi
        options=(--instructions "$names")
    fi
    local command=("$program" measure "${device_option[@]}" "${options[@]}" --receipts "$output/receipts" -o "$file")
    if [[ $dry_run == yes ]]; then
        printf '%q ' "${command[@]}"; printf '\n'
        return 0
    fi
    if [[ -e $file ]]; then
        say "$part: complete already"
        return 0
    fi
    say "$part: $left s left: ${command[*]}"
    # The program keeps what it measured when it is interrupted; killed only if it hangs.
    timeout --foreground --signal=INT --kill-after=30 "$left" "${command[@]}" > >(tee -i -a "$log" >&2) 2>&1 || code=$?
    if [[ -e $file ]]; then
        say "$part: complete"
        return 0
    fi
    case $code in
        3) say "$part: nothing to run on"; return 3 ;;
        124 | 130 | 137) say "$part: cut short; the next call goes on from $file.partial"; return 4 ;;
        *) say "$part: failed with exit code $code"; return 1 ;;
    esac
}

program=$(find_program)
device_option=()
[[ -z $device ]] || device_option=(--device "$device")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
find_drivers
if [[ $dry_run == no ]]; then
    mkdir -p "$output"
    if [[ -n $resume ]]; then
        cp --no-preserve=mode "$resume"/* "$output/"
    fi
    log=$output/run.log
    gunzip --force "$output"/*.json*.gz 2> /dev/null || true
    if [[ -e $output/receipts.tar.gz ]]; then tar -C "$output" -xzf "$output/receipts.tar.gz"; fi
    describe_machine >> "$output/machine.txt" 2>&1
fi
code=0
# The first column, for all that can be measured on the device.
instructions=$("$program" list instructions "${device_option[@]}" | awk '$2 == "yes" || $2 == "yes*" { print $1 }'; exit "${PIPESTATUS[0]}") || code=$?
if ((code != 0)); then
    say "nothing can be measured (exit code $code of: $program list instructions ${device_option[*]})"
    exit "$code"
fi

deadline=$((SECONDS + seconds))
worst=0
for part in "${parts[@]}"; do
    left=$((deadline - SECONDS))
    if ((left < 5)); then
        say "time is up before $part"
        worst=4
        break
    fi
    code=0
    run_part "$part" "$left" || code=$?
    if ((code == 3 || code == 4)); then
        worst=$code
        break
    fi
    ((code == 0)) || worst=$code
done
if [[ $dry_run == no ]]; then
    if [[ -d $output/receipts ]]; then
        tar -C "$output" -czf "$output/receipts.tar.gz" receipts
        rm -r "$output/receipts"
    fi
    find "$output" -maxdepth 1 -name '*.json*' ! -name '*.gz' -size +8M -exec gzip --force {} +
fi
((worst != 4)) || say "call again with --resume $output (or the same --output) to go on"
say "results are in $output"
exit "$worst"
