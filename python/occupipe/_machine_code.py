# SPDX-License-Identifier: MIT
"""Kernels of machine code, and the quantitative roofline from what they execute."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional, Sequence, Union

from . import _core
from ._core import Extraction, KernelCounts, RooflinePrediction
from ._errors import InputError
from ._predict import ProfileLike, profile_of

PathLike = Union[str, "os.PathLike[str]"]
Extent = Union[int, Sequence[int]]


def _extent(extent: Extent) -> list[int]:
    """x, y and z."""
    parts = [extent] if isinstance(extent, int) else list(extent)
    return [*parts, 1, 1, 1][:3] if len(parts) <= 3 else parts


def _request(
    file: Optional[PathLike],
    launches: Optional[PathLike],
    *,
    architecture: str,
    compiler_options: Sequence[str],
    kernel: str,
    grid: Optional[Extent],
    block: Optional[Extent],
    shared_bytes: int,
    arguments: str,
    threads: int,
    step_budget: Optional[int],
) -> _core.CodeRequest:
    if launches is not None and (grid is not None or block is not None or arguments or shared_bytes):
        raise InputError("launches: describes grid, block and arguments; leave one or the other out", key="launches")
    request = _core.CodeRequest()
    request.file = "" if file is None else os.fspath(file)
    request.launches = None if launches is None else os.fspath(launches)
    request.architecture = architecture
    request.compiler_options = list(compiler_options)
    request.kernel = kernel
    request.grid = None if grid is None else _extent(grid)
    request.block = None if block is None else _extent(block)
    request.shared_bytes = shared_bytes
    request.arguments = arguments
    request.threads = threads
    request.step_budget = step_budget or 0
    return request


def extract(
    file: Optional[PathLike] = None,
    launches: Optional[PathLike] = None,
    *,
    profile: Optional[ProfileLike] = None,
    architecture: str = "",
    compiler_options: Sequence[str] = (),
    kernel: str = "",
    grid: Optional[Extent] = None,
    block: Optional[Extent] = None,
    shared_bytes: int = 0,
    arguments: str = "",
    step: int = 1,
    sample: Union[str, int] = "auto",
    classes: int = 8,
    cores: Optional[int] = None,
    threads: int = 0,
    step_budget: Optional[int] = None,
) -> Extraction:
    """One launch of CUDA source, PTX or machine code as a kernel, as ``occupipe extract`` does it.

    The code is executed on this machine, without a GPU (docs/kernels-in.md).

    Parameters
    ----------
    file
        ``.cu`` (needs NVRTC), ``.cl``, ``.ptx`` (needs ptxas) or ``.cubin``; None: the launch
        file's ``source``.
    launches
        A launch file (docs/reference/file-formats/); or describe one launch with ``grid`` and ``block``
        (groups; threads of a group), ``arguments`` (text, as ``--args``) and ``shared_bytes``.
    profile
        Calls instructions as this profile does, and finds reuse on its number of cores.
    kernel, step
        Which kernel (default: that of the first launch), and which of its launches, from 1 on.
    sample
        Groups that stand for all: ``"auto"``, ``"all"`` or a number.
    classes
        At most so many classes of warps.
    cores
        Of the GPU on which groups meet in the caches; None: the profile's.
    step_budget
        Raise LimitReached after so many warp-instructions; None: no limit.

    Raises InputError, and DeviceError where a compiler is needed and not there. Ctrl-C ends it.
    """
    request = _request(
        file, launches, architecture=architecture, compiler_options=compiler_options, kernel=kernel,
        grid=grid, block=block, shared_bytes=shared_bytes, arguments=arguments, threads=threads,
        step_budget=step_budget,
    )  # fmt: skip
    request.step, request.classes, request.cores = step, classes, cores
    if profile is not None:
        request.profile = profile_of(profile)
    if isinstance(sample, int):
        request.sample = sample
    elif sample == "all":
        request.all_groups = True
    elif sample != "auto":
        raise InputError(f"sample: '{sample}' is not auto, all or a number", key="sample")
    return _core.extract(request)


def executed_counts(
    file: Optional[PathLike] = None,
    launches: Optional[PathLike] = None,
    *,
    architecture: str = "",
    compiler_options: Sequence[str] = (),
    kernel: str = "",
    grid: Optional[Extent] = None,
    block: Optional[Extent] = None,
    shared_bytes: int = 0,
    arguments: str = "",
    threads: int = 0,
    step_budget: Optional[int] = None,
) -> list[KernelCounts]:
    """Executes all launches on this machine and counts what a profiler would; one per kernel.

    Every sector of memory that a launch touches is counted once (``origin`` says so): the least
    that a cold cache can do. Arguments as :func:`extract`.
    """
    return _core.executed_counts(
        _request(
            file, launches, architecture=architecture, compiler_options=compiler_options, kernel=kernel,
            grid=grid, block=block, shared_bytes=shared_bytes, arguments=arguments, threads=threads,
            step_budget=step_budget,
        )  # fmt: skip
    )


def read_counts(path: PathLike) -> list[KernelCounts]:
    """Counts of kernels from ``nvprof``'s or Nsight Compute's CSV, or kernel parameters (YAML).

    What the file does not have, or has as no number, is None.
    """
    return _core.read_counts(Path(path))


def save_counts(path: PathLike, counts: Sequence[KernelCounts], *, overwrite: bool = False) -> None:
    """Writes kernel parameters (YAML). InputError where the file exists and overwrite is False."""
    try:
        with open(path, "w" if overwrite else "x", encoding="utf-8") as file:
            file.write(_core.format_counts(list(counts)))
    except FileExistsError:
        name = os.fspath(path)
        raise InputError(f"{name}: exists; overwrite=True replaces it", file=name) from None


def roofline(
    counts: Union[KernelCounts, Sequence[KernelCounts], PathLike],
    profiles: Union[ProfileLike, Sequence[ProfileLike]],
    model: str = "quantitative-roofline",
) -> list[RooflinePrediction]:
    """Kernels on devices that they never ran on, by the quantitative roofline (docs/roofline.md).

    Parameters
    ----------
    counts
        KernelCounts, a sequence of them, or a file for :func:`read_counts`.
    model
        ``"quantitative-roofline"``: units take turns (Konstantinidis and Cotronis 2017);
        ``"quantitative-roofline-units"``: they overlap.

    Kernels outermost. Where a profile lacks rates, the prediction's numbers are None and
    ``missing`` names them.
    """
    if isinstance(counts, (str, os.PathLike)):
        counts = read_counts(counts)
    elif isinstance(counts, KernelCounts):
        counts = [counts]
    if isinstance(profiles, (_core.Profile, str, os.PathLike)):
        profiles = [profiles]
    loaded = [profile_of(profile) for profile in profiles]
    return [_core.roofline(one, profile, model) for one in counts for profile in loaded]
