# SPDX-License-Identifier: MIT
"""Profiles, kernels and measurements as objects: load, save, check, edit, print, tables."""

import copy
import math
import pickle

import numpy as np
import pytest

import occupipe
from occupipe import Estimate, Instruction, Kernel, Launch, Measurements, Profile, Repeat

PROFILE = """format: occupipe-profile/2
device: {name: Small GPU}
cores: 2
warp_size: 32
clock_hz: 1.0e+9
issue: {schedulers: 1}
subsystems:
  fp: {scope: core}
instructions:
  fma.f32: {subsystem: fp, cpi: 2, latency: 10}
  add.f32: {subsystem: fp, cpi: 1.5, latency_unknown: nothing waited}
"""


@pytest.fixture
def small() -> Profile:
    return Profile.parse(PROFILE, "small.yaml")


def test_profile_reads_what_the_file_says(small):
    assert (small.name, small.cores, small.warp_size, small.clock_hz) == ("Small GPU", 2, 32, 1e9)
    assert list(small) == ["fma.f32", "add.f32"] and len(small) == 2
    assert small["fma.f32"].cpi.value == 2 and float(small["fma.f32"].latency) == 10
    assert small["add.f32"].latency is None  # unknown, not zero
    assert small.limits.warps is None and small.issue.limit is None
    assert "mad.f32" not in small
    with pytest.raises(KeyError, match="fma.f32"):
        small["fma.f3"]


def test_shipped_profiles_survive_a_round_trip():
    names = occupipe.shipped_profiles()
    assert "nvidia-rtx-2070" in names
    for name in names:
        profile = Profile.load(name)
        assert Profile.parse(profile.to_yaml()) == profile


def test_edits_show_in_the_file(small, tmp_path):
    small["fma.f32"] = small["fma.f32"].replace(latency=Estimate(8, 0.5))
    small.cores = 4
    small.limits = small.limits.replace(warps=32)
    del small["add.f32"]
    small.save(tmp_path / "a.yaml")
    again = Profile.load(tmp_path / "a.yaml")
    assert again == small
    assert again["fma.f32"].latency == Estimate(8, 0.5) and again.limits.warps == 32
    with pytest.raises(occupipe.InputError, match="exists"):
        small.save(tmp_path / "a.yaml")
    small.cores = 5
    small.save(tmp_path / "a.yaml", overwrite=True)
    assert Profile.load(tmp_path / "a.yaml").cores == 5


def test_values_cannot_be_changed_on_a_copy(small):
    with pytest.raises(AttributeError):
        small["fma.f32"].latency = 8
    with pytest.raises(AttributeError):
        small["fma.f32"].cpi.value = 8
    with pytest.raises(TypeError, match="no field 'latencies'"):
        small["fma.f32"].replace(latencies=8)
    assert isinstance(small.subsystems, tuple)


def test_set_is_the_programs(small):
    assert "fma.f32.latency is set to 8" in small.set("fma.f32.latency", 8)
    assert small["fma.f32"].latency.value == 8
    with pytest.raises(occupipe.InputError):
        small.set("fma.f32.latency", -1)
    with pytest.raises(occupipe.InputError):
        small.set("none.f32.latency", 8)


def test_check_refuses_what_the_files_rules_refuse(small):
    small.check()
    small["fma.f32"] = small["fma.f32"].replace(cpi=-1)
    with pytest.raises(occupipe.InputError, match="cpi"):
        small.check()
    with pytest.raises(occupipe.InputError):
        small.to_yaml()
    with pytest.raises(occupipe.InputError, match="finite"):
        small["fma.f32"].replace(cpi=math.nan)
    with pytest.raises(occupipe.InputError, match="lrr, gto, oldest"):
        small.issue.replace(policy="random")


def test_errors_say_where(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(PROFILE.replace("cpi: 2", "cpi: -2"))
    with pytest.raises(occupipe.InputError) as caught:
        Profile.load(path)
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.file, error.line, error.key) == (str(path), 10, "instructions.fma.f32.cpi")
    assert str(error).startswith(f"{path}:10:") and error.column is not None
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.file, again.line, again.key) == (str(error), error.file, error.line, error.key)
    with pytest.raises(occupipe.InputError) as caught:
        Profile.load(tmp_path / "none.yaml")
    assert caught.value.file is not None or "none.yaml" in str(caught.value)


def test_a_bound_is_no_number():
    bound = Estimate(12, kind="upper_bound", note="no plateau")
    assert not bound.identifiable and str(bound) == "≤ 12"
    with pytest.raises(ValueError, match="bound"):
        float(bound)
    assert float(Estimate(0.25, 0.01)) == 0.25
    assert repr(Estimate(0.25, 0.01)) == "Estimate(value=0.25, std_error=0.01)"
    assert Estimate(1) == Estimate(1) and hash(Estimate(1)) == hash(Estimate(1)) and Estimate(1) != Estimate(2)
    with pytest.raises(occupipe.InputError):
        Estimate(1, -1)
    with pytest.raises(occupipe.InputError):
        Estimate(1, kind="bound")


