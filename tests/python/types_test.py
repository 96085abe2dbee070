# SPDX-License-Identifier: MIT
"""mypy --strict accepts the package as it is installed, and the example; and it refuses mistakes."""

import os
import subprocess
import sys
from pathlib import Path


def mypy(root: Path, *arguments: object) -> subprocess.CompletedProcess:
    build = Path(os.environ["OCCUPIPE_BUILD"])
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull,
               "--cache-dir", build / "mypy", *arguments]  # fmt: skip
    environment = {**os.environ, "MYPYPATH": str(build / "python"), "PYTHONPATH": ""}
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=build, env=environment,
                          check=False)  # fmt: skip


def test_package_example_and_mistakes(root, tmp_path):
    done = mypy(root, "-p", "occupipe")
    assert done.returncode == 0, done.stdout
    done = mypy(root, root / "python/examples/cheapest_device.py")
    assert done.returncode == 0, done.stdout
    (tmp_path / "wrong.py").write_text(
        "import occupipe\n"
        "profile = occupipe.Profile.load('rtx-2070')\n"
        "latency: float = profile['fma.f32'].latency.value\n"  # may be None
        "occupipe.predict('saxpy', 3)\n"
        "cycles: float = occupipe.predict('saxpy', profile).cycles\n"
    )
    done = mypy(root, tmp_path / "wrong.py")
    assert done.returncode == 1
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert found == {3, 4}, done.stdout
