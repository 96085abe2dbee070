#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The reference pages that the program itself knows; tools/reference.sh runs this."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

MADE = "<!-- Made by tools/reference.sh from what the program prints: do not edit. -->\n"
REFERENCE = pathlib.Path("docs/reference")


class Program:
    def __init__(self, path: str):
        self.path = path

    def text(self, *words: str) -> str:
        environment = {**os.environ, "OCCUPIPE_NVRTC": "none"}
        done = subprocess.run([self.path, *words], capture_output=True, text=True, check=True, env=environment)
        return done.stdout

    def json(self, *words: str):
        return json.loads(self.text(*words, "--json"))


def table(header: list[str], rows: list[list[str]], align: str = "") -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"

    rule = ["---:" if mark == "r" else "---" for mark in align.ljust(len(header), "l")]
    return line(header) + "| " + " | ".join(rule) + " |\n" + "".join(map(line, rows))


# ── commands ──


def indented_names(help_text: str, heading: str) -> list[str]:
    """The first column of the list below a heading."""
    found = re.search(rf"^{heading}\n((?:  .*\n)+)", help_text, re.MULTILINE)
    entries = re.findall(r"^  (\S.*)$", found.group(1), re.MULTILINE) if found else []
    return [re.split(r"  +", entry)[0] for entry in entries]


def help_page(program: Program, level: int, name: str, words: list[str]) -> str:
    text = program.text(*words, "--help")
    if re.search(r"more options: --help-all$", text, re.MULTILINE):
        text = program.text(*words, "--help-all")
    page = f"\n{'#' * level} {name}\n\n```text\n{text.strip()}\n```\n"
    for sub in indented_names(text, "Subcommands:"):
        page += help_page(program, level + 1, f"{name} {sub}", [*words, sub])
    for use in indented_names(text, "Also, each with a --help of its own:"):
        # The names of earlier releases have the same help, and no values to give.
        former = {
            "compare PROFILE PROFILE": "diff",
            "convert --from FORMAT": "import",
            "convert --to FORMAT": "export",
        }.get(use)
        page += help_page(program, level + 1, use, [former] if former else use.split())
    return page


def commands(program: Program) -> str:
    help_text = program.text("--help")
    page = MADE + "\n# Commands\n\nWhat `occupipe COMMAND --help-all` prints. "
    page += "Commands and options of releases before 1.1: [Names of earlier releases](earlier-names.md).\n"
    page += f"\n```text\n{help_text.strip()}\n```\n"
    for name in indented_names(help_text, "Subcommands:"):
        page += help_page(program, 2, name, [name])
    page += (
        "\n## Completion in a shell\n\n"
        "`cmake --install` and the Debian package put completion where bash, zsh and fish look for it. "
        "Elsewhere:\n\n"
        "```text\n" + re.search(r"Examples:\n((?:  .*\n)+)", program.text("completion", "--help")).group(1) + "```\n"
    )
    return page


# ── instructions ──


def spans(names: list[str], measurable: list[bool]) -> str:
    """sm_75–sm_90, sm_120"""
    parts: list[list[str]] = []
    for position, name in enumerate(names):
        if not measurable[position]:
            continue
        if parts and position > 0 and measurable[position - 1]:
            parts[-1].append(name)
        else:
            parts.append([name])
    return ", ".join(part[0] if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)


def instructions(program: Program) -> str:
    known = re.search(r"not one of (.*)", failure(program, "list", "instructions", "--arch", "sm_0")).group(1)
    names = known.split(", ")
    rows = program.json("list", "instructions", "--arch", ",".join(names))
    page = (
        MADE + "\n# Instructions\n\n"
        f"The {len(rows)} instructions that `measure` knows.\n"
        "A timed loop contains the PTX and the machine instruction of the row exactly as often as it should, "
        "or the kernel is refused.\n"
        f"*NVIDIA*: the architectures that can measure it, of {names[0]} to {names[-1]}. "
        "*OpenCL*: whether there is a form in OpenCL C.\n"
        "`occupipe explain NAME` says how one is measured and what its numbers mean; "
        "`occupipe list instructions` says which of them a device here can measure, and why not.\n"
    )
    kinds: dict[str, list] = {}
    for row in rows:
        kinds.setdefault(row["kind"], []).append(row)
    for kind, members in kinds.items():
        cells = []
        for row in members:
            measurable = [row["architectures"][name]["measurable"] for name in names]
            cuda = row.get("cuda", {})
            cells.append(
                [
                    f"`{row['name']}`",
                    row["meaning"],
                    f"`{cuda['ptx']}`" if cuda.get("ptx") else "–",
                    f"`{cuda['machine_code']}`" if cuda.get("machine_code") else "–",
                    spans(names, measurable) or "–",
                    "–" if "no_opencl" in row else "yes",
                ]
            )
        page += f"\n## {kind}\n\n"
        page += table(["instruction", "what it is", "PTX", "machine code", "NVIDIA", "OpenCL"], cells)
    return page


def failure(program: Program, *words: str) -> str:
    return subprocess.run([program.path, *words], capture_output=True, text=True).stderr.strip()


# ── models ──

