#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Measures a GPU from end to end, most valuable first, in pieces that fit a time limit.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/gpu_run.sh [OPTION…] [PART…]

Examines the machine, measures some twenty instructions to decide whether to go on, then runs the
parts below in order (or only those named), and finally fits and tabulates the results. It installs
nothing and changes no setting of the machine. It may be cut off at any moment: the next call
continues.

  quick    all that the device supports, at few shapes: all of λ and Λ, coarsely
  float    32-bit floating point, every shape
  special  approximate functions, and mixes of two instructions
  memory   loads, stores, atomics, copies, barriers, launches, every shape
  matrix   matrix units of a warp and of four, every shape
  integer  integers and logic, every shape
  double   64-bit floating point, every shape

  --seconds N      stop after N seconds and keep what was measured (default 540)
  --device DEV     as in `occupipe list devices` (default: the program's, the first GPU)
  --kernels FILE   kernels that `measure --compile-only` made (.tar or .tar.gz, or the folder);
                   default: kernels/ARCHITECTURE.tar.gz beside the program, if it exists
  --output DIR     output folder (default: $OUT, else out/gpu)
  --resume FROM    continue from an earlier call's folder or archive
  --force          go on even if the smoke test says NO-GO
  --ncu            afterwards profile ten single points, if Nsight Compute is installed
  --dry-run        only print what would be done, and an estimate of the seconds
  --arch sm_NN     with --dry-run: for a GPU of this architecture, which is not needed

Environment: DEVICE and OUT replace --device and --output; OCCUPIPE names the program.

The folder gets smoke.json and PART.json (PART.json.partial of one that was cut short), machine.txt
(devices, driver, clocks), run.log, report/ (profile, tables, checks) and, updated after each part,
gpu-results.tar.gz with all of these and receipts/ (a text per kernel).
Exit code: 0 all parts done, 1 a part or the smoke test failed, 2 wrong usage, 3 no device to run
on, 4 time ran out or the call was stopped: run again, 5 the GPU was lost too often: run again.
TEXT
}

all_parts=(quick float special memory matrix integer double)
seconds=540
device=${DEVICE:-}
kernels=
output=${OUT:-out/gpu}
resume=
arch=
dry_run=no
force=no
ncu=no
parts=()
while (($# > 0)); do
    case $1 in
        --seconds | --device | --kernels | --output | --resume | --arch)
            [[ -n ${2:-} ]] || { usage >&2; exit 2; }
            printf -v "${1#--}" %s "$2"
            shift ;;
        --dry-run) dry_run=yes ;;
        --force) force=yes ;;
        --ncu) ncu=yes ;;
        -h | --help) usage; exit 0 ;;
        quick | float | special | memory | matrix | integer | double) parts+=("$1") ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }
