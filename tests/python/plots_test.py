# SPDX-License-Identifier: MIT
"""Pictures: what is drawn is what was computed."""

import numpy as np
import pytest

import occupipe
from occupipe import plots

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture(autouse=True)
def closed():
    import matplotlib.pyplot as pyplot

    yield
    pyplot.close("all")


def lines(ax) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_xydata()) for line in ax.lines}


def test_hull_shows_points_line_and_asymptotes(measured, tmp_path):
    fit = occupipe.fit(measured)
    ax = plots.hull(fit, "fma.f32")
    one = fit["fma.f32"]
    points = one.points()
    shown = points["deepest"]
    drawn = ax.containers[0][0].get_xydata()
    assert len(drawn) == shown.sum()
    m = points["group_warps"] * points["concurrent_groups"] * points["chains"]
    assert np.array_equal(drawn[:, 0], m[shown])
    assert np.array_equal(drawn[:, 1], (points["cycles"] / (m * points["depth"]))[shown])
    drawn_lines = lines(ax)
    assert any(name.startswith("fit") for name in drawn_lines)
    asymptote = next(xy for name, xy in drawn_lines.items() if name.startswith("Λ/M"))
    assert asymptote[0, 1] * asymptote[0, 0] == pytest.approx(one.latency.value)
    ax.figure.savefig(tmp_path / "hull.png")
    assert (tmp_path / "hull.png").stat().st_size > 10_000
    with pytest.raises(occupipe.InputError):
        plots.hull(fit)


def test_occupancy_shows_predictions():
    ax = plots.occupancy("mix", "rtx-2070", ["pipeline", "roofline"])
    drawn = lines(ax)
    launches = occupipe.occupancies("mix", "rtx-2070")
    found = occupipe.predict_many("mix", "rtx-2070", launches, "pipeline")
    assert np.array_equal(drawn["pipeline"][:, 0], found.warps)
    assert np.array_equal(drawn["pipeline"][:, 1], found.warps_per_cycle[:, 0, 0])
    assert set(drawn) == {"pipeline", "roofline"}


def test_roofline_shows_roofs_and_kernels(root):
    counts = occupipe.executed_counts(root / "tests/kernels/recorded/sm_75/saxpy.cubin", root / "tests/kernels/saxpy.yaml")
    profile = occupipe.Profile.load("gtx-1060")
    profile["add.s32"] = profile["fma.f32"].replace(name="add.s32", source="assumed", reference="as fma.f32")
    ax = plots.roofline(profile, counts)
    drawn = lines(ax)
    rates = profile.rates()
    roof = drawn["roof"]
    assert roof[-1, 1] == pytest.approx(rates["T_SP"][0])
    assert roof[0, 1] == pytest.approx(roof[0, 0] * rates["B_mem"][0])
    ridge = rates["T_SP"][0] / rates["B_mem"][0]
    assert [ridge, rates["T_SP"][0]] == pytest.approx(roof[np.argmin(abs(roof[:, 0] / ridge - 1))], rel=1e-12)
    (one,) = occupipe.roofline(counts, profile)
    assert drawn[f"saxpy: {one.bound}"][0] == pytest.approx([one.intensity, one.operations / one.seconds * 1e-9])
    with pytest.raises(occupipe.InputError, match="rate"):
        plots.roofline(occupipe.Profile("empty", cores=1, clock_hz=1e9))


def test_axes_can_be_given():
    import matplotlib.pyplot as pyplot

    given = pyplot.subplots()[1]
    assert plots.occupancy("mix", "gtx-1060", ax=given) is given


def test_without_matplotlib_the_error_says_so(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(occupipe.MissingPackage, match="pip install matplotlib"):
        plots.occupancy("mix", "gtx-1060")