READS = {
    "hit_rate": "hit rate",
    "hit_latency": "latency of a hit",
    "requests_per_access": "requests per access",
    "dram_bytes_per_warp": "bytes to device memory",
    "references": "published peaks",
}


def models(program: Program) -> str:
    rows = program.json("list", "models")
    cells = [
        [f"`{row['name']}`", row["source"], ", ".join(READS[name] for name in row["reads"]) or "–"] for row in rows
    ]
    return (
        MADE + "\n# Models\n\n"
        "`predict --model NAME` takes one of these, or `all`.\n"
        "Each reads launch, λ, Λ and subsystems of the kernel's instructions, and what the last column names "
        "(`--memory-behaviour`).\n"
        "[Analytical models](../background/analytical-models.md) has their formulas and assumptions, "
        "[Pipeline model](../background/pipeline-model.md) the simulation.\n\n"
        + table(["model", "paper", "also reads"], cells)
        + "\n## What each takes into account\n\n"
        "`–`: left out. The columns are those of Table 7 of Lemeire et al., "
        "*Analysis of the Analytical Performance Models for GPUs*.\n\n" + program.text("list", "models", "--all")
    )


# ── profiles ──


def profile_name(row: dict) -> str:
    return row.get("name") or pathlib.Path(row["file"]).stem


def quantity(value: dict | None) -> str:
    if value is None:
        return "not known"
    text = f"{value['value']:.4g}"
    if not value["identifiable"]:
        text = {"upper": "≤ ", "lower": "≥ "}.get(value.get("bound", ""), "bound ") + text
    if "std_error" in value:
        text += f" ± {value['std_error']:.2g}"
    return text


def profile_page(program: Program, row: dict) -> str:
    name = profile_name(row)
    data = json.loads(program.text("table", name, "--format", "json"))
    facts = [
        ["device", row["device"]],
        ["architecture", row["architecture"]],
        ["compute capability", row["compute_capability"] or "–"],
        ["cores", str(row["cores"])],
        ["threads of a warp", str(row["warp_size"])],
        ["clock", f"{row['clock_hz'] / 1e6:.0f} MHz"],
        ["numbers are", row["made"]],
    ]
    cells, evidence = [], []
    for instruction in data["instructions"]:
        timing = instruction["timings"][0]
        latency = timing.get("latency")
        sources = [timing["cpi"].get("note", ""), latency.get("note", "") if latency else ""]
        sources = [text or timing.get("reference", "") for text in sources]
        cells.append(
            [
                f"`{instruction['name']}`",
                quantity(timing["cpi"]),
                quantity(latency),
                timing["subsystem"],
                timing["source"],
                sources[0] if sources[0] == sources[1] else f"λ: {sources[0]}; Λ: {sources[1]}",
            ]
        )
        for line in timing.get("published", []):
            evidence.append([f"`{instruction['name']}`", line])
    page = (
        MADE + f"\n# {row['device']}\n\n"
        f"`--profile {name}`; `occupipe explain INSTRUCTION --profile {name}` shows one entry with its sources.\n\n"
        + table(["", ""], facts)
        + "\n## λ and Λ\n\nCore cycles; λ per warp-instruction and core, ± one standard error.\n\n"
        + table(["instruction", "λ", "Λ", "subsystem", "source", "from"], cells, "lrrlll")
    )
    if evidence:
        page += "\n## What each source says\n\nOf this architecture, per core.\n\n"
        page += table(["instruction", "figures"], evidence)
    return page


def profiles(program: Program, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = program.json("list", "profiles")
    cells = []
    for row in rows:
        name = profile_name(row)
        file = name.replace(":", "-") + ".md"
        (folder / file).write_text(profile_page(program, row), encoding="utf-8")
        worst = f"{100 * row['worst_error']:.0f} %" if "worst_error" in row else "–"
        cells.append(
            [
                f"[{row['device']}]({file})",
                f"`{name}`",
                row["architecture"],
                str(row.get("year", "–")),
                str(row["cores"]),
                f"{row['clock_hz'] / 1e6:.0f}",
                str(row["instructions"]),
                worst,
            ]
        )
    (folder / "index.md").write_text(
        MADE + "\n# Profiles\n\nEvery command that takes a profile takes these names. "
        "[The shelf](../../background/shelf.md) explains where the numbers come from; "
        "*error*: the largest standard error of a λ or Λ.\n\n"
        + table(["GPU", "name", "architecture", "year", "cores", "MHz", "instructions", "error"], cells, "llllrrrr"),
        encoding="utf-8",
    )


PAGES = {"commands.md": commands, "instructions.md": instructions, "models.md": models}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--profiles", type=pathlib.Path)
    parser.add_argument("program")
    arguments = parser.parse_args()
    program = Program(arguments.program)
    if arguments.profiles:
        profiles(program, arguments.profiles)
        return 0
    REFERENCE.mkdir(parents=True, exist_ok=True)
    stale = []
    for name, make in PAGES.items():
        file = REFERENCE / name
        page = make(program)
        if arguments.check:
            if not file.exists() or file.read_text(encoding="utf-8") != page:
                stale.append(str(file))
        else:
            file.write_text(page, encoding="utf-8")
    if stale:
        print(f"{', '.join(stale)}: not what the program prints; run tools/reference.sh", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