def test_doubts_and_error_terms_are_data(small):
    doubt = occupipe.Doubt("runs_disagree", 0.12)
    assert str(doubt) == "runs disagree by 12 %" and (doubt.kind, doubt.size) == ("runs_disagree", 0.12)
    told = Estimate(4, 0.5, doubts=[doubt], error_terms=[("scatter", 0.3), ("drift", 0.4)])
    assert told.doubts == (doubt,) and told.error_terms == (("scatter", 0.3), ("drift", 0.4))
    assert told.replace(note="x").error_terms == told.error_terms and told != Estimate(4, 0.5)
    small["fma.f32"] = small["fma.f32"].replace(cpi=told, step="FMUL + FADD")
    again = Profile.parse(small.to_yaml())["fma.f32"]
    assert again.cpi == told and again.step == "FMUL + FADD"
    with pytest.raises(occupipe.InputError, match="runs_disagree"):
        occupipe.Doubt("runs disagree")


def test_copies_are_apart(small):
    other = copy.deepcopy(small)
    other.cores = 7
    assert small.cores == 2 and other != small and small == small.copy()


def test_profile_prints_and_becomes_a_table(small):
    assert repr(small) == "<Profile 'Small GPU': 2 cores at 1000 MHz, 2 instructions>"
    assert "<td>fma.f32</td>" in small._repr_html_()
    table = small.to_pandas()
    assert table.loc["fma.f32", "cpi"] == 2 and table.loc["fma.f32", "latency"] == 10
    assert table["latency"].isna().tolist() == [False, True]  # <NA>, not 0 or NaN
    import pandas

    assert table.loc["add.f32", "latency"] is pandas.NA


def test_without_pandas_the_error_says_so(small, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(occupipe.MissingPackage, match="pip install pandas"):
        small.to_pandas()
    assert small._repr_html_()


def test_kernels_are_built_printed_and_written(tmp_path):
    kernel = Kernel(
        "chain",
        [Instruction("ld.global.f32", "x"), Repeat(100, [Instruction("fma.f32", "a", ["x", "a@-1"])])],
        launch=Launch(4, 2, 64),
    )
    assert kernel.programs[0].instruction_count == 101
    kernel.save(tmp_path / "chain.yaml")
    assert Kernel.load(tmp_path / "chain.yaml") == kernel
    assert repr(kernel) == "<Kernel 'chain': 101 instructions per warp>"
    table = kernel.to_pandas()
    assert table["executions"].tolist() == [1, 100] and table["loops"].tolist() == [0, 1]
    assert table["after"].tolist() == ["", "x, a@-1"]
    assert "ld.global.f32" in kernel._repr_html_()
    kernel.order = "in_order"
    kernel.launch = None
    assert Kernel.parse(kernel.to_yaml()).order == "in_order"
    for name in occupipe.shipped_kernels():
        shipped = Kernel.load(name)
        assert Kernel.parse(shipped.to_yaml()) == shipped


def test_wrong_kernels_are_refused():
    with pytest.raises(occupipe.InputError, match="nowhere"):
        Kernel("k", [Instruction("fma.f32", "a", ["nowhere"])])
    with pytest.raises(occupipe.InputError):
        Kernel("k", [Instruction("fma.f32", "a", ["a@-0"])])
    with pytest.raises(occupipe.InputError):
        Kernel("k")
    with pytest.raises(occupipe.InputError):
        Launch(0, 1, 1)


def test_measurements_are_columns_and_files(measured, tmp_path):
    runs = Measurements.load(measured)
    assert len(runs) == len(runs.rows) > 0
    assert "fma.f32" in runs.subjects
    assert runs.cycles.shape == runs.depth.shape == (len(runs),)
    for place in (0, len(runs) // 2, len(runs) - 1):
        row = runs.rows[place]
        assert (runs.cycles[place], runs.depth[place]) == (row.cycles, row.depth)
        assert runs.in_flight[place] == row.group_warps * row.concurrent_groups * row.chains
    one = runs.where("fma.f32", chains=1)
    assert set(one.subject) == {"fma.f32"} and set(one.chains) == {1} and 0 < len(one) < len(runs)
    one.save(tmp_path / "one.json")
    again = Measurements.load(tmp_path / "one.json")
    assert [row.counters for row in again.rows] == [row.counters for row in one.rows]
    assert [row.name for row in again.rows] == [row.name for row in one.rows]
    assert again.context == runs.context and np.array_equal(again.seconds, one.seconds)
    table = one.to_pandas()
    assert len(table) == len(one) and table["error"].isna().all()
    assert "fma.f32" in runs._repr_html_()
    with pytest.raises(occupipe.InputError, match="exists"):
        one.save(tmp_path / "one.json")


def test_unknown_cycles_are_masked_not_zero(measured):
    import json

    data = json.loads(measured.read_text())
    del data["benchmarks"][0]["cycles"]
    data["benchmarks"][1]["error_occurred"] = True
    data["benchmarks"][1]["error_message"] = "launch failed"
    runs = Measurements.parse(json.dumps(data))
    assert runs.cycles.mask[:3].tolist() == [True, True, False]
    assert runs.seconds.mask[:3].tolist() == [False, True, False]
    assert runs.rows[0].cycles is None and runs.rows[1].error == "launch failed" and runs.rows[1].seconds is None
    table = runs.to_pandas()
    assert table["cycles"].isna()[:3].tolist() == [True, True, False]
    assert Measurements.parse(runs.to_json()).rows[1].error == "launch failed"


def test_wrong_measurements_say_where(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"context": {},\n "benchmarks": [\n  {"name": "fma.f32/group_warps:0"}]}')
    with pytest.raises(occupipe.InputError) as caught:
        Measurements.load(path)
    assert caught.value.file == str(path) and caught.value.line == 3 and caught.value.key
