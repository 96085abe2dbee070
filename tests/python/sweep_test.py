# SPDX-License-Identifier: MIT
"""Sweeps as Parquet, read by pyarrow: the CSV's values to the last digit, types, units, origin."""

import csv
import json
import os
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


def run(*arguments, **environment):
    return subprocess.run([os.environ["OCCUPIPE_PROGRAM"], "sweep", *map(str, arguments)], capture_output=True,
                          text=True, check=False, env={**os.environ, **environment})  # fmt: skip


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    path = tmp_path_factory.mktemp("sweep") / "spec.yaml"
    path.write_text(SPEC)
    return path


@pytest.fixture(scope="module")
def files(spec):
    """(CSV, Parquet) of the same sweep."""
    pytest.importorskip("pyarrow", reason="pyarrow is not in this environment (tools/python.sh)")
    rows = spec.with_name("rows.csv")
    assert run(spec, "-o", rows).returncode == 0
    done = run(spec, "-o", spec.with_name("rows.parquet"))
    if "built with Apache Arrow" in done.stderr:
        pytest.skip("the program was built without Arrow")
    assert done.returncode == 0, done.stderr
    return rows, spec.with_name("rows.parquet")


def test_values_are_those_of_the_csv(files):
    from pyarrow import parquet, types

    table = parquet.read_table(files[1])
    with open(files[0], newline="") as text:
        rows = list(csv.DictReader(text))
    assert table.num_rows == len(rows) == 2 * 2 * 3 * 3 * 2 * 2 * 4
    assert table.column_names == list(rows[0])
    kinds = {}
    for name in table.column_names:
        kind = table.schema.field(name).type
        for found, row in zip(table.column(name).to_pylist(), rows):
            cell = row[name]
            if types.is_map(kind):
                shares = [word.rsplit("=", 1) for word in cell.split()]
                expected = [(unit, float(share)) for unit, share in shares] or None
            elif cell == "" or (name == "issue.limit" and cell == "none"):
                expected = None
            elif types.is_int64(kind):
                expected = int(cell)
            elif types.is_float64(kind):
                expected = float(cell)
            else:
                expected = cell
            assert found == expected, (name, row["row"])
        kinds[name] = str(kind)
    assert kinds["row"] == kinds["groups"] == "int64" and kinds["cycles"] == kinds["issue.limit"] == "double"
    assert kinds["busy"].startswith("map<string, double") and kinds["refused"] == "string"
    refused = [row["refused"] for row in table.to_pylist() if row["refused"]]
    assert 0 < len(refused) < len(rows) and all("exceeds the limit" in one for one in refused)


def test_units_and_origin_are_in_the_file(files):
    from pyarrow import parquet

    schema = parquet.read_schema(files[1])
    units = {field.name: (field.metadata or {}).get(b"unit", b"").decode() for field in schema}
    assert units["cycles"] == units["fma.f32.latency"] == "core cycles" and units["seconds"] == "s"
    assert units["instructions_per_cycle"] == "warp-instructions per core cycle" and units["model"] == ""
    assert schema.field("issue.limit").metadata[b"null"] == b"none"
    told = {key.decode(): value.decode() for key, value in schema.metadata.items()}
    assert told["occupipe.format"] == "occupipe-sweep-rows/1"
    assert told["occupipe.spec"] == SPEC
    assert [one["name"] for one in json.loads(told["occupipe.inputs"])] == ["saxpy", "mix", "rtx-2070", "gtx-1060"]
    assert [one["name"] for one in json.loads(told["occupipe.columns"])] == schema.names
    beside = json.loads(files[1].with_name("rows.parquet.sweep.json").read_text())
    assert told["occupipe.made_of"] == beside["made_of"] and beside["complete"] is True


def test_pandas_reads_it(files):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(files[1])
    best = frame[frame["refused"].isna()].groupby("model")["cycles"].min()
    assert set(best.index) == {"roofline", "volkov", "pipeline"} and (best > 0).all()


def test_without_arrow_it_says_what_to_install(spec):
    path = spec.with_name("other.parquet")
    done = run(spec, "-o", path, OCCUPIPE_PARQUET="none")
    assert done.returncode == 2
    for word in ("libarrow-dev", "libparquet-dev", "pyarrow", "CSV"):
        assert word in done.stderr
    assert not path.exists() and not list(spec.parent.glob("other*"))
