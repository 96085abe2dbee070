# SPDX-License-Identifier: MIT
"""The command `occupipe` of a wheel: it becomes the program that came with the package."""

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).parent.parent / "occupipe" / "data" / "bin" / "occupipe"
    try:
        os.execv(program, ["occupipe", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"occupipe: {program}: {error.strerror}")
