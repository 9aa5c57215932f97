"""Forecasts judged: predictions of earlier days beside figures that were measured after them.

    python -m lab.forecasts

data/generated/forecasts.csv holds predictions with their day (`python -m benchmarks.forecasts`),
and docs/accuracy.md the digest of each day's lines, so that none can be changed unseen. A figure
judges a forecast of the same card, model and format where it was published in a later month, or on
a later day: no constant of the forecast can have known it.
"""

import csv
import hashlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.records import csv_text
from advisor.errors import AdvisorError
from advisor.evidence.published.case import Case
from advisor.evidence.published.row import PublishedRow
from advisor.machine.catalog import GPUS
from advisor.model import resolve
from lab import rounded, write
from lab.llama_cpp import case_of, published

FORECASTS = DATA / "generated/forecasts.csv"
SCORES = DATA / "generated/forecast_scores.csv"
DAY = 10  # characters of a whole date; shorter ones are of a month or a year
SHALLOW = 256.0  # largest depth of a run that is like a forecast's [tokens]


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """One prediction; the fields are the columns of forecasts.csv."""

    day: str  # day of the prediction
    gpu: str
    model: str
    format: str
    tg_tps: float | None  # a token's speed, and its 80 % range [tokens/s]
    tg_low: float | None
    tg_high: float | None
    pp_tps: float | None  # a prompt's [tokens/s]
    pp_low: float | None
    pp_high: float | None
    note: str  # why there is none


@dataclass(frozen=True, kw_only=True)
class JudgedForecast:
    """A forecast beside a later figure; fields as the columns of forecast_scores.csv."""

    day: str  # day of the forecast
    gpu: str
    model: str
    format: str
    id: str  # id of the row that judges it
    date: str  # date of the row
    measured: float  # measured speed of tokens [tokens/s]
    predicted: float  # predicted speed [tokens/s]
    held: bool  # whether the range of that day holds it


def digest(day: str) -> str:
    """Digest of a day's lines in forecasts.csv, as docs/accuracy.md states it."""
    with FORECASTS.open(encoding="utf-8", newline="") as file:
        lines = [",".join(row) for row in csv.reader(file) if row and row[0] == day]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def later(date: str, day: str) -> bool:
    """Whether a figure of a date, a day or a month, was surely measured after a day."""
    return date[:DAY] > day if len(date) >= DAY else date > day[: len(date)]


def judged(rows: Iterable[PublishedRow]) -> Iterator[JudgedForecast]:
    """Forecasts beside the figures that were published after them."""
    known = _by_setting(read(FORECASTS, Forecast))
    for row in rows:
        case = case_of(row)
        if case is None or not _like_a_forecast(row, case):
            continue
        gpus = case.machine.gpus
        key = (gpus[0].name, case.model.name, case.model.format.upper())
        for forecast in known.get(key, ()):
            if later(row.date, forecast.day):
                yield _judged(forecast, row)


def _judged(forecast: Forecast, row: PublishedRow) -> JudgedForecast:
    measured = float(row.tg_tps or 0.0)
    low = float(forecast.tg_low or 0.0)
    high = float(forecast.tg_high or 0.0)
    return JudgedForecast(
        day=forecast.day,
        gpu=forecast.gpu,
        model=forecast.model,
        format=forecast.format,
        id=row.id,
        date=row.date,
        measured=measured,
        predicted=rounded(forecast.tg_tps, 6),
        held=low <= measured <= high,
    )


def _like_a_forecast(row: PublishedRow, case: Case) -> bool:
    """Whether a row is a plain run of llama.cpp on one card, as forecasts are."""
    alone = len(case.machine.gpus) == 1 and float(case.work.users) == 1.0
    plain = row.category == "resident" and not row.doubtful and bool(row.tg_tps)
    shallow = float(case.work.prompt) <= SHALLOW
    return plain and alone and shallow and case.runtime.key == "llama.cpp"


def _by_setting(
    forecasts: Sequence[Forecast],
) -> Mapping[tuple[str, str, str], Sequence[Forecast]]:
    """Forecasts by card, model and format, without those that gave no speed."""
    known = defaultdict[tuple[str, str, str], list[Forecast]](list)
    for forecast in forecasts:
        if forecast.tg_tps:
            model = _model(forecast.model, forecast.format)
            known[_card(forecast.gpu), model, forecast.format.upper()].append(forecast)
    return known


@cache
def _card(name: str) -> str:
    return GPUS.named(name).row.name


@cache
def _model(name: str, form: str) -> str:
    try:
        return resolve.find(name, form).model.name
    except AdvisorError:
        return name


def main() -> int:
    """Write the scores; returns the exit code."""
    pairs = list(judged(published()))
    if not pairs:
        sys.stdout.write("No figure is dated after a forecast yet.\n")
        return 0
    return write({SCORES: csv_text(pairs)})


if __name__ == "__main__":
    sys.exit(main())