[[ -z $arch || $dry_run == yes ]] || { usage >&2; exit 2; }
((${#parts[@]} > 0)) || parts=("${all_parts[@]}")

# Kept for the fit, the tables and the archive; a call that is shorter measures half of its time.
finishing_seconds=$((seconds / 2 < 40 ? seconds / 2 : 40))
# The GPU may be lost (exit code 5) at one point after the other; that many in one call.
most_losses=20
least_free_mib=300

log=/dev/null
say() { printf 'gpu_run: %s\n' "$*" | tee -a "$log" >&2; }

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
        mkdir -p "$scratch/icd"
        cp /etc/OpenCL/vendors/*.icd "$scratch/icd" 2> /dev/null || true
        printf '%s\n' "$driver" > "$scratch/icd/nvidia.icd"
        export OCL_ICD_VENDORS=$scratch/icd
    fi
}

# Everything that a reader of the results wants to know of the machine, and nothing that tells one
# GPU of a kind from another; the program records the device's own facts in each file.
describe_machine() {
    printf '== %s\n' "$(date --utc +%Y-%m-%dT%H:%M:%SZ)"
    "$program" --version || true
    "$program" list devices || true
    uname -srm
    sed -n 's/^PRETTY_NAME=//p' /etc/os-release || true
    sed -n 's/^model name[^:]*: /CPU: /p' /proc/cpuinfo | head -n 1
    if command -v nvcc > /dev/null; then nvcc --version | tail -n 2; fi
    if command -v nvidia-smi > /dev/null; then
        nvidia-smi -q | grep -v -i -E 'serial|uuid|bus id|board (id|part)|part number|minor number|guid|inventory|host|process' || true
    fi
}

# The archive by its common name, the folder that it may also be, or nothing.
find_kernels() {
    local folder=${1%.tar.gz}
    folder=${folder%.tar}
    local candidate
    for candidate in "$1" "$folder.tar.gz" "$folder.tar"; do
        if [[ -e $candidate ]]; then
            printf '%s' "$candidate"
            return
        fi
    done
}

# Kernels for this device, unpacked: sets kernel_option.
kernel_option=()
prepare_kernels() {
    local capability found=$kernels
    if [[ -z $found ]]; then
        [[ $device == cuda:* ]] || return 0
        capability=$("$program" list devices --json 2> /dev/null | grep -m 1 -o '"compute_capability": "[0-9.]*"' | grep -o '[0-9.]*"$' | tr -d '."' || true)
        [[ -n $capability ]] || return 0
        found=$(find_kernels "$(dirname "$program")/kernels/sm_$capability.tar.gz")
        [[ -n $found ]] || return 0
    elif [[ ! -e $found ]]; then
        say "$found: no such file"
        exit 2
    fi
    if [[ $found == *.gz ]]; then
        gzip -dc "$found" > "$scratch/kernels.tar"
        kernel_option=(--kernels "$scratch/kernels.tar")
    else
        kernel_option=(--kernels "$found")
    fi
    kernel_source=$found
}

# What must be there before anything is begun; says what is there.
preflight() {
    local free
    if ! mkdir -p "$output" || ! : > "$output/.writable"; then
        say "$output cannot be written; choose another --output"
        exit 1
    fi
    rm -f "$output/.writable"
    log=$output/run.log
    free=$(df --output=avail -m "$output" | tail -n 1 | tr -d ' ')
    if ((free < least_free_mib)); then
        say "only $free MiB are free in $output; $least_free_mib are needed"
        exit 1
    fi
    describe_machine >> "$output/machine.txt" 2>&1 || true
    say "results go to $output ($free MiB free)"
    say "kernels: ${kernel_source:-compiled here, if NVRTC is found}"
    if command -v nvidia-smi > /dev/null; then
        nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit,temperature.gpu,clocks_throttle_reasons.active,mig.mode.current \
            --format=csv,noheader 2> /dev/null | while read -r line; do say "GPU: $line"; done || true
    fi
}

# The names of a part's instructions and mixes, with commas between; nothing where the device has none.
instructions_of() {
    local part=$1 memory='^(ld|st|atom|red|bar|barrier|fence|cp|launch|tex)(\.|$)' special='\.approx\.' matrix='^(w?g?mma|(ld|st|mov)matrix)\.' kept
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

# Sets part_options; fails where the device has nothing for this part.
options_of() {
    part_options=(--quick)
    if [[ $1 != quick ]]; then
        local names
        names=$(instructions_of "$1")
        [[ -n $names ]] || return 1
        part_options=(--instructions "$names")
    fi
}

left() { printf '%s' $((deadline - SECONDS)); }

# Runs a command for so many seconds at most, with its words in the log. It keeps what it measured
# when it is interrupted, and is killed only if it hangs. Returns 124 when time ran out or this
# script was told to stop, else the command's exit code.
child=
stopping=no
run_for() {
    local limit=$1 code=0
    shift
    timeout --signal=INT --kill-after=30 "$limit" "$@" > >(tee -i -a "$log" >&2) 2>&1 &
    child=$!
    [[ $stopping == no ]] || kill -TERM "$child" 2> /dev/null || true
    wait "$child" || code=$?
    # A signal ends the first wait.
    while kill -0 "$child" 2> /dev/null; do
        code=0
        wait "$child" || code=$?
    done
    child=
    [[ $stopping == no ]] || return 124
    ((code != 130 && code != 137 && code != 143)) || return 124
    return "$code"
}
# shellcheck disable=SC2317  # called by the trap
stop() {
    stopping=yes
    [[ -z $child ]] || kill -TERM "$child" 2> /dev/null || true
}

# The same command again and again while the GPU is lost (5) and time is left.
run_until_done() {
    local losses code seconds_left
    for ((losses = 0; losses <= most_losses; ++losses)); do
        seconds_left=$(left)
        ((seconds_left >= 5)) || return 124
        code=0
        run_for "$seconds_left" "$@" || code=$?
        ((code == 5)) || return "$code"
        say "the GPU was lost; that point is given up, continuing with the others"
    done
    return 5
}

# Says how a step went; returns what that means for this script's exit code.
outcome() {
    local what=$1 code=$2 file=$3
    if [[ -e $file ]]; then
        say "$what: complete"
        return 0
    fi
    case $code in
        3) say "$what: no device to run on"; return 3 ;;
        5) say "$what: the GPU was lost $((most_losses + 1)) times; the next call continues from $file.partial"; return 5 ;;
        4 | 124) say "$what: cut short; the next call continues from $file.partial"; return 4 ;;
        *) say "$what: failed with exit code $code"; return 1 ;;
    esac
}

# 0 go, 1 no-go, else as outcome().
smoke() {
    local code=0 file=$output/smoke.json
    run_until_done "$program" measure --smoke "${device_option[@]}" "${kernel_option[@]}" --receipts "$receipts" -o "$file" || code=$?
    if ((code == 1)) && [[ -e $file ]]; then
        say "smoke: NO-GO, see above; the file is $file"
        return 1
    fi
    outcome smoke "$code" "$file" || return
}

run_part() {
    local part=$1 file=$output/$1.json code=0
    local part_options
    if ! options_of "$part"; then
        say "$part: this device has no such instructions"
        return 0
    fi
    if [[ -e $file ]]; then
        say "$part: complete already"
        return 0
    fi
    say "$part: $(left) s left"
    run_until_done "$program" measure "${device_option[@]}" "${kernel_option[@]}" "${part_options[@]}" \
        --receipts "$receipts" -o "$file" || code=$?
    outcome "$part" "$code" "$file"
}

# Everything in one file. Never half-written: a call that is killed leaves the one before.
archive() {
    local made=$output/.gpu-results.tar.gz
    (cd "$output" && tar --exclude=gpu-results.tar.gz -czf .gpu-results.tar.gz -- * -C "$scratch" receipts) 2> /dev/null || true
    if [[ -s $made ]]; then mv -f "$made" "$output/gpu-results.tar.gz"; fi
}

# Ten points under Nsight Compute, which leaves the clocks alone; beside each what the row claims.
profile_points() {
    local ncu_program instruction point name
    if ! ncu_program=$(command -v ncu || ls /usr/local/cuda/bin/ncu 2> /dev/null); then
        say "ncu: Nsight Compute is not installed"
        return 0
    fi
    mkdir -p "$output/ncu"
    for instruction in fma.f32 add.s32 fma.f64 rsqrt.approx.ftz.f32 ld.shared.u32 ld.global.l1.u32 ld.global.l2.u32 ld.global.u32 \
        ld.global.f32 mma.m16n8k16.f32.f16; do
        grep -q -x -F "$instruction" <<< "$instructions" || continue
        (($(left) >= 20)) || return 124
        point=$("$program" measure --dry-run --quick "${device_option[@]}" "${kernel_option[@]}" --instructions "$instruction" 2> /dev/null | tail -n 1)
        name=${point//[\/:]/_}
        [[ ! -s $output/ncu/$name.csv ]] || continue
        rm -f "$output/ncu/$name.json" "$output/ncu/$name.json.partial"
        # The first launch of the kernel warms up, the second one is measured.
        if run_for "$(left)" "$ncu_program" --clock-control none --csv --page raw --kernel-name occupipe_kernel --launch-skip 1 --launch-count 1 \
            --section ComputeWorkloadAnalysis --section MemoryWorkloadAnalysis \
            --metrics smsp__inst_executed.sum,sm__cycles_elapsed.max,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct,dram__bytes.sum \
            --log-file "$output/ncu/$name.csv" --force-overwrite \
            "$program" measure --quick "${device_option[@]}" "${kernel_option[@]}" --instructions "$instruction" --point "$point" --hang-limit 120 \
            -o "$output/ncu/$name.json" -- --benchmark_repetitions=1; then
            printf '%s\t%s\n' "$point" "$name.csv" >> "$output/ncu/points.tsv"
        else
            say "ncu: $point could not be profiled (this needs access to performance counters)"
        fi
    done
}

# Reports on the results, each kept only if it succeeds.
report() {
    local file files=() closed page command
    "$program" fit --help > /dev/null 2>&1 || return 0
    mkdir -p "$scratch/closed" "$output/report"
    for part in "${all_parts[@]}"; do
        file=$output/$part.json
        if [[ -e $file ]]; then
            files+=("$file")
        elif [[ -e $file.partial ]]; then
            closed=$scratch/closed/$part.json
            rm -f "$closed"
            if "$program" measure --finish "$file.partial" -o "$closed" > /dev/null 2>> "$log"; then files+=("$closed"); fi
        fi
    done
    ((${#files[@]} > 0)) || return 0
    say "fitting ${#files[@]} files"
    local profile=$output/report/profile.yaml new=$scratch/new
    if ! run_for 120 "$program" fit "${files[@]}" --force -o "$profile"; then
        say "the fit failed; the measurements are complete"
        return 0
    fi
    for page in "table.md:table $profile --format md" "published.md:table $profile --published" "check.txt:check $profile ${files[*]}"; do
        read -r -a command <<< "${page#*:}"
        "$program" "${command[@]}" > "$new" 2>&1 || true
        mv -f "$new" "$output/report/${page%%:*}"
    done
    if "$program" check --self --help > /dev/null 2>&1; then
        local ncu_options=() receipts_option=() point csv
        # A model device has no machine code.
        if compgen -G "$receipts/*.txt" > /dev/null; then receipts_option=(--receipts "$receipts"); fi
        if [[ -s $output/ncu/points.tsv ]]; then
            while IFS=$'\t' read -r point csv; do ncu_options+=(--ncu "$point=$output/ncu/$csv"); done < "$output/ncu/points.tsv"
        fi
        run_for 60 "$program" check --self "$profile" "${files[@]}" "${receipts_option[@]}" "${ncu_options[@]}" --force -o "$output/report/selfcheck.md" || true
    fi
}

take_earlier_results() {
    if [[ -d $resume ]]; then
        # Of a folder whose call was killed the archive may be older than the files beside it.
        if [[ -e $resume/gpu-results.tar.gz ]]; then tar -C "$output" -xzf "$resume/gpu-results.tar.gz"; fi
        cp -r --no-preserve=mode "$resume"/. "$output/"
    elif [[ -e $resume ]]; then
        tar -C "$output" -xzf "$resume"
        [[ $resume -ef $output/gpu-results.tar.gz ]] || cp "$resume" "$output/gpu-results.tar.gz"
    else
        say "$resume: nothing to continue from"
        exit 2
    fi
    rm -rf "$output/receipts"
}

# One line: what, seconds, command.
plan_line() { printf '%-10s %8s  %s\n' "$1" "$2" "$3"; }
dry_run() {
    local part total=0 estimate
    plan_line step seconds command
    plan_line preflight 2 "nvidia-smi, df, list devices"
    plan_line smoke 10 "occupipe measure --smoke ${device_option[*]} ${kernel_option[*]} -o $output/smoke.json"
    for part in "${parts[@]}"; do
        local part_options
        if ! options_of "$part"; then
            plan_line "$part" 0 "this device has no such instructions"
            continue
        fi
        estimate=$("$program" measure --dry-run plan "${plan_device[@]}" "${kernel_option[@]}" "${part_options[@]}" | awk '$1 == "total" { print $NF }')
        plan_line "$part" "$estimate" "occupipe measure ${device_option[*]} ${kernel_option[*]} ${part_options[*]} -o $output/$part.json"
        [[ $estimate == - ]] || total=$((total + estimate))
    done
    [[ $ncu == no ]] || plan_line ncu 100 "ten points under Nsight Compute, --clock-control none"
    plan_line report "$finishing_seconds" "fit, table, check, selfcheck; gpu-results.tar.gz"
    printf '\nEstimated, not calibrated on a GPU: %s s of measuring at the minimum of repetitions; calls of %s s needed: %s.\n' \
        "$total" "$seconds" "$((total / (seconds - finishing_seconds) + 1))"
}

program=$(find_program)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
find_drivers
# The first GPU, by its name, so that every step means the same one.
if [[ -z $device && -z $arch ]]; then
    device=$("$program" list devices 2> /dev/null | awk '$2 == "gpu" { print $1; exit }' || true)
fi
device_option=()
[[ -z $device ]] || device_option=(--device "$device")
plan_device=("${device_option[@]}")
list_device=("${device_option[@]}")
if [[ -n $arch ]]; then
    plan_device=(--device cuda --arch "$arch")
    list_device=(--arch "$arch")
fi
kernel_source=
receipts=$scratch/receipts  # thousands of small files: they come and go in the archive alone
mkdir -p "$receipts"
if [[ -z $arch ]]; then prepare_kernels; fi
if [[ $dry_run == no ]]; then
    [[ -z $resume ]] || mkdir -p "$output"
    [[ -z $resume ]] || take_earlier_results
    if [[ -e $output/gpu-results.tar.gz ]]; then
        tar -C "$scratch" -xzf "$output/gpu-results.tar.gz" receipts 2> /dev/null || true
    fi
    preflight
fi
list_options=("${list_device[@]}")
if [[ ${#kernel_option[@]} -gt 0 && ${#list_device[@]} -gt 0 ]]; then list_options+=("${kernel_option[@]}"); fi
code=0
# The first column, for all that can be measured on the device.
instructions=$("$program" list instructions "${list_options[@]}" | awk '$2 == "yes" || $2 == "yes*" { print $1 }'; exit "${PIPESTATUS[0]}") || code=$?
if ((code != 0)); then
    say "nothing can be measured (exit code $code of: $program list instructions ${list_options[*]})"
    exit "$code"
fi
if [[ $dry_run == yes ]]; then
    dry_run
    exit 0
fi

trap stop INT TERM HUP
began=$SECONDS
deadline=$((began + seconds - finishing_seconds))
worst=0
smoke || worst=$?
archive
if ((worst == 1)) && [[ $force == yes ]]; then
    say "continuing nevertheless, because of --force"
    worst=0
fi
if ((worst == 0)); then
    for part in "${parts[@]}"; do
        if (($(left) < 5)) || [[ $stopping == yes ]]; then
            say "time is up before $part"
            worst=4
            break
        fi
        code=0
        run_part "$part" || code=$?
        archive
        if ((code == 3 || code == 4)); then
            worst=$code
            break
        fi
        ((code == 0)) || worst=$code
    done
fi
if [[ $stopping == no ]]; then
    deadline=$((began + seconds))
    if [[ $ncu == yes ]] && ((worst == 0)); then profile_points || worst=4; fi
    report
fi
archive
((worst != 4 && worst != 5)) || say "run again with --resume $output/gpu-results.tar.gz (or the same --output) to continue"
say "results are in $output/gpu-results.tar.gz"
exit "$worst"
