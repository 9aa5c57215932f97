"""Errors by date: constants from rows before a month, scored on the rows of the months after it.

Constants are those of the whole fit, moved by one Newton step to the rows before the month
(`fit.newton`), which is exact where times depend on them linearly. So a release that
changed a kernel, or a new family of models, shows as an error of its months.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from advisor.cost_model.uncertainty import IN_DECODE
from advisor.evidence.accuracy.shipped import OriginRow
from advisor.model.model import Floats
from lab.fit import newton
from lab.llama_cpp import APART, LlamaFit, Rows, left_out_with
from lab.row_errors import equal_weights, errors
from lab.spreads import OWN_WIDTHS, ends, widths

ORIGINS = (
    "2024-10", "2025-01", "2025-04", "2025-07", "2025-10", "2026-01", "2026-03", "2026-05",
    "2026-07", "2026-09",
)  # fmt: skip
"""Months from which rows are scored, each up to the next and the last without an end."""


def rolling(done: LlamaFit) -> Iterator[OriginRow]:
    """Scores of `ORIGINS`, with the widths of ranges from all rows."""
    rows, fit = done.rows, done.fit
    months = np.array([row.row.date[:7] for row in rows.timed])
    margins = _margins(done)
    scored = ~rows.read & ~np.isin(rows.column("build"), tuple(APART)) & (months != "")
    for origin, before in zip(ORIGINS, (*ORIGINS[1:], ""), strict=True):
        inside = scored & (months >= origin) & ((months < before) | (before == ""))
        if not inside.any():
            continue
        earlier = np.where((months == "") | (months < origin), fit.weights, 0.0)
        step = newton(fit.task.prior, fit.logs, fit.slopes, earlier, fit.residuals)
        off = fit.residuals - fit.slopes @ step
        yield _scored(origin, before, -off, inside, margins, rows)


def _margins(done: LlamaFit) -> tuple[Floats, Floats]:
    """Margins of the ranges of tokens by the fitted widths, shape (rows,)."""
    every = errors(done)
    usual = ~done.rows.read & np.isin(every.builds, OWN_WIDTHS, invert=True)
    return ends(every, widths(every.of(usual), IN_DECODE))


def _scored(
    origin: str,
    before: str,
    off: Floats,
    inside: npt.NDArray[np.bool_],
    margins: tuple[Floats, Floats],
    rows: Rows,
) -> OriginRow:
    """Score of the rows of some months; `off` is log(measured speed / predicted speed)."""
    below, above = margins
    publishers = np.array(left_out_with(rows))[inside]
    groups = np.array(rows.groups)[inside]
    error, width = np.abs(np.expm1(-off[inside])), np.exp(below + above)[inside]
    held = (off >= -below) & (off <= above)
    names = sorted(set(publishers.tolist()))
    dates = (row.row.date[:7] for row in rows.timed)
    return OriginRow(
        origin=origin,
        before=before,
        rows=int(inside.sum()),
        publishers=len(names),
        error=_three(np.median([np.median(error[publishers == name]) for name in names])),
        held=_three(np.average(held[inside], weights=equal_weights(publishers, groups))),
        width=_three(np.median([np.median(width[publishers == name]) for name in names])),
        newest=max(date for date in dates if date[:2] == "20"),
        source="python -m lab",
    )


def _three(number: object) -> float:
    return float(f"{float(number):.3g}")  # type: ignore[arg-type]  # a number of numpy
