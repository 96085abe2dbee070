#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/kernels/recorded/sm_NN/NAME.cubin, recorded/ptx/NAME.ptx and tests/suite/recorded/sm_NN/NAME.cubin: the kernels
of tests/kernels and of kernels, compiled by NVRTC, so that tests need no compiler; and
recorded/compiler.txt: by what, and from which texts (with the headers beside them). What no reader of
machine code needs (unwinding tables, notes, zeros) is taken out of the files.
Needs NVRTC (CUDA toolkit, or tools/setup.sh --wheels). Files whose text has not changed are left alone."""
import argparse
import ctypes
import os
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [(ROOT / "tests/kernels", ROOT / "tests/kernels/recorded"), (ROOT / "kernels", ROOT / "tests/suite/recorded")]
ARCHITECTURES = [75, 80, 90, 100, 120]  # code for 86 and 89 is the same, and that for 80 in all but 3 % of its opcodes and the schedule
ALSO = {86: {"options", "matmul_half", "reduction"}, 89: {"options", "matmul_half", "reduction"}}  # of tests/kernels
PTX = "compute_80"  # of tests/kernels, for the interpreter of tests/ptx
MOST_PTX = 60000  # characters; longer ones are left out
OPTIONS = ["--std=c++17", "--fmad=false"]
WITH_LINES = {ROOT / "tests/kernels" / name for name in ("matmul.cu", "reduction.cu", "spmv.cu", "transpose.cu")}  # compiled with --generate-line-info
DEBUG = {"linked_data", "virtual_calls", "dispatch_table", "recursive_descent", "half_division", "video_bytes"}  # recorded with --device-debug as well
DEBUG_ARCHITECTURES = [75, 90, 120]
UNUSED = re.compile(r"(\.rela?)?\.(debug_(?!line$)|nv_debug).*|\.nv\.merc.*|\.nv\.capmerc.*|\.note\.nv\..*|\.nv\.compat|\.nv\.rel\.action|(\.rela?)?\.debug_frame|\.nv_debug_ptx_txt.*")


class Nvrtc:
    def __init__(self, library):
        self.calls = ctypes.CDLL(library)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.check(self.calls.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
        self.version = f"{major.value}.{minor.value}"

    def check(self, result):
        if result != 0:
            self.calls.nvrtcGetErrorString.restype = ctypes.c_char_p
            raise RuntimeError(self.calls.nvrtcGetErrorString(result).decode())

    def text_of(self, program, what):
        size = ctypes.c_size_t()
        self.check(getattr(self.calls, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value)
        self.check(getattr(self.calls, f"nvrtcGet{what}")(program, text))
        return text.raw

    def compile(self, text, name, options, what="CUBIN"):
        program = ctypes.c_void_p()
        self.check(self.calls.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None))
        words = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
        try:
            if self.calls.nvrtcCompileProgram(program, len(options), words) != 0:
                sys.exit(f"{name} with {' '.join(options)}:\n{self.text_of(program, 'ProgramLog').decode()}")
            return self.text_of(program, what)
        finally:
            self.calls.nvrtcDestroyProgram(ctypes.byref(program))


def stripped(cubin):
    """The same ELF64 file without the sections in UNUSED."""
    table, = struct.unpack_from("<Q", cubin, 0x28)
    stride, count, names_at = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [list(struct.unpack_from("<IIQQQQIIQQ", cubin, table + stride * i)) for i in range(count)]
    contents = [b"" if header[1] in (0, 8) else cubin[header[4]:header[4] + header[5]] for header in headers]
    names = [contents[names_at][h[0]:contents[names_at].index(b"\0", h[0])] for h in headers]
    kept = [i for i in range(count) if not UNUSED.fullmatch(names[i].decode())]
    place = {old: new for new, old in enumerate(kept)}
    for i in kept:
        if names[i].startswith(b".nv.constant0.") and not contents[i].strip(b"\0"):
            headers[i][1], contents[i] = 8, b""  # room for parameters: its size is all there is to know
        if headers[i][1] == 2:  # symbols: 16 bits at 6 say in which section each lies
            symbols = bytearray(contents[i])
            for at in range(6, len(symbols), 24):
                section, = struct.unpack_from("<H", symbols, at)
                struct.pack_into("<H", symbols, at, section if section >= 0xFF00 else place.get(section, 0))
            contents[i] = bytes(symbols)
        headers[i][6] = place.get(headers[i][6], 0)
        if headers[i][2] & 0x40 or headers[i][1] in (4, 9):  # what relocations and notes are about
            headers[i][7] = place[headers[i][7]]
    contents[names_at] = b"\0".join(dict.fromkeys([b""] + [names[i] for i in kept])) + b"\0"
    out = bytearray(cubin[:0x40])
    for i in kept[1:]:
        header, content = headers[i], contents[i]
        header[0] = contents[names_at].index(b"\0" + names[i] + b"\0") + 1
        out += b"\0" * (-len(out) % max(header[8], 1) if content else 0)
        header[4] = len(out)
        header[5] = header[5] if header[1] == 8 else len(content)
        out += content
    out += b"\0" * (-len(out) % 8)
    struct.pack_into("<QQ", out, 0x20, 0, len(out))  # no program headers
    struct.pack_into("<HHHHH", out, 0x36, 0, 0, stride, len(kept), place[names_at])
    for i in kept:
        out += struct.pack("<IIQQQQIIQQ", *headers[i])
    return bytes(out)


def hash_of(data):
    """FNV-1a, 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def shortened(ptx):
    """Without comments, blanks and what is meant for debuggers."""
    lines = (re.sub(r"[ \t]+", " ", line.split("//")[0]).strip() for line in ptx.rstrip(b"\0").decode().splitlines())
    return "".join(line + "\n" for line in lines if line and not line.startswith((".pragma", ".loc ", ".file")))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nvrtc", default="/usr/local/cuda/lib64/libnvrtc.so")
    parser.add_argument("--include", default="/usr/local/cuda/include", help="where cuda_fp16.h lies")
    parser.add_argument("--all", action="store_true", help="make unchanged kernels anew, too")
    parser.add_argument("names", nargs="*", help="kernels to compile without recording them: saxpy …")
    given = parser.parse_args()
    os.chdir("/")  # the compiler notes the folder that it works in beside the line numbers
    nvrtc = Nvrtc(given.nvrtc)
    for texts, recorded in FOLDERS:
        record(nvrtc, given, texts, recorded)


