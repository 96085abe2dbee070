# SPDX-License-Identifier: MIT
"""From measurements to a profile."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional, Sequence, Union

from . import _core
from ._measurements import Measurements

Source = Union[Measurements, str, "os.PathLike[str]"]


def fit(measurements: Union[Source, Sequence[Source]], *, overhead: Optional[float] = None) -> _core.Fit:
    """λ and Λ of each instruction, and the profile made of them, as ``occupipe fit`` does it.

    Parameters
    ----------
    measurements
        Of one device: Measurements, paths, or a sequence of them.
    overhead
        Core cycles of a launch that runs no instruction, if known; one depth is then enough.

    Raises InputError where the rows cannot make a profile, with the reason of each instruction.
    The laws are in docs/background/fitting.md. The interpreter lock is released; Ctrl-C takes effect when the
    fit has ended (seconds).
    """
    if isinstance(measurements, (Measurements, str, os.PathLike)):
        measurements = [measurements]
    loaded = [one if isinstance(one, Measurements) else Measurements.load(Path(one)) for one in measurements]
    return _core.fit([one._file for one in loaded], overhead)
