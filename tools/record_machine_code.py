#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/isa/recorded/sm_NN.txt: what NVIDIA's disassembler says about the kernels in
tests/isa/kernels. One line per instruction, "address low high text", bits in hexadecimal, labels
replaced by addresses. Of instructions that differ in registers and numbers alone the first two are
kept, so that the files stay small. Needs nvcc (or --nvcc PATH) and nvdisasm (tools/setup.sh --wheels)."""
import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = (ROOT / "core/architectures.cpp").read_text()
ARCHITECTURES = {int(number): target for number, target in re.findall(r'\{(\d+),\s*"\w+",\s*"(sm_\w+)"', TABLE)}
FIRST = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?);\s+/\* 0x([0-9a-f]{16}) \*/")
SECOND = re.compile(r"^\s+/\* 0x([0-9a-f]{16}) \*/\s*$")


def instructions(text):
    """(address, low, high, text) of every instruction of nvdisasm's listing."""
    found, labels, waiting = [], {}, []
    for line in text.splitlines():
        if line.startswith("//-----"):
            waiting = []
        elif label := re.match(r"^(\S+):\s*$", line):
            waiting.append(label.group(1))
        elif first := FIRST.match(line):
            address = int(first.group(1), 16)
            labels.update({name: address for name in waiting})
            waiting = []
            found.append([address, first.group(3), "", first.group(2)])
        elif (second := SECOND.match(line)) and found:
            found[-1][2] = second.group(1)
    for one in found:
        plain = re.sub(r"\s*\(\*\".*?\"\*\)", "", one[3])
        plain = re.sub(r"`\((\S+?)\)", lambda m: hex(labels[m.group(1)]), plain)
        one[3] = re.sub(r"\s+,", ",", plain).strip()
    return found


def form(low, text):
    """The text without what distinguishes instructions of one form."""
    text = re.sub(r"-?0x[0-9a-f]+|\b-?\d+\.?\d*(e[+-]?\d+)?\b", "#", text)
    return low[-3:], re.sub(r"\b(U?[RP])(\d+|Z|T)\b", r"\1", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    options = parser.parse_args()
    kernels = sorted((ROOT / "tests/isa/kernels").glob("*.cu"))
    for number, name in ARCHITECTURES.items():
        seen, lines, all_of_them = {}, [], 0
        for kernel in kernels:
            with tempfile.NamedTemporaryFile(suffix=".cubin") as cubin:
                subprocess.run([options.nvcc, "-cubin", "-arch", name, str(kernel), "-o", cubin.name], check=True)
                listing = subprocess.run([options.nvdisasm, "-c", "-hex", "-novliw", cubin.name], check=True,
                                         capture_output=True, text=True).stdout
            for address, low, high, text in instructions(listing):
                all_of_them += 1
                key = form(low, text)
                seen[key] = seen.get(key, 0) + 1
                if seen[key] <= 2:
                    lines.append(f"{address:x} {low} {high} {text}")
        release = subprocess.run([options.nvdisasm, "--version"], capture_output=True, text=True).stdout.split("\n")[-3]
        head = [f"# {release}", f"# {len(lines)} of {all_of_them} instructions of tests/isa/kernels for {name}:"
                f" two of each of {len(seen)} forms; made by tools/record_machine_code.py"]
        (ROOT / f"tests/isa/recorded/sm_{number}.txt").write_text("\n".join(head + lines) + "\n")


if __name__ == "__main__":
    main()
