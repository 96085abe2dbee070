#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes every number, curve and picture of docs/background/reproductions.md anew.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/reproduce.sh [--no-build]

Builds what it needs (release), predicts and simulates all that docs/background/reproductions.md shows, and
writes the page's numbers, docs/background/reproductions/*.csv (curves) and *.svg (pictures). The same program
makes the same files: `git diff` afterwards shows what has changed. Needs gnuplot, no GPU.
TEXT
}

build=yes
case ${1:-} in
    -h | --help) usage; exit 0 ;;
    --no-build) build=no ;;
    '') ;;
    *) usage >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
[[ $build == no ]] || tools/build.sh release occupipe occupipe_reproduce
start=$SECONDS
folder=docs/background/reproductions
occupipe=build/release/cli/occupipe
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Tables 9 to 12 and Figures 17 and 18 of the analysis paper: its fourteen kernels on simulated devices.
kernels=fan2,nw_kernel1,kmeans_kernel_c,kmeans_swap,lud_perimeter,lud_internal,hotspot,srad1,srad2
kernels+=,bpnn_layerforward,bpnn_adjust_weights,compute_step_factor,time_step,compute_flux
violations='policy=gto&skew=500&contention=0.3&schedulers=4'
declare -A pictured=([quadro-k620]='srad1|nw_kernel1' [gtx-1060]='lud_perimeter|nw_kernel1' [rtx-2070]='none')
for gpu in quadro-k620 gtx-1060 rtx-2070; do
    printf 'reproduce: kernels on a simulated %s\n' "$gpu" >&2
    "$occupipe" validate --device "model:$gpu?$violations" --profile "$gpu" --kernel "$kernels" \
        --machine-code tests/suite/recorded -o "$work/$gpu" > "$work/out"
    {
        printf '# occupipe validate --device "model:%s?%s": errors in percent, occupancies in warps\n' "$gpu" "$violations"
        awk -F, -v OFS=, '
            FILENAME ~ /suite.yaml$/ {
                if (match($0, /name: [a-z0-9_]+/)) name = substr($0, RSTART + 6, RLENGTH - 6)
                if (match($0, /published: [A-Za-z0-9_]+/)) published[name] = substr($0, RSTART + 11, RLENGTH - 11)
                next
            }
            FILENAME ~ /curves.csv$/ {
                if ($6 != "measured") next
                if (!($1 in least) || $4 < least[$1]) least[$1] = $4
                if (!($1 in most) || $4 > most[$1]) most[$1] = $4
                next
            }
            FNR == 1 { print "kernel,published,least,greatest,model,mape,mape_shape"; next }
            !($1 in published) { next } # the mean
            { printf "%s,%s,%d,%d,%s,%.6g,%.6g\n", $1, published[$1], least[$1], most[$1], $2, $3, $4 }
        ' FS='[|]' kernels/suite.yaml FS=, "$work/$gpu/curves.csv" "$work/$gpu/accuracy.csv"
    } > "$folder/suite-$gpu.csv"
    [[ ${pictured[$gpu]} == none ]] || {
        printf '# occupipe validate --device "model:%s?%s": the device is "measured"\n' "$gpu" "$violations"
        printf 'kernel,warps,source,warps_per_cycle\n'
        awk -F, -v OFS=, -v kernels="^(${pictured[$gpu]})$" \
            'FNR > 1 && $1 ~ kernels { printf "%s,%d,%s,%.8g\n", $1, $4, $6, $8 }' "$work/$gpu/curves.csv"
    } > "$folder/suite-curves-$gpu.csv"
done

build/release/tests/occupipe_reproduce
printf 'reproduce: docs/background/reproductions.md and %s made in %d s\n' "$folder" $((SECONDS - start)) >&2
