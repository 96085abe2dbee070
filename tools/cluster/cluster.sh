#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Sweeps and characterisations on a cluster with Slurm; docs/how-to/compare-fleet.md.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/cluster/cluster.sh sweep SPEC.yaml FOLDER SHARDS [-- SBATCH-OPTION…]
       tools/cluster/cluster.sh join FOLDER
       tools/cluster/cluster.sh characterize PARTITION FOLDER [OPTION…] [-- SBATCH-OPTION…]
       tools/cluster/cluster.sh gather FOLDER

  sweep         submits an array job of SHARDS tasks, each a shard of the sweep
  join          joins FOLDER/rows-*.csv into FOLDER/rows.csv; says which shard is not complete
  characterize  submits a job to each node of a partition that is up; OPTIONs go to
                'occupipe characterize'
  gather        for each GPU model below FOLDER: a merged profile, FOLDER/MODEL.yaml, and in
                FOLDER/outliers.txt the GPUs that differ from the others (occupipe compare --fleet)

  OCCUPIPE=PROGRAM   in the environment: the program, the same path on every node (default: occupipe)

SBATCH-OPTIONs, such as --partition=gpu --cpus-per-task=32 --time=4:00:00, go to sbatch. Submitting the
same again goes on where tasks were ended. Exit codes: 0 ok, 1 failed, 2 wrong usage.
TEXT
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
occupipe=${OCCUPIPE:-occupipe}

# What stands before and after "--".
own=()
slurm=()
split() {
    local target=own word
    for word in "$@"; do
        if [[ $target == own && $word == -- ]]; then target=slurm; continue; fi
        if [[ $target == own ]]; then own+=("$word"); else slurm+=("$word"); fi
    done
}

wrong() { usage >&2; exit 2; }

sweep() {
    [[ ${#own[@]} == 3 && ${own[2]} =~ ^[1-9][0-9]*$ ]] || wrong
    mkdir -p "${own[1]}"
    sbatch --parsable --array="1-${own[2]}" --output="${own[1]}/task-%a.log" "${slurm[@]}" \
        "$here/sweep.sbatch" "$(realpath "${own[0]}")" "$(realpath "${own[1]}")"
}

join() {
    ((${#own[@]} == 1)) || wrong
    "$occupipe" sweep --join "${own[0]}"/rows-*.csv -o "${own[0]}/rows.csv" --force
}

characterize() {
    ((${#own[@]} >= 2)) || wrong
    mkdir -p "${own[1]}"
    local folder node nodes
    folder=$(realpath "${own[1]}")
    # Nodes that are down or drained would keep a job waiting for ever.
    nodes=$(sinfo --noheader --Node --partition="${own[0]}" --states=idle,mixed,allocated --format=%N | sort --unique)
    [[ -n $nodes ]] || { echo "cluster.sh: no node of partition '${own[0]}' is up" >&2; exit 1; }
    for node in $nodes; do
        sbatch --parsable --partition="${own[0]}" --nodelist="$node" --exclusive --output="$folder/$node.log" \
            "${slurm[@]}" "$here/characterize.sbatch" "$folder" "${own[@]:2}"
    done
}

gather() {
    ((${#own[@]} == 1)) || wrong
    local folder=${own[0]} profile model name
    local -a profiles members
    shopt -s nullglob
    profiles=("$folder"/*/profile.yaml)
    ((${#profiles[@]} > 0)) || { echo "cluster.sh: no profile below $folder" >&2; exit 1; }
    "$occupipe" compare --fleet "${profiles[@]}" --json > "$folder/outliers.json"
    "$occupipe" compare --fleet "${profiles[@]}" | tee "$folder/outliers.txt"
    # The program itself says which profiles are of one model.
    while IFS=$'\t' read -r -a members; do
        model=${members[0]}
        name=$(tr --complement --squeeze-repeats '[:alnum:]\n' '-' <<< "$model")
        profile=$folder/${name%-}.yaml
        if ((${#members[@]} > 2)); then
            "$occupipe" fit --merge "${members[@]:1}" -o "$profile" --force > "$folder/${name%-}.merge.txt"
        else
            cp "${members[1]}" "$profile"
        fi
        echo "$model: $profile of $((${#members[@]} - 1)) GPUs" >&2
    done < <(python3 -c '
import json, sys
for model in json.load(open(sys.argv[1]))["models"]:
    print("\t".join([model["device"], *model["members"]]))' "$folder/outliers.json")
}

command=${1:-}
shift || true
split "$@"
case $command in
    sweep | join | characterize | gather) "$command" ;;
    -h | --help) usage ;;
    *) wrong ;;
esac
