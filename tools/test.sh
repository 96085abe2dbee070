#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what is missing, builds, and runs every test that needs no GPU. CI runs exactly this.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/test.sh [PRESET [CTEST-ARGUMENT…]]

The Python package is built and tested in build/python-venv, which tools/python.sh makes; where that
cannot be done, its tests are skipped, and the last lines say why.

Tests that touch CUDA run a second time with NVRTC hidden (label without_nvrtc), as on a machine that
has none. Without NVRTC, tests that compile CUDA kernels are skipped.

  PRESET          release (default) or dev, which adds the address and undefined-behaviour sanitizers
  CTEST-ARGUMENT  passed to ctest, for example: tools/test.sh dev -R kernel

tools/test.sh release -L full runs the exhaustive tests, which the ordinary run only samples. Which random
cases it takes depends on the date, and is printed: OCCUPIPE_TURN=N repeats that of another day.
The ten slowest tests are printed at the end.
TEXT
}

case ${1:-} in
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
esac
preset=${1:-release}

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# The Python package is built where there is an environment for it, which has to be there first.
[[ ${OCCUPIPE_SETUP:-yes} == no ]] || tools/setup.sh --tests --python
why_no_python=
if [[ $preset != dev ]]; then
    why_no_python=$(tools/python.sh 2>&1 | tee >(cat >&2) | tail -n 1) && why_no_python=
fi
OCCUPIPE_SETUP=no tools/build.sh "$preset"

# Compiled OpenCL kernels are cached between runs; tests start from none, so that their outcome does
# not depend on what ran before.
POCL_CACHE_DIR=$(mktemp -d)
export POCL_CACHE_DIR
trap 'rm -rf "$POCL_CACHE_DIR"' EXIT

say() { printf 'test: %s\n' "$*" >&2; }

nvrtc=$("build/$preset/cli/occupipe" --version | sed -n '2p')
export OCCUPIPE_TURN=${OCCUPIPE_TURN:-$(($(date +%s) / 86400))}
say "running the tests of build/$preset; random cases of OCCUPIPE_TURN=$OCCUPIPE_TURN; $nvrtc"
code=0
# The presets leave the exhaustive tests out; who names them by their label means them.
labels=()
[[ " ${*:2} " != *" -L full "* ]] || labels=(-LE '^gpu$')
log=$(mktemp)
trap 'rm -rf "$POCL_CACHE_DIR" "$log"' EXIT
ctest --preset "$preset" --parallel "$(nproc)" "${@:2}" "${labels[@]}" | tee "$log" || code=$?
# What takes long daily belongs to the label `full`. A warning only: on a machine with other work all take longer.
say "the slowest tests, in seconds:"
slowest=$(sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([^ ]*\).* \([0-9.]*\) sec.*/\2 \1/p' "$log" | sort -rn | sed -n '1,10p')
printf '%s\n' "$slowest" >&2
if [[ $preset != dev && ${#labels[@]} == 0 && ${slowest%%.*} -gt 20 ]]; then
    say "a test takes more than 20 s: thin it (tests/support/thinned.h) or, where nothing else runs here, label it full"
fi
[[ $nvrtc != no* ]] || say "$nvrtc, so that tests which compile CUDA kernels were skipped"
[[ -z $why_no_python ]] || say "$why_no_python; the Python package's tests were skipped"
say "$([[ $code == 0 ]] && echo passed || echo "FAILED, exit code $code")"
exit "$code"
