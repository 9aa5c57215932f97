"""Errors by date: constants from rows before a month, scored on the rows of the months after it.

    python -m lab.rolling

Constants, widths of ranges and counts of evidence are of rows before the month alone: each month's
fit begins where that of the month before it ended. So a release that changed a kernel, or a new
family of models, shows as an error of its months. Parameters, priors and traits were chosen with
later rows in sight. It takes minutes, so `make soak` runs it and a fit does not.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import compress

import numpy as np
import pandas as pd

from advisor.catalog.records import csv_text
from advisor.cost_model.uncertainty import Margins
from advisor.evidence.accuracy.scoring import ROLLING, OriginRow
from advisor.model.model import Floats
from lab import llama_cpp, rounded, write
from lab.fit import Problem, best_values, fit_at, without_each
from lab.spreads import OWN_WIDTHS, Mask, equal_weights, errors, half_widths, widths
from lab.stack import Cases

ORIGINS = (
    "2024-10", "2025-01", "2025-04", "2025-07", "2025-10", "2026-01", "2026-03", "2026-05",
    "2026-07", "2026-09",
)  # fmt: skip
"""Months from which rows are scored, each up to the next and the last without an end."""


def rolling(rows: Cases) -> Iterator[OriginRow]:
    """Scores of `ORIGINS`."""
    months = np.array([row.row.date[:7] for row in rows.timed])
    scored = ~rows.read & ~np.isin(rows.column("build"), tuple(llama_cpp.APART)) & (months != "")
    whole = llama_cpp.task(rows)
    logs = None
    for origin, before in zip(ORIGINS, (*ORIGINS[1:], ""), strict=True):
        earlier = months < origin
        known, logs = best_values(
            replace(whole, weights=np.where(earlier, whole.weights, 0.0)), logs, llama_cpp.NEAR
        )
        inside = scored & ~earlier & ((months < before) | (before == ""))
        if inside.any():
            done = _before(rows, known, logs, earlier)
            half = _half_widths(done, earlier)
            yield _scored(origin, before, -done.fit.residuals, inside, half, rows)


def _before(rows: Cases, known: Problem, logs: Floats, earlier: Mask) -> llama_cpp.LlamaFit:
    """Fit to earlier rows, with these predicted without their publisher by one Newton step."""
    fit = fit_at(known, logs)
    own = np.tile(logs, (len(rows.timed), 1))
    clusters = np.array(llama_cpp.left_out_with(rows))[earlier].tolist()
    slopes, weights, off = (part[earlier] for part in (fit.slopes, fit.weights, fit.residuals))
    own[earlier] = without_each(known.prior, logs, slopes, weights, off, clusters)
    predicted = rows.predicted(known.values(own))
    return llama_cpp.LlamaFit(fit=fit, predicted=predicted, without_kinds=predicted)


def _half_widths(done: llama_cpp.LlamaFit, earlier: Mask) -> Floats:
    """Half widths of the ranges of tokens by those of earlier rows, shape (rows,)."""
    rows = done.fit.task.cases
    every = errors(done, llama_cpp.side_by_side(tuple(compress(rows.timed, earlier))))
    usual = earlier & ~rows.read & np.isin(every.builds, OWN_WIDTHS, invert=True)
    return half_widths(every, widths(every.of(usual), Margins.IN_DECODE))


def _scored(
    origin: str,
    before: str,
    off: Floats,
    inside: Mask,
    half: Floats,
    rows: Cases,
) -> OriginRow:
    """Score of the rows of some months; `off` is log(measured speed / predicted speed)."""
    publishers = np.array(llama_cpp.left_out_with(rows))
    groups = np.array(rows.groups)
    held = np.abs(off) <= half
    weights = equal_weights(publishers[inside], groups[inside])
    each = pd.DataFrame({"error": np.abs(np.expm1(-off)), "width": np.exp(2.0 * half)})[inside]
    middle = each.groupby(publishers[inside]).median()
    dates = (row.row.date[:7] for row in rows.timed)
    return OriginRow(
        origin=origin,
        before=before,
        rows=len(each),
        publishers=len(middle),
        error=rounded(middle.error.median(), 3),
        held=rounded(np.average(held[inside], weights=weights), 3),
        width=rounded(middle.width.median(), 3),
        newest=max(date for date in dates if date[:2] == "20"),
        source="python -m lab.rolling",
    )


def main() -> int:
    """Write data/generated/rolling_origin.csv; returns the exit code."""
    return write({ROLLING: csv_text(list(rolling(llama_cpp.rows_of(llama_cpp.published()))))})


if __name__ == "__main__":
    sys.exit(main())
