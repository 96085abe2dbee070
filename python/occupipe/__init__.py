# SPDX-License-Identifier: MIT
"""Occupipe: what instructions cost on a GPU, and kernels predicted from that.

>>> import occupipe
>>> occupipe.predict("saxpy", "rtx-2070").limited_by
'ld_st'

Values (rows, launches, estimates) cannot be changed in place: ``row.replace(latency=8)`` makes
another. Times are in core cycles where nothing else is said. What is not known is None, <NA> in
tables, and masked in arrays; it is never zero or NaN.
"""

from pathlib import Path as _Path

from . import _core
from ._core import (
    Doubt,
    Estimate,
    Extraction,
    Fit,
    Instruction,
    InstructionCache,
    InstructionFit,
    InstructionTiming,
    Issue,
    Kernel,
    KernelCounts,
    Launch,
    Limits,
    MeasurementRow,
    MemoryBehaviour,
    MemoryLevel,
    MemoryUse,
    MixFit,
    Overheads,
    ParameterTable,
    Prediction,
    Profile,
    Repeat,
    RooflinePrediction,
    Subsystem,
    TableRow,
    WarpProgram,
)
from ._errors import DeviceError, InputError, LimitReached, MissingPackage
from ._fit import fit
from ._machine_code import executed_counts, extract, read_counts, roofline, save_counts
from ._measurements import Measurements
from ._predict import Predictions, models, occupancies, predict, predict_many
from ._tune import Configuration, Tuned, tune

_core.set_data_folder(_Path(__file__).parent / "data")

__version__: str = _core.version


def shipped_profiles() -> list[str]:
    """Names of the profiles that come with the package."""
    return _core.shipped_profiles()


def shipped_kernels() -> list[str]:
    """Names of the kernels that come with the package."""
    return _core.shipped_kernels()


__all__ = [
    "Configuration",
    "DeviceError",
    "Doubt",
    "Estimate",
    "Extraction",
    "Fit",
    "InputError",
    "Instruction",
    "InstructionCache",
    "InstructionFit",
    "InstructionTiming",
    "Issue",
    "Kernel",
    "KernelCounts",
    "Launch",
    "LimitReached",
    "Limits",
    "MeasurementRow",
    "Measurements",
    "MemoryBehaviour",
    "MemoryLevel",
    "MemoryUse",
    "MissingPackage",
    "MixFit",
    "Overheads",
    "ParameterTable",
    "Prediction",
    "Predictions",
    "Profile",
    "Repeat",
    "RooflinePrediction",
    "Subsystem",
    "TableRow",
    "Tuned",
    "WarpProgram",
    "executed_counts",
    "extract",
    "fit",
    "models",
    "occupancies",
    "predict",
    "predict_many",
    "read_counts",
    "roofline",
    "save_counts",
    "shipped_kernels",
    "shipped_profiles",
    "tune",
]
