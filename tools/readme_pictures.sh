#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Draws the README's pictures again from files of this repository.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/readme_pictures.sh [OCCUPIPE]

Writes docs/pictures/*.svg: the curves of four instructions measured on a CPU
(results/cpu-amd-zen4-pocl) and the models' occupancy curves of the example kernel
(sim/kernels/example.yaml), and two kernels of the suite on a simulated device. OCCUPIPE: the program; default build/release/cli/occupipe.
TEXT
}

case ${1:-} in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
occupipe=${1:-build/release/cli/occupipe}
if [[ ! -x $occupipe ]]; then
    printf 'readme_pictures: no program at %s; build it: ./tools/build.sh\n' "$occupipe" >&2
    exit 1
fi

mkdir -p docs/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$occupipe" fit results/cpu-amd-zen4-pocl/2026-11-21.json -o "$work/profile.yaml" --force \
    --plot docs/pictures/hulls.svg --instructions add.s32,mul.s32,mul.f32,fma.f32 > "$work/out"
"$occupipe" predict sim/kernels/example.yaml --profile sim/kernels/example_gpu.yaml \
    --model pipeline,roofline,volkov,mwp-cwp,gpumech-rr --occupancy 1-10 --plot docs/pictures/models.svg --force > "$work/out"
"$occupipe" validate --device 'model:quadro-k620?policy=gto&skew=500&contention=0.3' --profile quadro-k620 -o "$work/validation" \
    --kernel srad1,nw_kernel1 --model pipeline,volkov,mwp-cwp-corrected,wfg-corrected \
    --machine-code tests/suite/recorded --plot docs/pictures/validation.svg --force > "$work/out"
