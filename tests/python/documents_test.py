# SPDX-License-Identifier: MIT
"""The walk of docs/how-to/python.md, line by line, the notebook, the examples: all are executed."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def checkout(root, tmp_path, monkeypatch) -> Path:
    """A folder that looks like a checkout to readers, and may be written to."""
    for name in ("results", "tests", "docs", "profiles"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(text: str) -> list[tuple[str, str]]:
    """Python blocks, each with the text block that follows it at once ('' where none does)."""
    pattern = r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?"
    return [(code, said or "") for code, said in re.findall(pattern, text, re.DOTALL)]


@pytest.mark.parametrize("page", ["docs/how-to/python.md", "python/README.md"])
def test_walk(root, checkout, page):
    names: dict = {"__name__": "walk"}
    found = blocks((root / page).read_text())
    assert found
    for code, expected in found:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(code, page, "exec"), names)  # noqa: S102
        if expected:
            assert said.getvalue() == expected, code


def test_examples(root, program):
    done = subprocess.run([sys.executable, root / "python/examples/cheapest_device.py", "mix"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert len(rows) >= 3 and all("us, limited by" in row for row in rows)
    best = [float(row.rsplit(" us,", 1)[0].split()[-1]) for row in rows]
    assert best == sorted(best)


@pytest.mark.parametrize(
    "name", ["measurements_to_prediction", "predict_and_explain", "measured_mixes"]
)
def test_notebook(name, root, checkout, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    # Everything of Jupyter stays in the test's folder.
    for variable in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(variable, str(checkout / variable.lower()))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.delenv("MPLBACKEND", raising=False)  # pictures go into the notebook
    notebook = nbformat.read(root / f"python/examples/{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)  # kept without
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(checkout)}}).execute()  # fmt: skip
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert {"image/png", "text/plain"} <= kinds
    assert os.getcwd() == str(checkout)
