#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/opencl_c/recorded/sm_NN/NAME.cubin: the kernels of tests/opencl_c, compiled by the built program
(clang, libclc and ptxas), so that tests need no compiler; and recorded/compiler.txt: by what, and from which texts."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from record_kernels import hash_of, stripped

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = ROOT / "tests/opencl_c"
ARCHITECTURES = [75, 80, 90, 100, 120]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--occupipe", default=ROOT / "build/release/cli/occupipe")
    given = parser.parse_args()
    compiled_by, lines, total = set(), [], 0
    for path in sorted(KERNELS.glob("*.cl")):
        for number in ARCHITECTURES:
            with tempfile.TemporaryDirectory() as folder:
                cubin = pathlib.Path(folder) / "kernel.cubin"
                subprocess.run([given.occupipe, "disassemble", path, "--arch", f"sm_{number}", "--cubin", cubin],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                code = stripped(cubin.read_bytes())
            total += len(code)
            file = KERNELS / f"recorded/sm_{number}/{path.stem}.cubin"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(code)
        lines.append(f"{hash_of(path.read_bytes())} {path.name}")
        run = subprocess.run([given.occupipe, "execute", "--launch", path.with_suffix(".yaml"), "--arch", "sm_75"],
                             check=True, capture_output=True, text=True).stdout
        compiled_by.add(re.search(r"compiled by (.*)", run)[1])
        print(path.name)
    if len(compiled_by) != 1:
        sys.exit(f"kernels are compiled in different ways: {compiled_by}")
    ptxas = subprocess.run(["ptxas", "--version"], check=True, capture_output=True, text=True).stdout
    head = [f"compiler, for sm_75: {compiled_by.pop()}", f"ptxas: {re.search(r'V[0-9.]+', ptxas)[0]}",
            "texts, by FNV-1a of 64 bits:"]
    (KERNELS / "recorded/compiler.txt").write_text("\n".join(head + lines) + "\n")
    print(f"{len(lines)} kernels, {total} bytes of machine code files")


if __name__ == "__main__":
    main()
