# SPDX-License-Identifier: MIT
"""Raw measurements: what ``occupipe measure`` wrote, as columns."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import InputError
from ._tables import FLOAT, INTEGER, TEXT, frame, html_table

if TYPE_CHECKING:
    import pandas

PathLike = Union[str, "os.PathLike[str]"]
Mask = Union["npt.NDArray[np.bool_]", Sequence[bool], slice, Sequence[int], "npt.NDArray[np.int64]"]


class Measurements:
    """Rows of one or more runs on one device: one repetition of one point each.

    >>> runs = Measurements.load("gpu.json")               # doctest: +SKIP
    >>> runs.where(subject="fma.f32").cycles.min()         # doctest: +SKIP

    Columns are NumPy arrays of shape (rows,). Where a number may be unknown the column is a
    masked array: under the mask there is no measurement, not a zero.
    """

    def __init__(self, file: _core.MeasurementFile) -> None:
        self._file = file

    @classmethod
    def load(cls, path: PathLike) -> Measurements:
        """Reads a file (Google Benchmark's JSON). Raises InputError with file, line and key."""
        return cls(_core.MeasurementFile.read(Path(path)))

    @classmethod
    def parse(cls, text: str, name: str = "<text>") -> Measurements:
        """The same from text; ``name`` is for messages."""
        return cls(_core.MeasurementFile.parse(text, name))

    @property
    def path(self) -> str:
        """Where it was read from."""
        return self._file.path

    @property
    def context(self) -> dict[str, str]:
        """Device facts and provenance, as text. A copy: assign it to change it."""
        return self._file.context

    @context.setter
    def context(self, value: dict[str, str]) -> None:
        self._file.context = value

    @property
    def subjects(self) -> list[str]:
        """What was measured: instructions and mixes, in order of first appearance."""
        return self._file.subjects

    @property
    def rows(self) -> tuple[_core.MeasurementRow, ...]:
        """Every row as an object; columns are faster."""
        return self._file.rows

    def __len__(self) -> int:
        return len(self._file)

    def __repr__(self) -> str:
        return f"<Measurements '{self.path}': {len(self)} rows of {len(self.subjects)} subjects>"

    # Columns.

    @property
    def subject(self) -> npt.NDArray[np.str_]:
        """'fma.f32' or 'mix(fma.f32*8,cos.approx.f32)' of each row."""
        return np.asarray(self._file.subject_column(), dtype=np.str_)

    def _shape(self, name: str) -> npt.NDArray[np.int64]:
        column: npt.NDArray[np.int64] = self._file.shapes()[name]
        return column

    @property
    def group_warps(self) -> npt.NDArray[np.int64]:
        """Warps of one group."""
        return self._shape("group_warps")

    @property
    def concurrent_groups(self) -> npt.NDArray[np.int64]:
        """Groups on one core at once."""
        return self._shape("concurrent_groups")

    @property
    def chains(self) -> npt.NDArray[np.int64]:
        """Independent dependent chains per warp."""
        return self._shape("chains")

    @property
    def depth(self) -> npt.NDArray[np.int64]:
        """Instructions per chain per warp."""
        return self._shape("depth")

    @property
    def repetition(self) -> npt.NDArray[np.int64]:
        """Number of the repetition, from 0 on."""
        return self._shape("repetition")

    @property
    def in_flight(self) -> npt.NDArray[np.int64]:
        """M = warps × chains: instructions in flight on one core."""
        shapes = self._file.shapes()
        product: npt.NDArray[np.int64] = (
            shapes["group_warps"] * shapes["concurrent_groups"] * shapes["chains"]
        )
        return product

    def counter(self, name: str) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
        """Any counter of the rows; masked where a row failed or has none of this name."""
        values, unknown = self._file.counter_column(name)
        return np.ma.MaskedArray(values, mask=unknown)

    @property
    def cycles(self) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
        """Core cycles of the whole run; masked where the device reports none."""
        return self.counter("cycles")

    @property
    def clock_hz(self) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
        """Core clock during the row [Hz]; masked where it was not measured."""
        return self.counter("clock_hz")

    @property
    def seconds(self) -> np.ma.MaskedArray[Any, np.dtype[np.float64]]:
        """The device's own event timer [s]; masked where the row failed."""
        values, unknown = self._file.seconds_column()
        return np.ma.MaskedArray(values, mask=unknown)

    # Parts.

    def __getitem__(self, which: Mask) -> Measurements:
        """The rows of a mask (shape (rows,)), of a slice, or at places."""
        places = np.arange(len(self), dtype=np.int64)[np.asarray(which) if not isinstance(which, slice) else which]
        return Measurements(self._file.selected(np.atleast_1d(places).tolist()))

    def where(self, subject: Optional[str] = None, **shape: int) -> Measurements:
        """Rows of one subject and shape: ``where("fma.f32", chains=1, group_warps=4)``."""
        kept = np.ones(len(self), dtype=np.bool_)
        if subject is not None:
            kept &= self.subject == subject
        columns = self._file.shapes()
        for name, value in shape.items():
            if name not in columns:
                raise InputError(f"{name}: is not one of {', '.join(columns)}", key=name)
            kept &= columns[name] == value
        return self[kept]

    # Files.

    def to_json(self) -> str:
        """The text of a file: Google Benchmark's JSON. Reading it gives equal rows."""
        rows = [_json_row(row) for row in self.rows]
        return json.dumps({"context": self.context, "benchmarks": rows}, indent=1, allow_nan=False) + "\n"

    def save(self, path: PathLike, *, overwrite: bool = False) -> None:
        """Writes the file at once or not at all. InputError where it exists and overwrite is False."""
        text = self.to_json()
        self.parse(text, str(path))  # what could not be read is not written
        target = Path(path)
        if target.exists() and not overwrite:
            raise InputError(f"{target}: exists; overwrite=True replaces it", file=str(target))
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".partial")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(name, 0o644)
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise

    def check(self) -> None:
        """Raises InputError where the rows break a rule of docs/reference/file-formats/."""
        self.parse(self.to_json(), self.path)

    # Tables.

    def to_pandas(self) -> pandas.DataFrame:
        """One row per repetition; what is unknown is <NA>. Needs pandas."""
        rows = self.rows
        return frame(
            {
                "subject": (TEXT, [row.subject for row in rows]),
                "group_warps": (INTEGER, [row.group_warps for row in rows]),
                "concurrent_groups": (INTEGER, [row.concurrent_groups for row in rows]),
                "chains": (INTEGER, [row.chains for row in rows]),
                "depth": (INTEGER, [row.depth for row in rows]),
                "repetition": (INTEGER, [row.repetition for row in rows]),
                "cycles": (FLOAT, [row.cycles for row in rows]),
                "clock_hz": (FLOAT, [row.clock_hz for row in rows]),
                "seconds": (FLOAT, [row.seconds for row in rows]),
                "error": (TEXT, [row.error for row in rows]),
            }
        )

    def _repr_html_(self) -> str:
        subject = self.subject
        return html_table(
            f"{self.path}: {len(self)} rows on {self.context.get('device', 'an unknown device')}",
            ["subject", "rows", "failed"],
            (
                [
                    name,
                    str(int((subject == name).sum())),
                    str(sum(row.error is not None for row in self.rows if row.subject == name)),
                ]
                for name in self.subjects
            ),
        )


def _json_row(row: _core.MeasurementRow) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": row.name,
        "run_name": row.name,
        "run_type": "iteration",
        "repetition_index": row.repetition,
        "iterations": 1,
    }
    seconds = row.seconds
    made.update({"real_time": 0.0 if seconds is None else seconds, "time_unit": "s"})
    if row.error is not None:
        made.update({"error_occurred": True, "error_message": row.error})
    made.update(row.counters)
    return made
