# SPDX-License-Identifier: MIT
import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def program():
    """Runs the program: program("predict", …) → its standard output, program.json(…) → parsed."""
    path = os.environ["OCCUPIPE_PROGRAM"]

    def run(*arguments: object) -> str:
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.json = lambda *arguments: json.loads(run(*arguments))  # type: ignore[attr-defined]
    return run


@pytest.fixture(scope="session")
def measured(program, tmp_path_factory) -> Path:
    """Measurements of a simulated GTX 1060: two instructions, and mixes of them."""
    path = tmp_path_factory.mktemp("measured") / "gpu.json"
    program("measure", "--device", f"model:{ROOT}/profiles/nvidia-gtx-1060.yaml?noise=0.01&seed=7",
            "--quick", "--instructions", "fma.f32,cos.approx.f32", "-o", path)
    return path
