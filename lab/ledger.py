"""Ledger: points, scores and the noise floor. `python -m lab.ledger` writes its tables."""

import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import TypeVar

import numpy as np

from advisor.catalog.accuracy_points import POINTS, AccuracyPoint
from advisor.catalog.csv_tables import read
from advisor.catalog.records import csv_text, like
from advisor.errors import InputError
from advisor.evidence.accuracy import scoring
from advisor.evidence.accuracy.fresh import constants_digest
from advisor.evidence.accuracy.months import TABLE as MONTHS
from advisor.evidence.accuracy.regimes import COVERAGE, CoverageRow
from advisor.evidence.accuracy.scoring import Ledger, Score, scores
from advisor.evidence.accuracy.text import stranger_scores
from lab import months, rounded, write
from lab.engines import SIMULATED
from lab.held_out import GENERATED
from lab.llama_cpp import APART, published, stated_tps
from lab.points import drafting, engine, llama_cpp, paged, tiers
from lab.points.llama_cpp import LlamaCppRun
from lab.published import publisher_of

# Noise floor: difference between two sources on the same GPU, model and format.
#
# No formula can be more exact than that.

NEAR = 512  # largest difference in context depth of two runs that are compared [tokens]


def noise_floor(runs: Iterable[LlamaCppRun]) -> scoring.Floor:
    """Comparison of GPU-resident runs of two sources with equal GPU, model and format."""
    alike: dict[Hashable, list[LlamaCppRun]] = {}
    for run in runs:
        if run.row.category == "resident" and run.row.tg_tps and run.case.build not in APART:
            alike.setdefault(_setting(run), []).append(run)
    by_setting = [list(_differences(same)) for same in alike.values()]
    middles = [np.median(differences) for differences in by_setting if differences]
    return scoring.Floor(
        pairs=sum(map(len, by_setting)),
        settings=len(middles),
        median=float(np.median(middles)) if middles else 0.0,
    )


def _setting(run: LlamaCppRun) -> Hashable:
    """Key of a GPU, model and format; models with equal layers and weights count as the same."""
    arch = run.case.model.architecture
    gpus = run.case.machine.gpus
    build = run.case.runtime.build
    return gpus[0].name, len(gpus), arch.layers, arch.params, run.case.model.format, build


def _differences(alike: Iterable[LlamaCppRun]) -> Iterator[float]:
    for pair in combinations(alike, 2):
        depths = [float(run.case.work.decode_depth) for run in pair]
        if publisher_of(pair[0].row) != publisher_of(pair[1].row) and np.ptp(depths) <= NEAR:
            slower, faster = sorted(stated_tps(run.row, GENERATED) for run in pair)
            yield faster / slower - 1.0


def ledger() -> Ledger:
    """Ledger of the shipped measurements; takes some seconds."""
    points = (
        *llama_cpp.points(),
        *llama_cpp.sweep_points(),
        *engine.of_frameworks(),
        *engine.points(),
        *drafting.points(),
        *engine.load_points(),
        *paged.points(),
        *tiers.points(),
    )
    return Ledger(
        points=points,
        scores=scores(points),
        floor=noise_floor(llama_cpp.runs(published())),
        simulated=scores(tuple(engine.points(SIMULATED)))[:-1],
        unseen=scoring.stranger_score("architectures left out", llama_cpp.unseen()),
        doubtful=tuple(llama_cpp.doubtful()),
    )


# Tables in which the program keeps them.


def coverage_row(score: Score) -> CoverageRow:
    """Row of one regime."""
    return CoverageRow(
        regime=score.regime,
        rows=score.rows,
        groups=score.groups,
        held=round(score.covered * score.rows),
        held_groups=rounded(score.group_covered, 3),
        median_error=rounded(score.median, 3),
        group_error=rounded(score.group_median, 3),
        width=rounded(score.width, 3),
        source="python -m lab.ledger",
    )


def tables(ledger: Ledger) -> Mapping[Path, str]:
    """Text of each file that the ledger is kept in."""
    scored = (_kept(AccuracyPoint, point, scored=True) for point in ledger.points)
    doubtful = (_kept(AccuracyPoint, point, scored=False) for point in ledger.doubtful)
    written = {
        COVERAGE: csv_text(map(coverage_row, ledger.scores)),
        POINTS: csv_text((*scored, *doubtful)),
        scoring.FLOOR: csv_text([_kept(scoring.Floor, ledger.floor)]),
        scoring.SIMULATED: csv_text(_kept(scoring.OwnScore, score) for score in ledger.simulated),
    }
    if ledger.unseen is not None:
        written[scoring.UNSEEN_SCORE] = csv_text([_kept(scoring.StrangerScore, ledger.unseen)])
    return written


Kept = TypeVar("Kept")


def _kept(record: type[Kept], source: object, /, digits: int = 6, **others: object) -> Kept:
    """Record with the fields of another one, its numbers with some digits."""
    values = vars(like(record, source, **others))
    long = {name: value for name, value in values.items() if isinstance(value, float)}
    return record(**{**values, **{name: rounded(value, digits) for name, value in long.items()}})


def history_table(ledger: Ledger) -> str:
    """Text of the file with the scores of today's constants, in place of their former ones, beside
    those of earlier constants.
    """
    day = datetime.now(UTC).date().isoformat()
    constants = constants_digest()
    if scoring.HISTORY.exists():
        earlier = read(scoring.HISTORY, scoring.HistoryRow)
    else:
        earlier = ()
    if ledger.unseen:
        unseen = [ledger.unseen]
    else:
        unseen = []
    today = (
        _kept(scoring.HistoryRow, score, digits=4, day=day, constants=constants, kind=score.name)
        for score in (*stranger_scores(ledger.points), *unseen)
    )
    return csv_text([*(row for row in earlier if row.constants != constants), *today])


def main() -> int:
    """Write the tables; returns the exit code."""
    today = ledger()
    written = {**tables(today), scoring.HISTORY: history_table(today), **of_commit(today)}
    return write(written)


def of_commit(ledger: Ledger) -> dict[Path, str]:
    """Table of scores by month with those of the present commit; none outside a repository."""
    with suppress(InputError):
        return {MONTHS: months.table_with(ledger.points)}
    return {}


if __name__ == "__main__":
    sys.exit(main())
