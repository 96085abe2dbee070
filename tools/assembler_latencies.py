#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Remakes published/nvidia-assembler.yaml: the cycles that NVIDIA's assembler puts between two
dependent instructions, by compute capability.

    tools/assembler_latencies.py build/release/cli/occupipe > published/nvidia-assembler.yaml

Every instruction's chain is compiled (NVRTC, no GPU) and its receipt read. What a scoreboard
awaits has no count. A step of two instructions counts half for each.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

ARCHITECTURES = ["75", "80", "86", "89", "90", "100", "120"]
INSTRUCTIONS = """
    add.f32 mul.f32 fma.f32 min.f32 setp.lt.f32 add.f64 mul.f64 fma.f64 setp.lt.f64
    add.f16x2 mul.f16x2 fma.f16x2 add.f16x2.broadcast mul.f16x2.broadcast fma.f16x2.broadcast
    fma.bf16x2 min.f16x2 add.f32x2 fma.f32x2 max3.f32 add.s32 mul.s32 mad.s32 mad.wide.u32
    mul.hi.u32 min.s32 lop3.b32 and.b32 xor.b32 shl.b32 shr.u32 shf.l.wrap.b32 setp.lt.s32
    prmt.b32 abs.s32 dp4a.s32 dp2a.s32 viaddmax.s32 vimax3.s32 popc.b32 add.s64 add.s64.whole
    cvt.rn.f32.s32 cvt.rzi.s32.f32 cvt.rn.f16x2.f32 cvt.rn.bf16x2.f32 rcp.approx.ftz.f32
    mma.m16n8k16.f32.f16 mma.m16n8k16.f16.f16 mma.m16n8k8.f32.f16 mma.m16n8k16.f32.bf16
    mma.m16n8k8.f32.tf32 mma.m8n8k4.f64 mma.m16n8k32.s32.s8 mma.m8n8k16.s32.s8
""".split()

HEAD = """\
# SPDX-License-Identifier: MIT
# Cycles that NVIDIA's assembler counts between two dependent instructions of fixed latency. Made by
# tools/assembler_latencies.py; docs/how-to/self-check.md explains the format.
format: occupipe-published/1
sources:
  assembler:
    title: Stall counts of ptxas ({compiler}) in chains of dependent instructions
    authors: NVIDIA
    year: 2025
    where: the control field of machine code, by tools/assembler_latencies.py
    method: cycles from one step of a chain to the next, as the vendor's assembler schedules them

latency:"""


def receipts(program, architecture, folder):
    subprocess.run([program, "measure", "--compile-only", "--arch", f"sm_{architecture}", "--quick",
                    "--instructions", ",".join(INSTRUCTIONS), "--receipts", str(folder),
                    "-o", str(folder) + ".tar"],
                   check=True, stderr=subprocess.DEVNULL)
    return [p.read_text() for p in sorted(folder.glob("*_chains1_*.txt"))]


def counted(text):
    """(instruction, cycles, what a step is), or None."""
    steps = re.search(r"counts from step to step: (.*) cycles", text)
    if not steps or "REFUSED" in text or "steps are not alike" in text:
        return None
    counts = re.findall(r"(\d+) \((\d+) times\)", steps.group(1))
    cycles = float(max(counts, key=lambda one: int(one[1]))[0])
    chain = re.search(r"chain: ([^\n;]*)", text)
    parts = chain.group(1).split(" + ") if chain else []
    if any(re.match(r"\d", part) for part in parts) or len(parts) > 2:
        return None
    return text.split(" ")[0], cycles / max(len(parts), 1), " + ".join(parts)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    rows = collections.OrderedDict()
    compiler = ""
    with tempfile.TemporaryDirectory() as scratch:
        for architecture in ARCHITECTURES:
            for text in receipts(sys.argv[1], architecture, pathlib.Path(scratch) / architecture):
                compiler = re.search(r" by (.*)", text).group(1)
                if found := counted(text):
                    capabilities = rows.setdefault(found, [])
                    capability = f'"{architecture[:-1]}.{architecture[-1]}"'
                    if capability not in capabilities:
                        capabilities.append(capability)
    print(HEAD.format(compiler=compiler))
    order = {name: place for place, name in enumerate(INSTRUCTIONS)}
    for (name, cycles, step), capabilities in sorted(rows.items(), key=lambda r: (order[r[0][0]], r[0][1])):
        at = f", at: half of {step}" if step else ""
        print(f"  - {{capability: [{', '.join(capabilities)}], source: assembler{at}, "
              f"instructions: [{name}], cycles: {cycles:g}}}")


if __name__ == "__main__":
    main()
