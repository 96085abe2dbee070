# SPDX-License-Identifier: MIT
"""`pip install .` as a user does it: a fresh environment, the package index, a checkout."""

import subprocess
import sys
import zipfile


def run(*command: object, cwd: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=cwd, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


def test_wheel(root, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / "bin" / "python"
    # Warnings as in the presets: ccache then has most objects.
    run(python, "-m", "pip", "wheel", "--no-deps", "-C", "cmake.define.OCCUPIPE_WERROR=ON",
        "-w", tmp_path / "wheels", root, cwd=tmp_path)  # fmt: skip
    (wheel,) = (tmp_path / "wheels").glob("occupipe-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"occupipe/py.typed", "occupipe/_core.pyi", "occupipe/__init__.py"} <= names
    shipped = {f"occupipe/data/profiles/{path.name}" for path in (root / "profiles").glob("*.yaml")}
    shipped |= {f"occupipe/data/kernels/{path.name}" for path in (root / "sim/kernels").glob("*.yaml")}
    assert shipped <= names
    programs = {f"occupipe/data/bin/{name}" for name in ("occupipe", "automatch")}
    assert programs | {"occupipe/data/schemas/profile.schema.json"} <= names
    run(python, "-m", "pip", "install", wheel, cwd=tmp_path)
    code = (
        "import occupipe, sys; assert 'pandas' not in sys.modules;"
        "print(occupipe.predict('saxpy', 'rtx-2070').cycles, len(occupipe.shipped_profiles()))"
    )
    cycles, profiles = run(python, "-c", code, cwd=tmp_path).split()
    assert float(cycles) > 0 and int(profiles) == len(list((root / "profiles").glob("*.yaml")))
    said = run(tmp_path / "venv" / "bin" / "occupipe", "predict", "saxpy", "--profile", "rtx-2070", cwd=tmp_path)
    assert "saxpy on NVIDIA GeForce RTX 2070" in said
