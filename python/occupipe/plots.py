# SPDX-License-Identifier: MIT
"""Pictures with matplotlib. Each function draws on ``ax``, or on a new figure, and returns the axes.

>>> from occupipe import plots
>>> ax = plots.occupancy("saxpy", "rtx-2070")            # doctest: +SKIP
>>> ax.figure.savefig("occupancy.png")                   # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np

from . import _core
from ._core import Fit, InstructionFit, KernelCounts
from ._errors import InputError
from ._machine_code import roofline as predict_roofline
from ._optional import need
from ._predict import KernelLike, ProfileLike, occupancies, predict_many, profile_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["hull", "occupancy", "roofline"]


def _axes(ax: Optional[Axes]) -> Axes:
    if ax is not None:
        return ax
    pyplot = need("matplotlib.pyplot", "a picture")
    made: Axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")[1]
    return made


def _plain_ticks(axis: Any) -> None:
    """1, 2, 4, … in place of powers."""
    ticker = need("matplotlib.ticker", "a picture")
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def hull(fit: Union[Fit, InstructionFit], instruction: Optional[str] = None, *, ax: Optional[Axes] = None) -> Axes:
    """Cycles per instruction over the instructions in flight: measured, fitted, and the asymptotes.

    Of points that differ in depth alone the deepest is drawn, which has the smallest share of what
    happens once per launch. Bars are standard errors of the medians. Dashed: Λ/M (latency-bound)
    and λ (throughput-bound), where they are values; a bound is not drawn.
    """
    if isinstance(fit, Fit):
        if instruction is None:
            raise InputError("instruction: which curve of the fit?", key="instruction")
        fit = fit[instruction]
    ax = _axes(ax)
    points = fit.points()
    shown = points["deepest"]
    in_flight = points["group_warps"] * points["concurrent_groups"] * points["chains"]
    instructions = in_flight * points["depth"]
    cycles = points["cycles"] / instructions
    ax.errorbar(
        in_flight[shown], cycles[shown], yerr=(cycles * points["relative_error"])[shown],
        fmt="o", markersize=4, color="C0", label="measured", zorder=3,
    )  # fmt: skip
    families = fit.families()
    for number, (name, places) in enumerate(families):
        label = "fit" if len(families) == 1 else f"fit, {name}"
        order = places[np.argsort(in_flight[places], kind="stable")]
        ax.plot(in_flight[order], (points["predicted"] / instructions)[order], color=f"C{number + 1}", label=label)
    span = np.array([in_flight[shown].min(), in_flight[shown].max()], dtype=float)
    bottom, top = cycles[shown].min() / 1.3, cycles[shown].max() * 1.3
    if fit.cpi is not None and fit.cpi.identifiable:
        ax.axhline(fit.cpi.value, color="0.5", linestyle="--", linewidth=1, label=f"λ = {fit.cpi}")
    if fit.latency is not None and fit.latency.identifiable:
        m = np.geomspace(span[0], span[1], 61)
        ax.plot(m, fit.latency.value / m, color="0.5", linestyle=":", linewidth=1, label=f"Λ/M, Λ = {fit.latency}")
    ax.set_xscale("log", base=2)
    ax.set_yscale("log", base=2)
    ax.set_ylim(bottom, top)
    _plain_ticks(ax.xaxis)
    _plain_ticks(ax.yaxis)
    ax.set_xlabel("instructions in flight on a core, M")
    ax.set_ylabel("core cycles per instruction")
    ax.set_title(fit.name)
    ax.legend(frameon=False)
    return ax


def occupancy(
    kernel: KernelLike,
    profile: ProfileLike,
    models: Union[str, Sequence[str]] = "pipeline",
    *,
    group_warps: Optional[int] = None,
    ax: Optional[Axes] = None,
    **options: Any,
) -> Axes:
    """Throughput over occupancy, up to what a core holds, by model.

    Further options are those of :func:`occupipe.predict_many`. Where a model refuses a launch, its
    line has a gap.
    """
    loaded = profile_of(profile)
    found = predict_many(
        kernel, loaded, occupancies(kernel, loaded, group_warps=group_warps), models, invalid="mask", **options
    )
    ax = _axes(ax)
    for number, model in enumerate(found.models):
        ax.plot(found.warps, found.warps_per_cycle[:, 0, number], marker="o", markersize=3, label=model)
    ax.set_xlabel("warps on a core, ω")
    ax.set_ylabel("warps per cycle and core")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.set_title(f"{found.kernel} on {loaded.name}")
    if len(found.models) > 1:
        ax.legend(frameon=False)
    return ax


def roofline(
    profile: ProfileLike,
    counts: Sequence[KernelCounts] = (),
    *,
    operation_type: str = "fp32",
    ax: Optional[Axes] = None,
) -> Axes:
    """The device's roofs, and kernels at their intensity and predicted rate (docs/how-to/roofline.md).

    operation_type: ``"fp32"``, ``"fp64"`` or ``"integer"``, of the roof; kernels of another type,
    or that move nothing, are not drawn. Raises InputError where the profile does not determine the
    peak rates.
    """
    loaded = profile_of(profile)
    peak, memory = _core.peak_rates(loaded, operation_type)
    if peak is None or memory is None:
        lacking = "operations" if peak is None else "device memory"
        raise InputError(f"profile '{loaded.name}' has no rate of {lacking}", key="profile")
    kind = "int" if operation_type == "integer" else operation_type
    drawn = [
        row
        for row in (predict_roofline(list(counts), loaded) if counts else [])
        if row.operation_type == kind and row.intensity is not None and row.seconds is not None and row.operations > 0
    ]
    ridge = peak / memory
    intensities = [row.intensity for row in drawn if row.intensity is not None] + [ridge]
    # Two straight lines on these axes: their ends and the ridge are all there is to draw.
    span = np.array([min(intensities) / 4, ridge, max(intensities) * 4])
    ax = _axes(ax)
    ax.plot(span, np.minimum(peak, span * memory) * 1e-9, color="0.3", label="roof")
    for number, row in enumerate(drawn):
        assert row.intensity is not None and row.seconds is not None
        ax.plot(
            row.intensity, row.operations / row.seconds * 1e-9, "o" if row.bound == "compute" else "s",
            color=f"C{number}", label=f"{row.kernel}: {row.bound}",
        )  # fmt: skip
    ax.set_xscale("log")
    ax.set_yscale("log")
    _plain_ticks(ax.xaxis)
    _plain_ticks(ax.yaxis)
    ax.set_xlabel("operations per byte of device memory")
    ax.set_ylabel("10⁹ operations per second")
    ax.set_title(loaded.name)
    ax.legend(frameon=False)
    return ax
