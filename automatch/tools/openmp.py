#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times the eight workloads of automatch/workloads with OpenMP on this computer, and sets them beside what
AutoMatch says of it: the table of docs/background/automatch.md, "Results".

  build/release/automatch/automatch measure --device cpu -o cpu.json
  build/release/automatch/automatch fit cpu.json -o cpu.yaml
  tools/match_openmp.py --profile cpu.yaml

Needs gcc with OpenMP and LLVM 19. The bound has to hold for every workload: exit code 1 where a measured
time is shorter, by more than twice the bound's standard error."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "automatch/workloads"
# Paper: Table II's sizes, with fewer steps where steps repeat one another (counting takes long); short: less of the rest, too.
SIZES = {
    "cutcp": {"short": "40 267 12", "paper": "80 2137 12"},
    "stencil": {"short": "256 256 64 4", "paper": "512 512 64 10"},
    "spmv": {"short": "383 10", "paper": "383 50"},
    "lbm": {"short": "60 60 75 4", "paper": "120 120 150 4"},
    "lud": {"short": "256", "paper": "512"},
    "lavamd": {"short": "4", "paper": "10"},
    "hotspot": {"short": "1024 1024 2", "paper": "1024 1024 2"},
    "srad": {"short": "512 512 10", "paper": "512 512 100"},
}
COMPILED = ["-std=gnu17", "-O3", "-march=native", "-ffast-math", "-fopenmp"]


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}:\n{done.stderr}")
    return done.stdout


def times(program, size, repetitions, threads):
    """Seconds of each run of the kernel: half of them with threads that spin at barriers, half with such that sleep, since which
    is faster depends on what else the machine does."""
    said = ""
    for policy in ("active", "passive"):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": policy}
        said += run(program, *size.split(), "--times", (repetitions + 1) // 2, env=environment)
    return [float(line.split()[1]) for line in said.splitlines() if line.startswith("seconds ")]


def costs(automatch, name, size, profile, kept):
    """Seconds and standard errors of the models, and why one has none."""
    workload = kept / f"{name}-{size.replace(' ', '-')}.yaml"
    if not workload.exists():
        run(automatch, "predict", WORKLOADS / f"{name}.c", "--kernel", name, "--profile", profile, "-o", workload, "--", *size.split())
    said = json.loads(run(automatch, "predict", "--workload", workload, "--profile", profile, "--json"))
    return {model["model"]: model["devices"][0] for model in said["models"]}


def milliseconds(seconds):
    return "-" if seconds is None else f"{1e3 * seconds:.4g}"


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--profile", required=True, help="of this CPU, with a match section")
    options.add_argument("--automatch", default=ROOT / "build/release/automatch/automatch", help="the program")
    options.add_argument("--size", choices=["short", "paper"], default="short")
    options.add_argument("--times", type=int, default=40, help="runs of each kernel; the shortest counts")
    options.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options.add_argument("--only", nargs="*", choices=list(SIZES), help="some of the workloads")
    options.add_argument("--keep", type=pathlib.Path, help="folder for workload files, so that nothing is counted twice")
    given = options.parse_args()
    beaten = []
    print("| workload | size | OpenMP [ms] | bound [ms] | OpenMP / bound | bound by | corrected [ms] | literal [ms] | faster than |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        kept = given.keep or pathlib.Path(folder)
        kept.mkdir(parents=True, exist_ok=True)
        for name in given.only or SIZES:
            size = SIZES[name][given.size]
            program = pathlib.Path(folder) / name
            run("gcc", *COMPILED, WORKLOADS / f"{name}.c", "-lm", "-o", program)
            measured = min(times(program, size, given.times, given.threads))
            models = costs(given.automatch, name, size, given.profile, kept)
            seconds = {model: device.get("seconds") for model, device in models.items()}
            bound = models["automatch-bound"]
            if measured < bound["seconds"] - 2 * bound.get("std_error", 0):
                beaten.append(name)
            faster = [m for m in ("automatch", "automatch-corrected") if seconds[m] and measured < seconds[m]]
            print(f"| {name} | {size} | {milliseconds(measured)} | {milliseconds(bound['seconds'])} | {measured / bound['seconds']:.2f} | "
                  f"{bound.get('bound_by', '-')} | {milliseconds(seconds['automatch-corrected'])} | {milliseconds(seconds['automatch'])} | "
                  f"{', '.join(faster) or 'neither'} |", flush=True)
    load = os.getloadavg()[0]
    print(f"\n{given.threads} threads, the shortest of {given.times} runs, gcc {' '.join(COMPILED)}; load of the machine at the end: {load:.1f}")
    if beaten:
        sys.exit(f"the bound does not hold: {', '.join(beaten)}")


if __name__ == "__main__":
    main()
