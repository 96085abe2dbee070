# SPDX-License-Identifier: MIT
"""Search spaces of tuners, ranked without the GPU."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

from . import _core
from ._predict import ProfileLike, profile_of
from ._tables import FLAG, FLOAT, INTEGER, TEXT, frame

if TYPE_CHECKING:
    import pandas

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Configuration:
    """One configuration of a space; what is not known is None."""

    tunables: Mapping[str, Any]
    rank: Optional[int]  #: from 1 on; None: refused
    seconds: Mapping[str, float]  #: predicted, by model
    coarse: Optional[float]  #: seconds of a coarse prediction, where there is no other
    expected: Optional[float]  #: seconds: measured, else predicted (or coarse) times the clock factor
    measured: Optional[float]  #: seconds
    limited_by: Optional[str]
    code: Optional[str]  #: hash of machine code and launch
    to_measure: bool  #: one of the ``top``
    refused: Optional[str]  #: "shape", "compiler", "resources", "prediction"
    reason: Optional[str]


@dataclass(frozen=True)
class Tuned:
    """A ranked space: configurations with a time, best first, then those that are refused."""

    kernel: str
    gpu: str
    configurations: Sequence[Configuration]
    in_space: int  #: configurations that no restriction excludes
    importance: Mapping[str, Optional[float]]  #: share of variance that a tunable explains alone
    clock_factor: Optional[float]  #: of measured over predicted times
    clock_error: Optional[float]  #: standard error of its logarithm

    @property
    def best(self) -> Optional[Configuration]:
        ranked = [one for one in self.configurations if one.rank is not None]
        return ranked[0] if ranked else None

    @property
    def top(self) -> list[Configuration]:
        """Those to measure."""
        return [one for one in self.configurations if one.to_measure]

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each configuration, a column for each tunable."""
        rows = self.configurations
        names = list(rows[0].tunables) if rows else []
        models = sorted({model for row in rows for model in row.seconds})
        columns: dict[str, tuple[str, list[Any]]] = {"rank": (INTEGER, [row.rank for row in rows])}
        for name in names:
            values = [row.tunables[name] for row in rows]
            whole = all(isinstance(value, int) for value in values)
            real = all(isinstance(value, (int, float)) for value in values)
            kind = INTEGER if whole else FLOAT if real else TEXT
            columns[name] = (kind, values if real else [str(value) for value in values])
        for model in models:
            columns[f"{model}_seconds"] = (FLOAT, [row.seconds.get(model) for row in rows])
        columns["coarse_seconds"] = (FLOAT, [row.coarse for row in rows])
        columns["expected_seconds"] = (FLOAT, [row.expected for row in rows])
        columns["measured_seconds"] = (FLOAT, [row.measured for row in rows])
        columns["limited_by"] = (TEXT, [row.limited_by for row in rows])
        columns["to_measure"] = (FLAG, [row.to_measure for row in rows])
        columns["refused"] = (TEXT, [row.refused for row in rows])
        columns["reason"] = (TEXT, [row.reason for row in rows])
        return frame(columns)


def tune(
    space: Path,
    profile: ProfileLike,
    *,
    models: Union[str, Sequence[str]] = "pipeline",
    draws: Optional[int] = None,
    seed: int = 1,
    top: int = 0,
    measured: Optional[Path] = None,
    budget: Optional[float] = None,
    journal: Optional[Path] = None,
    shard: tuple[int, int] = (1, 1),
    join: Sequence[Path] = (),
    threads: int = 0,
) -> Tuned:
    """Every configuration of a search space, predicted and ranked as ``occupipe tune`` does.

    Parameters
    ----------
    space
        A T1 file of the FAIR auto-tuning format, a file of KTT's loader, or a YAML file of ours.
    models
        The first one ranks.
    draws, seed
        So many configurations at random; None: all.
    top
        So many to measure (:attr:`Tuned.top`).
    measured
        Times of some configurations: T4, Kernel Tuner, KTT or CSV. They are predicted first, and
        one factor is fitted to them.
    budget
        Seconds: all configurations are predicted coarsely first, then as many as possible exactly,
        those that may be the best ahead of others. None: all exactly.
    journal
        A file that keeps what is done: the same call goes on with it.
    shard
        (2, 8): the second of eight parts alone, for as many processes or machines, each with a
        ``journal`` of its own: a call that any pool of :mod:`concurrent.futures` can map over.
    join
        Journals of shards: what they did is not predicted again.
    threads
        Of this machine; 0: one per core. The result does not depend on it.

    Ctrl-C ends it. Raises DeviceError where there is no compiler.
    """
    names = [models] if isinstance(models, str) else list(models)
    found = _core.tune(
        os.fspath(space),
        profile_of(profile),
        names,
        draws,
        seed,
        top,
        None if measured is None else os.fspath(measured),
        budget,
        "" if journal is None else os.fspath(journal),
        (shard[0], shard[1]),
        [os.fspath(one) for one in join],
        threads,
    )
    rows = []
    for row in found.rows:
        tunables = row.pop("configuration")
        rows.append(Configuration(tunables=tunables, **row))
    return Tuned(
        kernel=found.kernel,
        gpu=found.gpu,
        configurations=rows,
        in_space=found.configurations,
        importance=found.importance,
        clock_factor=found.clock_factor,
        clock_error=found.clock_error,
    )
