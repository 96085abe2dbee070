# SPDX-License-Identifier: MIT
"""Objects as pandas tables and as HTML for notebooks. What is unknown is <NA>, never 0 or NaN."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, Sequence, Tuple

from . import _core
from ._optional import need

if TYPE_CHECKING:
    import pandas

Columns = "dict[str, Tuple[str, list[Any]]]"

FLOAT, INTEGER, TEXT, FLAG = "Float64", "Int64", "string", "boolean"


def frame(columns: dict[str, tuple[str, list[Any]]], index: Optional[str] = None) -> pandas.DataFrame:
    """A table of nullable columns: name → (type, values); None becomes <NA>."""
    pd = need("pandas", "a table")
    made = pd.DataFrame({name: pd.array(values, dtype=kind) for name, (kind, values) in columns.items()})
    table: pandas.DataFrame = made.set_index(index) if index else made
    return table


def value_of(estimate: Optional[_core.Estimate]) -> Optional[float]:
    return None if estimate is None else estimate.value


def error_of(estimate: Optional[_core.Estimate]) -> Optional[float]:
    return None if estimate is None else estimate.std_error


def kind_of(estimate: Optional[_core.Estimate]) -> Optional[str]:
    return None if estimate is None else estimate.kind


def text_of(estimate: Optional[_core.Estimate]) -> str:
    return "" if estimate is None else str(estimate)


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    cells = "".join(f"<th>{html.escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
    )


def profile_table(profile: _core.Profile) -> pandas.DataFrame:
    rows = profile.instructions
    return frame(
        {
            "instruction": (TEXT, [row.name for row in rows]),
            "subsystem": (TEXT, [row.subsystem for row in rows]),
            "cpi": (FLOAT, [row.cpi.value for row in rows]),
            "cpi_std_error": (FLOAT, [row.cpi.std_error for row in rows]),
            "cpi_kind": (TEXT, [row.cpi.kind for row in rows]),
            "latency": (FLOAT, [value_of(row.latency) for row in rows]),
            "latency_std_error": (FLOAT, [error_of(row.latency) for row in rows]),
            "latency_kind": (TEXT, [kind_of(row.latency) for row in rows]),
            "source": (TEXT, [row.source for row in rows]),
            "reference": (TEXT, [row.reference or None for row in rows]),
        },
        index="instruction",
    )


def profile_html(profile: _core.Profile) -> str:
    caption = f"{profile.name}: {profile.cores} cores at {profile.clock_hz * 1e-6:.4g} MHz"
    return html_table(
        caption,
        ["instruction", "subsystem", "λ [cycles]", "Λ [cycles]", "source"],
        (
            [row.name, row.subsystem, str(row.cpi), text_of(row.latency), row.source]
            for row in profile.instructions
        ),
    )


def kernel_items(
    items: Sequence[Any], times: int, depth: int
) -> Iterator[tuple[_core.Instruction, int, int]]:
    for item in items:
        if isinstance(item, _core.Repeat):
            yield from kernel_items(item.body, times * item.count, depth + 1)
        else:
            yield item, times, depth


def kernel_rows(kernel: _core.Kernel) -> list[tuple[int, _core.Instruction, int, int]]:
    """(program, instruction, executions, loops around it) in the order of the text."""
    return [
        (number, *row)
        for number, program in enumerate(kernel.programs)
        for row in kernel_items(program.instructions, 1, 0)
    ]


def kernel_table(kernel: _core.Kernel) -> pandas.DataFrame:
    rows = kernel_rows(kernel)
    return frame(
        {
            "program": (INTEGER, [row[0] for row in rows]),
            "id": (TEXT, [row[1].id for row in rows]),
            "op": (TEXT, [row[1].op for row in rows]),
            "kind": (TEXT, [row[1].kind for row in rows]),
            "after": (TEXT, [", ".join(row[1].after) for row in rows]),
            "executions": (INTEGER, [row[2] for row in rows]),
            "loops": (INTEGER, [row[3] for row in rows]),
            "at": (TEXT, [row[1].at or None for row in rows]),
        }
    )


def kernel_html(kernel: _core.Kernel) -> str:
    rows = kernel_rows(kernel)
    shown = rows[:60]
    caption = kernel.name if len(shown) == len(rows) else f"{kernel.name}: the first 60 of {len(rows)}"
    return html_table(
        caption,
        ["program", "id", "instruction", "after", "executions"],
        (
            [str(program), "\u2003" * depth + item.id, item.op, ", ".join(item.after), str(times)]
            for program, item, times, depth in shown
        ),
    )


def fit_table(fit: _core.Fit) -> pandas.DataFrame:
    rows = fit.instructions
    return frame(
        {
            "instruction": (TEXT, [row.name for row in rows]),
            "subsystem": (TEXT, [row.subsystem or None for row in rows]),
            "cpi": (FLOAT, [value_of(row.cpi) for row in rows]),
            "cpi_std_error": (FLOAT, [error_of(row.cpi) for row in rows]),
            "cpi_kind": (TEXT, [kind_of(row.cpi) for row in rows]),
            "latency": (FLOAT, [value_of(row.latency) for row in rows]),
            "latency_std_error": (FLOAT, [error_of(row.latency) for row in rows]),
            "latency_kind": (TEXT, [kind_of(row.latency) for row in rows]),
            "schedulers": (INTEGER, [row.schedulers for row in rows]),
            "residual_scale": (FLOAT, [row.residual_scale for row in rows]),
            "rows": (INTEGER, [row.rows for row in rows]),
            "rejected": (TEXT, [row.rejected or None for row in rows]),
            "reason": (TEXT, [row.reason or None for row in rows]),
        },
        index="instruction",
    )


def fit_html(fit: _core.Fit) -> str:
    return html_table(
        f"Fit of {fit.profile.name}",
        ["instruction", "λ per core [cycles]", "Λ [cycles]", "note"],
        (
            [row.name, text_of(row.cpi), text_of(row.latency), row.reason or "; ".join(row.notes)]
            for row in fit.instructions
        ),
    )
