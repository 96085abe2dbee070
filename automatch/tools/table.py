#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What AutoMatch says of the eight workloads of automatch/workloads on the five devices of the paper's Table I: costs, best
device of each of the paper's three subsets by how much, and what bounds it. Prints the tables of docs/background/automatch.md,
"On the paper's devices".

  tools/match_table.py                                # from the stored workload files, without LLVM
  tools/match_table.py --size paper --keep counted    # counts them first, at sizes near the paper's: minutes, needs LLVM 19"""
import argparse
import json
import pathlib
import sys
import tempfile

from openmp import ROOT, SIZES, WORKLOADS, run

DEVICES = {
    "Intel Core i5-2400": ("ARC1", "intel-i5-2400"),
    "Intel Core i7-4700": ("ARC2", "intel-i7-4700"),
    "NVIDIA Tesla C2075": ("ARC3", "nvidia-tesla-c2075"),
    "NVIDIA Tesla K20c": ("ARC4", "nvidia-tesla-k20c"),
    "NVIDIA Tesla K20X": ("ARC5", "nvidia-tesla-k20x"),
}
SUBSETS = [("ARC1", "ARC3", "ARC5"), ("ARC1", "ARC2"), ("ARC4", "ARC5")]


def counted(automatch, name, size, kept):
    """The workload's file; counted where it is not there, with the capacities of all five devices exact."""
    path = kept / f"{name}.yaml"
    if not path.exists():
        profiles = [word for _, profile in DEVICES.values() for word in ("--profile", profile)]
        run(automatch, "predict", WORKLOADS / f"{name}.c", "--kernel", name, *profiles, "-o", path, "--", *size.split())
    return path


def costs(automatch, path, model):
    """Of each device, by ARC1 to ARC5: what `match --json` says."""
    profiles = [word for _, profile in DEVICES.values() for word in ("--profile", profile)]
    said = json.loads(run(automatch, "predict", "--workload", path, *profiles, "--model", model, "--sensitivity", "--json"))
    return {DEVICES[device["device"]][0]: device for device in said["models"][0]["devices"]}


def shares(device):
    """What the time consists of, from how much each number of the device matters: what a maximum hides does not count."""
    s = device["sensitivity"]
    return {
        "computation": -s["π0"],
        "fast memory": s["α_f"] - s["β_f"],
        "slow memory": s["α_s"] - s["β_s"],
        "synchronisation": s["s0"],
    }


def bottleneck(device):
    parts = shares(device)
    most = max(parts, key=parts.get)
    return f"{most} {100 * parts[most]:.0f} %"


def ranking(devices, subset):
    """Fastest first, each with how many times as long as the first it takes."""
    order = sorted((devices[arc]["seconds"], arc) for arc in subset)
    return ", ".join([order[0][1]] + [f"{arc} ({seconds / order[0][0]:.2f})" for seconds, arc in order[1:]])


def tables(automatch, files, model):
    arcs = [arc for arc, _ in DEVICES.values()]
    print("| workload | arguments | " + " | ".join(f"{arc} [ms]" for arc in arcs) + " | ARC1, 3, 5 | ARC1, 2 | ARC4, 5 |")
    print("| --- | --- |" + " ---: |" * 5 + " --- | --- | --- |")
    bounds = []
    for name, (size, path) in files.items():
        devices = costs(automatch, path, model)
        if any("seconds" not in device for device in devices.values()):
            print(f"| {name} | {size} |" + " - |" * 8)
            continue
        times = " | ".join(f"{1e3 * devices[arc]['seconds']:.4g}" for arc in arcs)
        print(f"| {name} | {size} | {times} | " + " | ".join(ranking(devices, subset) for subset in SUBSETS) + " |")
        bounds.append(f"| {name} | " + " | ".join(bottleneck(devices[arc]) for arc in arcs) + " |")
    print("\n| workload | " + " | ".join(f"{arc}: bound by" for arc in arcs) + " |")
    print("| --- |" + " --- |" * 5)
    print("\n".join(bounds))


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--automatch", default=ROOT / "build/release/automatch/automatch", help="the program")
    options.add_argument("--size", choices=["short", "paper"], default="short")
    options.add_argument("--keep", type=pathlib.Path, help="folder for workload files (NAME.yaml), so that nothing is counted twice; "
                         "short: automatch/workloads/counted")
    options.add_argument("--only", nargs="*", choices=list(SIZES), help="some of the workloads")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = given.keep or (WORKLOADS / "counted" if given.size == "short" else pathlib.Path(folder))
        kept.mkdir(parents=True, exist_ok=True)
        files = {}
        for name in given.only or SIZES:
            print(f"match_table: {name}", file=sys.stderr)
            size = SIZES[name][given.size]
            files[name] = (size, counted(given.automatch, name, size, kept))
        for model in ("automatch", "automatch-corrected"):
            print(f"\n`{model}`:\n")
            tables(given.automatch, files, model)


if __name__ == "__main__":
    main()
