# SPDX-License-Identifier: MIT
"""A sweep's rows as FILE.sweep.json describes them: types, units, and Parquet made of both."""

import csv
import json
import os
import pathlib
import re
import subprocess

import pytest

SPEC = """format: occupipe-sweep/1
kernels: [saxpy, mix]
profiles: [rtx-2070, gtx-1060]
models: [roofline, volkov, pipeline]
set: {fma.f32.latency: {from: 2, to: 60, count: 3, scale: log}, issue.limit: [none, 1]}
policy: [gto, lrr]
launches: {group_warps: 2, concurrent_groups: {from: 1, to: 40, step: 13}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "spec.yaml").write_text(SPEC)
    subprocess.run([os.environ["OCCUPIPE_PROGRAM"], "sweep", "spec.yaml", "-o", "rows.csv"], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def rows(folder):
    with open(folder / "rows.csv", newline="") as text:
        return list(csv.DictReader(text))


@pytest.fixture(scope="module")
def columns(folder):
    return json.loads((folder / "rows.csv.sweep.json").read_text())["columns"]


def value(column, cell):
    """What the column's description makes of a cell."""
    if cell in ("", column.get("null")):
        return None
    if column["type"] == "shares":
        return {unit: float(share) for unit, share in (word.rsplit("=", 1) for word in cell.split())}
    return {"whole": int, "real": float, "text": str}[column["type"]](cell)


def test_cells_are_of_their_columns_types(rows, columns):
    assert [column["name"] for column in columns] == list(rows[0])
    values = {column["name"]: [value(column, row[column["name"]]) for row in rows] for column in columns}
    assert values["row"] == list(range(2 * 2 * 3 * 3 * 2 * 2 * 4))
    assert set(values["issue.limit"]) == {None, 1.0}
    refused = [reason for reason in values["refused"] if reason]
    assert 0 < len(refused) < len(rows) and all("exceeds the limit" in one for one in refused)
    for name in ("cycles", "seconds", "busy", "limited_by"):
        assert [one is None for one in values[name]] == [one is not None for one in values["refused"]]
    assert all(0 < max(shares.values()) <= 1 + 1e-9 for shares in values["busy"] if shares)


def test_units_and_origin_are_beside_the_rows(folder, columns):
    units = {column["name"]: column.get("unit", "") for column in columns}
    assert units["cycles"] == units["fma.f32.latency"] == "core cycles" and units["seconds"] == "s"
    assert units["instructions_per_cycle"] == "warp-instructions per core cycle" and units["model"] == ""
    beside = json.loads((folder / "rows.csv.sweep.json").read_text())
    assert beside["spec"] == SPEC and beside["complete"] is True
    assert [one["name"] for one in beside["inputs"]] == ["saxpy", "mix", "rtx-2070", "gtx-1060"]


def test_parquet_is_made_as_the_documentation_says(folder, rows, columns, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed; it makes Parquet of a sweep's rows")
    from pyarrow import parquet

    page = pathlib.Path(__file__).parents[2] / "docs" / "sweeps.md"
    (lines,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    monkeypatch.chdir(folder)
    exec(lines, {})
    table = parquet.read_table("rows.parquet")
    for column in columns:
        field = table.schema.field(column["name"])
        assert str(field.type) == {"whole": "int64", "real": "double"}.get(column["type"], "string")
        assert (field.metadata or {}).get(b"unit", b"").decode() == column.get("unit", "")
        text = column if column["type"] != "shares" else {**column, "type": "text"}
        assert table.column(column["name"]).to_pylist() == [value(text, row[column["name"]]) for row in rows]
