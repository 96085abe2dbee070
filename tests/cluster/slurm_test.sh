#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools/cluster against a real Slurm: a controller and five nodes' daemons on this machine, of this user
# and for the time of the test. usage: slurm_test.sh PROGRAM. Exit codes: 0 passed, 1 failed, 77 skipped.
set -euo pipefail

program=$(realpath "$1")
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cluster=$source/tools/cluster/cluster.sh
PATH=$PATH:/usr/sbin:/sbin

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }

for needed in slurmctld slurmd munged sbatch squeue sinfo scontrol python3; do
    command -v "$needed" > /dev/null || skip "$needed is not installed (Debian: slurm-wlm, munge)"
done

work=$(mktemp -d)
daemons=()
# shellcheck disable=SC2317  # called by the trap
clean_up() {
    ((${#daemons[@]} == 0)) || kill "${daemons[@]}" 2> /dev/null || true
    wait || true
    rm -rf "$work"
}
trap clean_up EXIT
mkdir -p "$work"/{state,spool,log} "$work/munge"
chmod 755 "$work"
chmod 700 "$work/munge"
head -c 1024 /dev/urandom > "$work/munge/key"
chmod 600 "$work/munge/key"

# Ports that nobody listens on, as far as can be known beforehand.
base=$(python3 -c '
import random, socket
while True:
    base = random.randrange(20000, 32000)
    try:
        for port in range(base, base + 7):
            with socket.socket() as s:
                s.bind(("127.0.0.1", port))
        print(base)
        break
    except OSError:
        pass')
host=$(hostname -s)
me=$(id -un)
cat > "$work/slurm.conf" <<TEXT
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
SlurmctldPort=$base
SlurmdPort=$((base + 1))
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool/%n
SlurmctldPidFile=$work/controller.pid
SlurmdPidFile=$work/%n.pid
SlurmctldLogFile=$work/log/controller
SlurmdLogFile=$work/log/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmdParameters=config_overrides
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=n[1-5] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((base + 2))-$((base + 6))] CPUs=1 State=UNKNOWN
PartitionName=gpu Nodes=n[1-5] Default=YES MaxTime=INFINITE State=UP
TEXT
export SLURM_CONF=$work/slurm.conf

munged --foreground --force --socket="$work/munge/socket" --key-file="$work/munge/key" --log-file="$work/munge/log" \
    --pid-file="$work/munge/pid" --seed-file="$work/munge/seed" > "$work/log/munged.said" 2>&1 &
daemons+=($!)
slurmctld -D > "$work/log/controller.said" 2>&1 &
daemons+=($!)
for node in n1 n2 n3 n4 n5; do
    mkdir -p "$work/spool/$node"
    slurmd -D -N "$node" > "$work/log/$node.said" 2>&1 &
    daemons+=($!)
done

# Waits until a command says something else than before, for as long as a busy machine may need.
wait_for() {
    local what=$1 deadline=$((SECONDS + 600))
    shift
    until "$@" > /dev/null 2>&1; do
        ((SECONDS < deadline)) || return 1
        sleep 0.2
    done
    echo "$what"
}
# shellcheck disable=SC2317  # called by wait_for
nodes_are_up() { [[ $(timeout 20 sinfo --noheader --Node --states=idle --format=%N | wc -l) == 5 ]]; }
# shellcheck disable=SC2317
queue_is_empty() { [[ -z $(timeout 20 squeue --noheader || echo unknown) ]]; }
wait_for "Slurm is up" nodes_are_up ||
    skip "no Slurm can be started here: $(cat "$work"/log/*.said | tail --lines=3 | tr '\n' ' ')"

export OCCUPIPE=$program
cat > "$work/spec.yaml" <<'TEXT'
format: occupipe-sweep/1
kernels: [saxpy, mix]
profiles: [rtx-2070, gtx-1060]
models: [roofline, pipeline]
set: {ld.global.s32.latency: {from: 200, to: 800, count: 5}}
launches: {group_warps: 4, concurrent_groups: {from: 1, to: 8}}
TEXT
"$program" sweep "$work/spec.yaml" -o "$work/whole.csv" 2> /dev/null

"$cluster" sweep "$work/spec.yaml" "$work/sweep" 4 -- --partition=gpu
wait_for "the sweep has ended" queue_is_empty || fail "the sweep does not end"
"$cluster" join "$work/sweep" || { cat "$work"/sweep/*.log; fail "the shards cannot be joined"; }
cmp "$work/whole.csv" "$work/sweep/rows.csv" || fail "rows of the cluster are not those of one machine"

# Slurm takes every task from its node, wherever it is by then, and starts it again.
job=$("$cluster" sweep "$work/spec.yaml" "$work/again" 3 -- --partition=gpu)
wait_for "the first task has begun" test -e "$work/again/rows-1.csv.sweep.json" || fail "no task begins"
for task in 1 2 3; do scontrol requeue "${job}_$task" || true; done
wait_for "the requeued sweep has ended" queue_is_empty || fail "a requeued sweep does not end"
"$cluster" join "$work/again" || { cat "$work"/again/*.log; fail "requeued shards cannot be joined"; }
cmp "$work/whole.csv" "$work/again/rows.csv" || fail "requeued rows are not those of one machine"

rm "$work/again/rows-2.csv" "$work/again/rows-2.csv.sweep.json"
code=0
"$cluster" join "$work/again" 2> "$work/said" || code=$?
if [[ $code != 2 ]] || ! grep -q "are in none of the files" "$work/said"; then fail "a shard is missing and nobody says so"; fi

# An array that is not 1-N would leave rows out.
sbatch --parsable --array=0-2 --output="$work/wrong-%a.log" "$source/tools/cluster/sweep.sbatch" "$work/spec.yaml" "$work/wrong"
wait_for "the wrong array has ended" queue_is_empty || fail "the wrong array does not end"
grep -q "the array has to be 1-N" "$work/wrong-1.log" || fail "array 0-2 is taken"
[[ ! -e $work/wrong ]] || fail "array 0-2 wrote something"

# Every node has a GPU of its own, as --device says; the memory of n4's is 10 % slower.
sed '/^  ld.global.s32:/,/cpi:/ s/cpi: 12/cpi: 13.2/' "$source/profiles/nvidia-gtx-1060.yaml" > "$work/slow.yaml"
! cmp -s "$work/slow.yaml" "$source/profiles/nvidia-gtx-1060.yaml" || fail "nothing is planted"
cat > "$work/occupipe" <<TEXT
#!/usr/bin/env bash
words=()
for word in "\$@"; do
    if [[ \$word == OWN ]]; then
        profile=$source/profiles/nvidia-gtx-1060.yaml
        [[ \$SLURMD_NODENAME != n4 ]] || profile=$work/slow.yaml
        word="model:\$profile?noise=0.005&seed=\${SLURMD_NODENAME#n}"
    fi
    words+=("\$word")
done
exec $program "\${words[@]}"
TEXT
chmod +x "$work/occupipe"
export OCCUPIPE=$work/occupipe
"$cluster" characterize gpu "$work/gpus" --device OWN --quick --instructions fma.f32,ld.global.s32
wait_for "all nodes are characterised" queue_is_empty || fail "the characterisation does not end"
"$cluster" gather "$work/gpus" || { cat "$work"/gpus/*.log; fail "nothing can be gathered"; }
[[ $(find "$work/gpus" -name profile.yaml | wc -l) == 5 ]] || fail "not every node has a profile"
found=$(python3 -c '
import json, sys
for model in json.load(open(sys.argv[1]))["models"]:
    for one in model["outliers"]:
        print(one["member"].split("/")[-2], one["quantity"].split(" [")[0])' "$work/gpus/outliers.json")
[[ $found == "n4 ld.global.s32 λ per core" ]] || fail "outliers are '$found'"
merged=("$work"/gpus/*.yaml)
"$program" check "${merged[@]}" > /dev/null || fail "the merged profile is not accepted"
code=0
"$cluster" characterize none "$work/none" 2> "$work/said" || code=$?
if [[ $code != 1 ]] || ! grep -q "no node of partition 'none' is up" "$work/said"; then fail "a partition that is not there"; fi
echo passed
