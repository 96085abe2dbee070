# SPDX-License-Identifier: MIT
"""Fits: the program's profile for the same file, and the truth of a simulated device."""

import numpy as np
import pytest

import occupipe
from occupipe import Measurements, Profile


@pytest.fixture(scope="module")
def fitted(measured) -> occupipe.Fit:
    return occupipe.fit(measured)


def test_profile_is_the_programs(program, measured, fitted, tmp_path):
    program("fit", measured, "-o", tmp_path / "gpu.yaml", "--report", tmp_path / "report.md")
    assert fitted.profile.to_yaml() == (tmp_path / "gpu.yaml").read_text()
    assert fitted.report() == (tmp_path / "report.md").read_text()


def test_the_truth_is_found(fitted):
    truth = Profile.load("gtx-1060")
    for name in ("fma.f32", "cos.approx.f32"):
        for found, true in (
            (fitted[name].cpi, truth.cpi_per_core(name)),
            (fitted[name].latency, truth[name].latency),
        ):
            assert found is not None and found.identifiable and found.std_error is not None
            # noise is 1 %: five of its standard errors, or half a percent of what the law leaves out
            assert abs(found.value - true.value) < 5 * found.std_error + 0.005 * true.value


def test_points_are_the_files_medians(measured, fitted):
    runs = Measurements.load(measured).where("fma.f32")
    points = fitted["fma.f32"].points()
    assert points["cycles"].shape == points["predicted"].shape == points["deepest"].shape
    for place in range(0, len(points["cycles"]), 3):
        at = {name: int(points[name][place]) for name in ("group_warps", "concurrent_groups", "chains", "depth")}
        rows = runs.where(**at)
        assert len(rows) == points["repetitions"][place]
        assert points["cycles"][place] == pytest.approx(float(np.ma.median(rows.cycles)), rel=1e-9)
    assert np.abs(points["predicted"] / points["cycles"] - 1).max() < 0.1


def test_a_part_of_the_rows_can_be_fitted(measured):
    one = occupipe.fit(Measurements.load(measured).where("fma.f32"))
    assert list(one.profile) == ["fma.f32"]
    with pytest.raises(KeyError):
        one["cos.approx.f32"]


def test_fit_prints_and_becomes_a_table(fitted):
    table = fitted.to_pandas()
    assert table.loc["fma.f32", "cpi"] == fitted["fma.f32"].cpi.value
    assert table["reason"].isna().all()
    assert "fma.f32" in str(fitted) and "fma.f32" in fitted._repr_html_()
    assert repr(fitted["fma.f32"]).startswith("<InstructionFit fma.f32: λ ")


def test_what_cannot_be_fitted_is_refused(measured):
    runs = Measurements.load(measured)
    with pytest.raises(occupipe.InputError):
        occupipe.fit(runs[:0])
    with pytest.raises(occupipe.InputError):
        occupipe.fit("no-such-file.json")