def record(nvrtc, given, texts, recorded):
    listing = recorded / "compiler.txt"
    before = listing.read_text() if listing.exists() else ""
    head = [f"compiler: NVRTC {nvrtc.version}", f"options: {' '.join(OPTIONS)}",
            f"with --generate-line-info: {' '.join(sorted(path.name for path in WITH_LINES if path.parent == texts))}".rstrip(), "texts, by FNV-1a of 64 bits:"]
    lines, total = [], 0
    for path in sorted(texts.glob("*.cu")):
        if given.names and path.stem not in given.names:
            continue
        whole = path.read_bytes()
        for header in re.findall(rb'#include "([^"]+)"', whole):
            whole += (texts / header.decode()).read_bytes()
        line = f"{hash_of(whole)} {path.name}"
        lines.append(line)
        own = texts == FOLDERS[0][0]
        architectures = ARCHITECTURES + [number for number in ALSO if own and path.stem in ALSO[number]]
        files = [recorded / f"sm_{number}/{path.stem}.cubin" for number in architectures]
        debug = [(number, recorded / f"debug/sm_{number}/{path.stem}.cubin") for number in DEBUG_ARCHITECTURES] if own and path.stem in DEBUG else []
        files += [file for _, file in debug]
        known = before.startswith("\n".join(head[:3])) and line in before.splitlines() and all(f.exists() for f in files)
        if known and not given.all and not given.names:
            total += sum(f.stat().st_size for f in files)
            continue
        for number, file in [*zip(architectures, files), *debug]:
            options = [f"--gpu-architecture=sm_{number}", f"--include-path={given.include}", f"--include-path={texts}", *OPTIONS]
            if path in WITH_LINES:
                options.append("--generate-line-info")
            if (number, file) in debug:
                options.append("--device-debug")
            cubin = stripped(nvrtc.compile(path.read_text(), path.name, options))
            total += len(cubin)
            if not given.names:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(cubin)
        if own and not given.names:
            options = [f"--gpu-architecture={PTX}", f"--include-path={given.include}", *OPTIONS]
            ptx = shortened(nvrtc.compile(path.read_text(), path.name, options, "PTX"))
            file = recorded / f"ptx/{path.stem}.ptx"
            file.parent.mkdir(exist_ok=True)
            if len(ptx) <= MOST_PTX:
                file.write_text(ptx)
            elif file.exists():
                file.unlink()
        print(path.name)
    if not given.names:
        wanted = {path.stem for path in texts.glob("*.cu")}
        for file in [*recorded.glob("sm_*/*.cubin"), *recorded.glob("debug/sm_*/*.cubin")]:
            if file.stem not in wanted:
                file.unlink()
        listing.write_text("\n".join(head + lines) + "\n")
    print(f"{recorded.relative_to(ROOT)}: {len(lines)} texts, {total} bytes of machine code files")


if __name__ == "__main__":
    main()
