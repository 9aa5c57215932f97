"""Ledger: points, scores and the noise floor. `python -m lab.ledger` writes its tables."""

import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from advisor.catalog.accuracy_points import POINTS, AccuracyPoint
from advisor.catalog.csv_tables import DATA, as_text, read
from advisor.catalog.records import like
from advisor.evidence.accuracy import scoring
from advisor.evidence.accuracy.regimes import COVERAGE, CoverageRow
from advisor.evidence.accuracy.scoring import OwnScore, Score, StrangerScore, scores, stranger_score
from advisor.evidence.accuracy.text import stranger_scores
from lab import rounded, write
from lab.held_out import GENERATED
from lab.llama_cpp import APART, published, stated_tps
from lab.points import drafting, engine, llama_cpp, paged
from lab.points.llama_cpp import LlamaCppRun
from lab.published import publisher_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Noise floor: difference between two sources on the same GPU, model and format.
#
# No formula can be more exact than that.

NEAR = 512
"""Largest difference in context depth of two runs that are compared [tokens]."""


def noise_floor(runs: Iterable[LlamaCppRun]) -> scoring.Floor:
    """Comparison of GPU-resident runs of two sources with equal GPU, model and format."""
    alike: dict[Hashable, list[LlamaCppRun]] = {}
    for run in runs:
        if run.row.category == "resident" and run.row.tg_tps and run.case.build not in APART:
            alike.setdefault(_setting(run), []).append(run)
    apart_by_key = {key: list(_differences(same)) for key, same in alike.items()}
    every = [difference for differences in apart_by_key.values() for difference in differences]
    middles = [np.median(differences) for differences in apart_by_key.values() if differences]
    return scoring.Floor(
        pairs=len(every),
        settings=sum(bool(differences) for differences in apart_by_key.values()),
        median=float(np.median(middles)) if middles else 0.0,
    )


def _setting(run: LlamaCppRun) -> Hashable:
    """Key of a GPU, model and format; models with equal layers and weights count as the same."""
    arch, gpus = run.case.model.architecture, run.case.machine.gpus
    build = run.case.runtime.build
    return gpus[0].name, len(gpus), arch.layers, arch.params, run.case.model.format, build


def _differences(alike: Iterable[LlamaCppRun]) -> Iterable[float]:
    for first, other in combinations(alike, 2):
        apart = abs(float(first.case.work.decode_depth) - float(other.case.work.decode_depth))
        if publisher_of(first.row) != publisher_of(other.row) and apart <= NEAR:
            slower, faster = sorted(stated_tps(run.row, GENERATED) for run in (first, other))
            yield faster / slower - 1.0


def ledger() -> scoring.Ledger:
    """Ledger of the shipped measurements; takes some seconds."""
    points = (
        *llama_cpp.points(),
        *llama_cpp.sweep_points(),
        *engine.of_frameworks(),
        *engine.points(),
        *drafting.points(),
        *engine.load_points(),
        *paged.points(),
    )
    return scoring.Ledger(
        points=points,
        scores=scores(points),
        floor=noise_floor(llama_cpp.runs(published())),
        simulated=scores(tuple(engine.simulated()))[:-1],
        unseen=stranger_score("architectures left out", llama_cpp.unseen()),
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


def points_table(ledger: scoring.Ledger) -> str:
    """Text of data/generated/accuracy_points.csv."""
    kept = ((True, ledger.points), (False, ledger.doubtful))
    return as_text(
        _kept(AccuracyPoint, point, scored=scored) for scored, points in kept for point in points
    )


def tables(ledger: scoring.Ledger) -> Mapping[Path, str]:
    """Text of each file that the ledger is kept in."""
    written = {
        COVERAGE: as_text(map(coverage_row, ledger.scores)),
        POINTS: points_table(ledger),
        scoring.FLOOR: as_text([_kept(scoring.Floor, ledger.floor)]),
        scoring.SIMULATED: as_text(_kept(OwnScore, score) for score in ledger.simulated),
    }
    if ledger.unseen is not None:
        written[scoring.UNSEEN_SCORE] = as_text([_kept(StrangerScore, ledger.unseen)])
    return written


Kept = TypeVar("Kept", bound="DataclassInstance")


def _kept(record: type[Kept], source: object, /, digits: int = 6, **others: object) -> Kept:
    """Record with the fields of another one, its numbers with some digits."""
    made = like(record, source, **others)
    long = {name: value for name, value in vars(made).items() if isinstance(value, float)}
    return replace(made, **{name: rounded(value, digits) for name, value in long.items()})


# Scores of today's constants beside those of earlier ones.

CONSTANTS = (DATA / "generated/efficiency.csv", DATA / "generated/engine_kernels.csv")
"""Files of the constants that a prediction depends on."""


def history_table(ledger: scoring.Ledger) -> str:
    """Text of the file with the scores of today's constants, in place of their former ones."""
    today = list(_today(ledger))
    earlier = read(scoring.HISTORY, scoring.HistoryRow) if scoring.HISTORY.exists() else ()
    before = [row for row in earlier if row.constants != today[0].constants]
    return as_text([*before, *today])


def _today(ledger: scoring.Ledger) -> Iterator[scoring.HistoryRow]:
    content = b"".join(path.read_bytes() for path in CONSTANTS)
    day, constants = datetime.now(UTC).date().isoformat(), sha256(content).hexdigest()[:8]
    unseen = [ledger.unseen] if ledger.unseen else []
    for score in (*stranger_scores(ledger.points), *unseen):
        yield _kept(
            scoring.HistoryRow, score, digits=4, day=day, constants=constants, kind=score.name
        )


def main() -> int:
    """Write the tables; returns the exit code."""
    today = ledger()
    return write({**tables(today), scoring.HISTORY: history_table(today)})


if __name__ == "__main__":
    sys.exit(main())
