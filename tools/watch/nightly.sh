#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nightly.sh BASELINE.yaml DEVICE FOLDER: watches the device against the baseline, a folder per day;
# ends with the exit code of `occupipe check --watch` (0 unchanged, 6 moved, others: docs/how-to/watch-device.md).
#
# cron:   0 3 * * *  /usr/local/bin/nightly.sh /etc/occupipe/golden.yaml cuda:0 /var/lib/occupipe
# Slurm:  sbatch --gres=gpu:1 --exclusive --begin=03:00 nightly.sh golden.yaml cuda:0 "$HOME/watch"
set -uo pipefail
[[ $# -eq 3 ]] || { echo "usage: nightly.sh BASELINE.yaml DEVICE FOLDER" >&2; exit 2; }
program=${OCCUPIPE:-occupipe}
night=$3/$(date -u +%F)
mkdir -p "$3"
"$program" check --watch "$1" --device "$2" -o "$night"
code=$?
if [[ $code -eq 6 ]]; then
    echo "$2 moved: $night/report.txt" >&2
fi
exit "$code"
