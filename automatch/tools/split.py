#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""MiniGhost's experiment of AutoMatch (Helal et al. 2017, section IV-C, Figure 12): a 7-point stencil of 100 steps, its planes
split over devices of this computer by equal parts (default), by AutoMatch's costs, and by measured times (oracle).

  for d in 0 1/1; do automatch measure --device cpu:$d -o cpu-${d%/*}.json; automatch fit cpu-${d%/*}.json -o cpu-${d%/*}.yaml; done
  automatch/tools/split.py --device 0 --profile cpu-0.yaml --device 1/1 --profile cpu-1.yaml --svg figure12.svg

A device is CPUS or CPUS/1 as in automatch/workloads/minighost.c; its profile is measured with --device cpu:CPUS or cpu:CPUS/1.
Needs gcc and LLVM 19."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "automatch/workloads"
COUNTED_STEPS = 4  # every step costs the same; counting takes long


def run(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}:\n{done.stderr}")
    return done.stdout


def planes_of(shares, planes):
    """Whole planes in these shares, at least one each: largest remainders."""
    exact = [share * planes for share in shares]
    whole = [max(1, int(e)) for e in exact]
    while sum(whole) < planes:
        i = max(range(len(whole)), key=lambda d: exact[d] - whole[d])
        whole[i] += 1
    while sum(whole) > planes:
        i = max(range(len(whole)), key=lambda d: (whole[d] > 1, whole[d] - exact[d]))
        whole[i] -= 1
    return whole


def inverse(costs):
    total = sum(1 / cost for cost in costs)
    return [1 / cost / total for cost in costs]


def split_run(program, side, steps, devices, planes):
    """The path (the slowest thread of each step, by the time that it had a processor, so that what else the machine does counts
    little), the time that passed, and what each device computed, on a processor."""
    words = [w for device in devices for w in ("--device", device)]
    lines = [line.split() for line in run(program, side, side, side, steps, *words, "--planes", ",".join(map(str, planes))).splitlines()]
    said = {l[0]: float(l[1]) for l in lines if l[0] in ("path", "seconds")}
    return said["path"], said["seconds"], [float(l[7]) for l in lines if l[0] == "device"]


def best_runs(runs, repetitions):
    """Of each the one with the shortest path. In rounds, so that what disturbs meets all."""
    best = [None] * len(runs)
    for _ in range(repetitions):
        for i, one in enumerate(runs):
            found = split_run(*one)
            best[i] = min(best[i] or found, found)
    return best


def predicted(automatch, side, profiles, model, folder):
    workload = folder / f"{side}.yaml"
    size = [side, side, side, COUNTED_STEPS]
    words = [w for profile in profiles for w in ("--profile", profile)]
    run(automatch, "predict", WORKLOADS / "stencil.c", "--kernel", "stencil", *words, "-o", workload, "--", *size)
    costs = []
    for profile in profiles:
        said = json.loads(run(automatch, "predict", "--workload", workload, "--profile", profile, "--model", model, "--json"))
        device = said["models"][0]["devices"][0]
        if "seconds" not in device:
            sys.exit(f"{profile}: no cost: {device['no_cost_because']}")
        costs.append(device["seconds"])
    return costs


def svg(rows, devices):
    """Figure 12: for each grid and strategy, what each device computed beside the time of the whole."""
    colours = ["#4477aa", "#ee6677", "#228833", "#ccbb44"]
    width, height, left, bottom = 150 + 34 * (len(rows) + len(rows) // 3) * 2, 320, 70, 60
    most = max(row["seconds"] for row in rows)
    scale = (height - bottom - 40) / most
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="16">Time of the whole (outline: the slowest device of each step) and of each device: ' +
           ", ".join(f'<tspan fill="{colours[d % 4]}">{device}</tspan>' for d, device in enumerate(devices)) + "</text>"]
    for i in range(5):
        y = height - bottom - scale * most * i / 4
        out.append(f'<line x1="{left}" x2="{width - 10}" y1="{y:.1f}" y2="{y:.1f}" stroke="#dddddd"/>'
                   f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{most * i / 4:.3g} s</text>')
    x = left + 10
    for i, row in enumerate(rows):
        if i > 0 and row["side"] != rows[i - 1]["side"]:
            x += 34
        each = 44 / len(devices)
        for d, busy in enumerate(row["busy"]):
            out.append(f'<rect x="{x + d * each:.1f}" y="{height - bottom - scale * busy:.1f}" width="{each:.1f}" '
                       f'height="{scale * busy:.1f}" fill="{colours[d % 4]}"/>')
        out.append(f'<rect x="{x - 2}" y="{height - bottom - scale * row["seconds"]:.1f}" width="48" height="{scale * row["seconds"]:.1f}" '
                   'fill="none" stroke="black"/>')
        out.append(f'<text x="{x + 22}" y="{height - bottom + 16}" text-anchor="middle">{row["strategy"]}</text>'
                   f'<text x="{x + 22}" y="{height - bottom + 32}" text-anchor="middle">{row["side"]}³</text>')
        x += 62
    return "\n".join(out + ["</svg>", ""])


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--device", action="append", required=True, help="CPUS or CPUS/1; give two or more")
    options.add_argument("--profile", action="append", required=True, help="of each device, in the same order")
    options.add_argument("--automatch", default=ROOT / "build/release/automatch/automatch", help="the program")
    options.add_argument("--side", type=int, nargs="*", default=[34, 66, 130], help="grids of so many points a side")
    options.add_argument("--steps", type=int, default=100)
    options.add_argument("--times", type=int, default=10, help="runs of each split; the one with the shortest path counts")
    options.add_argument("--model", default="automatch-corrected", help="whose costs AutoMatch's split follows")
    options.add_argument("--svg", type=pathlib.Path, help="picture to write")
    given = options.parse_args()
    if len(given.device) < 2 or len(given.device) != len(given.profile):
        sys.exit("give two or more --device, and a --profile for each")
    rows = []
    names = [f"CPU {device}" for device in given.device]
    print("| grid | strategy | planes | path [ms] | passed [ms] | " + " | ".join(f"{name} [ms]" for name in names) + " | faster than default |")
    print("| --- " * (6 + len(names)) + "|")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        program = folder / "minighost"
        run("gcc", "-std=gnu17", "-O3", "-ffp-contract=off", "-pthread", WORKLOADS / "minighost.c", "-o", program)
        for side in given.side:
            inside = side - 2
            runs = [(program, side, given.steps, [device], [inside]) for device in given.device]
            alone = [path for path, _, _ in best_runs(runs, given.times)]
            model = predicted(given.automatch, side, given.profile, given.model, folder)
            count = len(given.device)
            splits = [("default", [1 / count] * count), ("AutoMatch", inverse(model)), ("oracle", inverse(alone))]
            planes = [planes_of(shares, inside) for _, shares in splits]
            found = best_runs([(program, side, given.steps, given.device, one) for one in planes], given.times)
            for (strategy, _), own, (path, passed, busy) in zip(splits, planes, found):
                rows.append({"side": side, "strategy": strategy, "seconds": path, "busy": busy})
                print(f"| {side}³ | {strategy} | {' : '.join(map(str, own))} | {1e3 * path:.4g} | {1e3 * passed:.4g} | " +
                      " | ".join(f"{1e3 * b:.4g}" for b in busy) + f" | {found[0][0] / path:.2f} |", flush=True)
    print(f"\n{given.steps} steps, of {given.times} runs of each split the one with the shortest path; load of the machine at the end: {os.getloadavg()[0]:.1f}")
    if given.svg:
        given.svg.write_text(svg(rows, names))


if __name__ == "__main__":
    main()
