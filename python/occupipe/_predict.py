# SPDX-License-Identifier: MIT
"""Predictions: one, and arrays of launches × profiles × models."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable, Mapping, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._core import Extraction, Kernel, Launch, MemoryBehaviour, Prediction, Profile
from ._errors import InputError
from ._tables import FLOAT, INTEGER, TEXT, frame

if TYPE_CHECKING:
    import pandas

KernelLike = Union[Kernel, Extraction, str, "os.PathLike[str]"]
ProfileLike = Union[Profile, str, "os.PathLike[str]"]
LaunchLike = Union[Launch, Sequence[int]]
Column = Union[int, Sequence[int], "npt.NDArray[np.integer[Any]]"]


def kernel_of(kernel: KernelLike) -> tuple[Union[Kernel, Extraction], str]:
    """The kernel, and what messages call it."""
    if isinstance(kernel, Kernel):
        return kernel, kernel.name
    if isinstance(kernel, Extraction):
        return kernel, kernel.file
    return Kernel.load(kernel), os.fspath(kernel)


def profile_of(profile: ProfileLike) -> Profile:
    return profile if isinstance(profile, Profile) else Profile.load(profile)


def launch_of(launch: Optional[LaunchLike]) -> Optional[Launch]:
    if launch is None or isinstance(launch, Launch):
        return launch
    try:
        numbers = [operator.index(number) for number in launch]
    except TypeError:
        numbers = []
    if len(numbers) != 3:
        raise InputError(
            f"launch: {launch!r} is not (group_warps, concurrent_groups, groups), three whole numbers", key="launch"
        )
    group_warps, concurrent_groups, groups = numbers
    try:
        return Launch(group_warps, concurrent_groups, groups)
    except TypeError:
        raise InputError(f"launch: {launch!r} has a number beyond all launches", key="launch") from None


def options_of(
    *,
    policy: Optional[str],
    select: Optional[str],
    order: Optional[str],
    stall_counts: bool,
    estimate: bool,
    max_simulated: Optional[int],
    memory: str,
    behaviour: Optional[MemoryBehaviour],
    l1_bytes: Optional[float],
    l2_bytes: Optional[float],
    use: Optional[Mapping[str, str]],
    changes: Optional[Mapping[str, Optional[float]]],
    assume_latency: Iterable[str],
) -> _core.PredictionOptions:
    options = _core.PredictionOptions()
    options.policy, options.select, options.order = policy, select, order
    options.stall_counts, options.estimate, options.max_simulated = stall_counts, estimate, max_simulated
    options.memory_pricing = memory
    if behaviour is not None:
        options.memory = behaviour
    options.l1_bytes, options.l2_bytes = l1_bytes, l2_bytes
    options.uses = [f"{op}={instruction}" for op, instruction in (use or {}).items()]
    options.settings = [
        f"{name}={'none' if value is None else repr(value)}" for name, value in (changes or {}).items()
    ]
    options.assumed_classes = list(assume_latency)
    return options


def predict(
    kernel: KernelLike,
    profile: ProfileLike,
    launch: Optional[LaunchLike] = None,
    model: str = "pipeline",
    *,
    policy: Optional[str] = None,
    select: Optional[str] = None,
    order: Optional[str] = None,
    stall_counts: bool = False,
    estimate: bool = False,
    max_simulated: Optional[int] = None,
    memory: str = "per-access",
    behaviour: Optional[MemoryBehaviour] = None,
    l1_bytes: Optional[float] = None,
    l2_bytes: Optional[float] = None,
    use: Optional[Mapping[str, str]] = None,
    changes: Optional[Mapping[str, Optional[float]]] = None,
    assume_latency: Iterable[str] = (),
) -> Prediction:
    """The time of a kernel on a GPU, as ``occupipe predict`` has it.

    Parameters
    ----------
    kernel, profile
        Objects, paths, or names of shipped ones (``"saxpy"``, ``"rtx-2070"``). An
        :class:`Extraction` finds the reuse of memory anew for each launch; its ``kernel`` keeps
        that of its own.
    launch
        Or (group_warps, concurrent_groups, groups). None: the kernel's own, made to fit the
        profile where that leaves its work as it is; else one that fills every core once.
    model
        One of :func:`models`. ``"pipeline"`` is the simulation (docs/background/pipeline-model.md).
    policy, select, order
        ``"lrr"``, ``"gto"``, ``"oldest"``; ``"subsystem"``, ``"warp"``; ``"dataflow"``,
        ``"in_order"``. None: as the profile and the kernel say.
    estimate
        Extrapolate what does not recur; the prediction tells its ``estimate_error``.
    max_simulated
        Raise LimitReached after so many instructions issued one by one.
    memory
        ``"per-access"``, ``"aggregate"`` or ``"none"``: how memory is priced where the kernel
        tells what it asks of it. ``l1_bytes``, ``l2_bytes``: caches, where not as the profile says.
    behaviour
        Hit rate and divergence, for x-model, gpuperf and mdm.
    use, changes, assume_latency
        As ``--use``, ``--set`` and ``--assume-latency``: ``use={"compute": "fma.f32"}``,
        ``changes={"fma.f32.latency": 8}`` [core cycles], ``assume_latency=["fma"]``.

    Raises InputError for what cannot be predicted. Ctrl-C ends it.
    """
    options = options_of(
        policy=policy, select=select, order=order, stall_counts=stall_counts, estimate=estimate,
        max_simulated=max_simulated, memory=memory, behaviour=behaviour, l1_bytes=l1_bytes,
        l2_bytes=l2_bytes, use=use, changes=changes, assume_latency=assume_latency,
    )  # fmt: skip
    found, name = kernel_of(kernel)
    scenario = _core.prepare(found, profile_of(profile), options, name)
    return _core.predict(scenario, launch_of(launch), model, options)


def occupancies(
    kernel: KernelLike,
    profile: ProfileLike,
    *,
    group_warps: Optional[int] = None,
    groups: Optional[int] = None,
) -> list[Launch]:
    """Launches with 1, 2, … groups at once, up to what a core of the profile holds.

    As ``occupipe predict --occupancy all``. ``groups`` of each launch: None: the kernel's own, else
    as many as fill every core once.
    """
    found, name = kernel_of(kernel)
    options = _core.PredictionOptions()
    return _core.prepare(found, profile_of(profile), options, name).occupancies(group_warps, groups)


def models() -> dict[str, str]:
    """Names of the models, with the publications that they are from."""
    return dict(_core.models())


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Predictions of one kernel as arrays of shape (launches, profiles, models).

    With ``invalid="mask"`` all arrays are masked arrays, and under the mask is no prediction;
    ``errors`` says why. Otherwise they are plain arrays, every element of which is a prediction.
    """

    kernel: str
    group_warps: npt.NDArray[np.int64]
    """Warps of a group, shape (launches,)."""
    concurrent_groups: npt.NDArray[np.int64]
    """Groups at once on a core, shape (launches,)."""
    groups: npt.NDArray[np.int64]
    """Groups of the launch, shape (launches,); 0: every core is filled once."""
    profiles: tuple[str, ...]
    models: tuple[str, ...]
    cycles: npt.NDArray[np.float64]
    """Core cycles for all groups of one core, shape (launches, profiles, models), as what follows."""
    seconds: npt.NDArray[np.float64]
    """cycles / clock, and the launch overhead where the profile has it [s]."""
    warps_per_cycle: npt.NDArray[np.float64]
    """WPC of one core [warps per core cycle]."""
    cycles_per_run: npt.NDArray[np.float64]
    """CPR = ω / WPC [core cycles]."""
    instructions_per_cycle: npt.NDArray[np.float64]
    """[warp-instructions per cycle per core]"""
    groups_per_core: npt.NDArray[np.int64]
    """Groups that the busiest core runs."""
    limiter: npt.NDArray[np.int64]
    """Places in ``limiters``: what limits each run."""
    limiters: tuple[str, ...]
    """A bound's name ('issue', a subsystem) or 'latency'."""
    estimate_error: np.ma.MaskedArray[Any, np.dtype[np.float64]]
    """Bound of the relative error of cycles that are extrapolated; masked where they are exact."""
    errors: dict[tuple[int, int, int], str]
    """Why there is no prediction, by (launch, profile, model); empty with ``invalid="raise"``."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """(launches, profiles, models)"""
        return len(self.group_warps), len(self.profiles), len(self.models)

    @property
    def warps(self) -> npt.NDArray[np.int64]:
        """ω: warps on a core, shape (launches,)."""
        return self.group_warps * self.concurrent_groups

    @property
    def limited_by(self) -> npt.NDArray[np.object_]:
        """Names of the limiters, as an array of text; None where there is no prediction."""
        names = np.array([*self.limiters, None], dtype=object)
        none = np.ma.getmaskarray(self.limiter)
        found: npt.NDArray[np.object_] = names[np.where(none, len(self.limiters), np.ma.getdata(self.limiter))]
        return found

    def __repr__(self) -> str:
        shape = " × ".join(str(n) for n in self.shape)
        without = f", {len(self.errors)} of them impossible" if self.errors else ""
        return f"<Predictions of '{self.kernel}': {shape} launches × profiles × models{without}>"

    def _repr_html_(self) -> str:
        from ._tables import html_table

        most = 40
        cells = [(i, j, k) for i in range(self.shape[0]) for j in range(self.shape[1]) for k in range(self.shape[2])]
        limited = self.limited_by
        rows = []
        for i, j, k in cells[:most]:
            known = (i, j, k) not in self.errors
            rows.append(
                [
                    str(self.group_warps[i]), str(self.concurrent_groups[i]), self.profiles[j], self.models[k],
                    f"{float(self.cycles[i, j, k]):.6g}" if known else "",
                    f"{float(self.seconds[i, j, k]) * 1e6:.4g} µs" if known else "",
                    str(limited[i, j, k]) if known else self.errors[i, j, k],
                ]  # fmt: skip
            )
        caption = repr(self)[1:-1] + ("" if len(cells) <= most else f" (the first {most})")
        return html_table(
            caption, ["group warps", "groups at once", "profile", "model", "cycles", "time", "limited by"], rows
        )

    def to_pandas(self) -> pandas.DataFrame:
        """One row per prediction, launches outermost; what is unknown is <NA>. Needs pandas."""
        n_launches, n_profiles, n_models = self.shape
        per_launch = n_profiles * n_models

        def flat(array: npt.NDArray[Any]) -> list[Any]:
            values = np.ma.MaskedArray(array).reshape(-1).astype(object)
            return [None if value is np.ma.masked else value for value in values]

        return frame(
            {
                "group_warps": (INTEGER, np.repeat(self.group_warps, per_launch).tolist()),
                "concurrent_groups": (INTEGER, np.repeat(self.concurrent_groups, per_launch).tolist()),
                "warps": (INTEGER, np.repeat(self.warps, per_launch).tolist()),
                "profile": (TEXT, list(np.repeat(self.profiles, n_models)) * n_launches),
                "model": (TEXT, list(self.models) * (n_launches * n_profiles)),
                "cycles": (FLOAT, flat(self.cycles)),
                "seconds": (FLOAT, flat(self.seconds)),
                "warps_per_cycle": (FLOAT, flat(self.warps_per_cycle)),
                "cycles_per_run": (FLOAT, flat(self.cycles_per_run)),
                "instructions_per_cycle": (FLOAT, flat(self.instructions_per_cycle)),
                "groups_per_core": (INTEGER, flat(self.groups_per_core)),
                "limited_by": (TEXT, list(self.limited_by.reshape(-1))),
                "estimate_error": (FLOAT, flat(self.estimate_error)),
            }
        )


def _columns(
    launches: Union[Sequence[LaunchLike], Mapping[str, Column]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """group_warps, concurrent_groups and groups (0: fill every core), one dimension each."""
    if isinstance(launches, Mapping):
        unknown = set(launches) - {"group_warps", "concurrent_groups", "groups"}
        if unknown or "group_warps" not in launches or "concurrent_groups" not in launches:
            raise InputError(
                "launches: columns are group_warps, concurrent_groups and, if wanted, groups", key="launches"
            )
        parts = [launches["group_warps"], launches["concurrent_groups"], launches.get("groups", 0)]
    else:
        made = [launch_of(launch) for launch in launches]
        parts = [
            [launch.group_warps for launch in made if launch],
            [launch.concurrent_groups for launch in made if launch],
            [launch.groups for launch in made if launch],
        ]
    arrays = [np.asarray(part) if np.size(part) else np.zeros(0, dtype=np.int64) for part in parts]
    for array in arrays:
        if not np.issubdtype(array.dtype, np.integer):
            raise InputError("launches: counts are whole numbers", key="launches")
    try:
        g, c, n = np.broadcast_arrays(*arrays)
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InputError(f"launches: columns of shapes {shapes} do not fit each other", key="launches") from None
    flat = [np.ascontiguousarray(array.reshape(-1), dtype=np.int64) for array in (g, c, n)]
    return flat[0], flat[1], flat[2]


def predict_many(
    kernel: KernelLike,
    profiles: Union[ProfileLike, Sequence[ProfileLike]],
    launches: Union[Sequence[LaunchLike], Mapping[str, Column]],
    models: Union[str, Sequence[str]] = "pipeline",
    *,
    invalid: str = "raise",
    threads: int = 0,
    policy: Optional[str] = None,
    select: Optional[str] = None,
    order: Optional[str] = None,
    stall_counts: bool = False,
    estimate: bool = False,
    max_simulated: Optional[int] = None,
    memory: str = "per-access",
    behaviour: Optional[MemoryBehaviour] = None,
    l1_bytes: Optional[float] = None,
    l2_bytes: Optional[float] = None,
    use: Optional[Mapping[str, str]] = None,
    changes: Optional[Mapping[str, Optional[float]]] = None,
    assume_latency: Iterable[str] = (),
) -> Predictions:
    """Launches × profiles × models in one call, on all cores, without the interpreter lock.

    Parameters
    ----------
    launches
        Launches, or columns ``{"group_warps": …, "concurrent_groups": …, "groups": …}`` that are
        broadcast against each other and flattened. Arrays of int64 that lie one after another in
        memory are read where they are. Without ``groups``, every core is filled once.
    invalid
        ``"raise"``: the first launch that a GPU does not admit, or that a model refuses, raises
        InputError. ``"mask"``: its elements are masked, and ``errors`` has the reason.
    threads
        Of this machine; 0: one per core. The result does not depend on it.

    The others are those of :func:`predict`, whose numbers these are. Ctrl-C ends it.
    """
    if invalid not in ("raise", "mask"):
        raise InputError(f"invalid: '{invalid}' is not one of raise, mask", key="invalid")
    options = options_of(
        policy=policy, select=select, order=order, stall_counts=stall_counts, estimate=estimate,
        max_simulated=max_simulated, memory=memory, behaviour=behaviour, l1_bytes=l1_bytes,
        l2_bytes=l2_bytes, use=use, changes=changes, assume_latency=assume_latency,
    )  # fmt: skip
    if isinstance(profiles, (Profile, str, os.PathLike)):
        profiles = [profiles]
    names = [models] if isinstance(models, str) else list(models)
    if names == ["all"]:
        names = list(_core_models())
    found, name = kernel_of(kernel)
    loaded = [profile_of(profile) for profile in profiles]
    scenarios = [_core.prepare(found, profile, options, name) for profile in loaded]
    group_warps, concurrent_groups, groups = _columns(launches)
    raw = _core.predict_arrays(
        scenarios, group_warps, concurrent_groups, groups, names, options, invalid == "mask", threads
    )
    failed = raw["failed"]

    def column(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.ma.MaskedArray(array, mask=failed) if invalid == "mask" else array

    places = [np.unravel_index(place, failed.shape) for place, _ in raw["errors"]]
    return Predictions(
        kernel=found.kernel.name if isinstance(found, Extraction) else found.name,
        group_warps=group_warps,
        concurrent_groups=concurrent_groups,
        groups=groups,
        profiles=tuple(profile.name for profile in loaded),
        models=tuple(names),
        cycles=column(raw["cycles"]),
        seconds=column(raw["seconds"]),
        warps_per_cycle=column(raw["warps_per_cycle"]),
        cycles_per_run=column(raw["cycles_per_run"]),
        instructions_per_cycle=column(raw["instructions_per_cycle"]),
        groups_per_core=column(raw["groups_per_core"]),
        limiter=column(raw["limited_by"]),
        limiters=tuple(raw["limiters"]),
        estimate_error=np.ma.MaskedArray(raw["estimate_error"], mask=~raw["estimated"]),
        errors={
            (int(i), int(j), int(k)): reason for (i, j, k), (_, reason) in zip(places, raw["errors"])
        },
    )


def _core_models() -> list[str]:
    return [name for name, _ in _core.models()]
