"""Text of the ledger: for the terminal, for README and for other programs."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from typing import Any

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint
from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.records import as_record
from advisor.evidence.accuracy import scoring
from advisor.evidence.accuracy.fresh import FreshScore, last_scores
from advisor.evidence.accuracy.regimes import ALL, REGIMES
from advisor.formatting import aligned, percent

# Scores on strangers' runs: groups by publisher and card, each predicted without its publisher.
#
# A person who asks is none of those whose runs were fitted. So the error of a kind of run is the
# median over publishers and cards, a single run counting as much as a sweep, and a range is judged
# by how many of these groups it holds.


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredPart:
    """One row of data/accuracy_parts.csv: points scored together; an empty cell takes all."""

    table: str  # "strangers", "by date" or "by age"
    name: str
    family: str  # of engines, as in data/regimes.csv; points of tokens alone belong to one
    regime: str  # pattern of the regime's name
    since: str  # first month of the run
    before: str  # month after the last
    youngest: float | None  # age of the model's architecture at the run [months]
    oldest: float | None  # age that it has not yet [months]
    most_runs: int | None  # points of the same publisher: 2 are the tokens and prompt of one run

    def has(self, point: AccuracyPoint, runs: Mapping[str, int]) -> bool:
        """Whether a point belongs to it, by the number of points of each publisher."""
        if self.family and point.regime not in _of_family(self.family):
            return False
        if self.regime and re.fullmatch(self.regime, point.regime) is None:
            return False
        if self.most_runs is not None and runs[point.publisher] > self.most_runs:
            return False
        in_months = self.since <= point.date[:7] < (self.before or "9999")
        if self.oldest is None:
            return in_months
        return in_months and (self.youngest or 0.0) <= _months_old(point) < self.oldest


@cache
def _of_family(family: str) -> frozenset[str]:
    return frozenset(regime.name for regime in REGIMES if regime.family == family)


PARTS = read(DATA / "accuracy_parts.csv", ScoredPart)


def stranger_scores(
    points: Sequence[AccuracyPoint], table: str = "strangers"
) -> tuple[scoring.StrangerScore, ...]:
    """Scores of the parts of a table that have points."""
    runs = Counter(point.publisher for point in points)
    parts = {
        part.name: [point for point in points if part.has(point, runs)]
        for part in PARTS
        if part.table == table
    }
    return tuple(scoring.stranger_score(name, inside) for name, inside in parts.items() if inside)


def newest(points: Iterable[AccuracyPoint]) -> str:
    """Month of the newest published figure."""
    return max(
        (point.date[:7] for point in points if point.published and point.date[:2] == "20"),
        default="",
    )


def _months_old(point: AccuracyPoint) -> float:
    """Months from the first appearance of a model's architecture to the run; below 0 if unknown."""
    seen = MONTH.match(point.first_seen)
    ran = MONTH.match(point.date)
    if seen is None or ran is None:
        return -1.0
    months = [int(match[1]) * 12 + int(match[2]) for match in (seen, ran)]
    return max(float(months[1] - months[0]), 0.0)


MONTH = re.compile(r"(20\d\d)-(\d\d)")


FRONT = (
    *(regime.name for regime in sorted(REGIMES, key=lambda row: row.front) if regime.front),
    ALL,
)
"""Regimes of the table in README: every placement, the prompt, and several users."""


def allowed(score: scoring.Score) -> str:
    """Words on the shares within range that chance allows."""
    return f"{100 * score.chance_low:.0f} to {percent(score.chance_high)}"


def best(score: scoring.Score) -> str:
    """Words on the best public formula of a regime: its errors, and the number of figures where it
    does not answer all.
    """
    peer = score.best_peer
    if peer is None:
        return "none"
    if peer.rows == score.rows:
        part = ""
    else:
        part = f", on {peer.rows} rows"
    return f"{peer.name}, {errors(peer)}{part}"


def errors(score: scoring.Score | scoring.PeerScore) -> str:
    """Median error, with the mean in brackets."""
    return f"{percent(score.median, 1)} ({percent(score.mean)})"


def floor_sentence(floor: scoring.Floor) -> str:
    """Difference between sources, in a sentence."""
    return (
        f"Two sources of the same card, model and format differ by {percent(floor.median)} at the "
        f"median ({floor.pairs} pairs of {floor.settings} settings): a figure midway is still "
        f"{percent(math.sqrt(1.0 + floor.median) - 1.0)} off both."
    )


FORMS: Mapping[str, Callable[[Any], str]] = {
    "": str,
    "share": percent,
    "exact share": lambda value: percent(value, 1),
    "signed share": lambda value: f"{100 * value:+.0f} %",
    "ratio": "{:.2f}".format,
    "chance": allowed,
    "best": best,
    "best median": lambda score: _best_median(score),
}
"""Ways to say a figure, or a whole score."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoreColumn:
    """One row of data/accuracy_columns.csv: a column of a table of scores."""

    table: str
    head: str
    field: str  # of a score; empty for all of it
    form: str  # key of `FORMS`
    form_beside: str  # of the whole score, in brackets; empty for none

    def cell(self, score: object) -> str:
        """Text of a score."""
        text = FORMS[self.form](getattr(score, self.field) if self.field else score)
        if self.form_beside:
            return f"{text} ({FORMS[self.form_beside](score)})"
        return text


@cache
def _columns() -> tuple[ScoreColumn, ...]:
    return read(DATA / "accuracy_columns.csv", ScoreColumn)


def _table(name: str, scores: Iterable[object]) -> list[list[str]]:
    """Heads and cells of a table."""
    columns = [column for column in _columns() if column.table == name]
    rows = ([column.cell(score) for column in columns] for score in scores)
    return [[column.head for column in columns], *rows]


def _markdown(heads: Sequence[str], *rows: Sequence[str]) -> Iterator[str]:
    """Table of a document."""
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def plain(ledger: scoring.Ledger) -> str:
    """Tables for a terminal."""
    if ledger.unseen:
        unseen = [ledger.unseen]
    else:
        unseen = []
    parts = [*scoring.by_card(ledger.points)]
    if ledger.doubtful:
        parts.append(scoring.with_doubtful(ledger.points, ledger.doubtful))
    strangers = (*stranger_scores(ledger.points), *unseen)
    tables = {
        "": _table("scores", ledger.scores),
        "Simulated, not measured": _table("scores", ledger.simulated),
        "By card, and with doubtful rows": _table("scores", parts),
        "Groups by publisher and card, predicted without the publisher": _table(
            "strangers", strangers
        ),
        "llama.cpp's family by the date of the run": _table(
            "strangers", stranger_scores(ledger.points, "by date")
        ),
        "llama.cpp's family by the age of the architecture": _table(
            "strangers", stranger_scores(ledger.points, "by age")
        ),
        "Constants from rows before a month, scored on those from it on": _table(
            "origins", read(scoring.ROLLING, scoring.OriginRow)
        ),
        "Farthest off: one source on one machine, two figures and more": _table(
            "worst", scoring.worst_groups(ledger.points)
        ),
        "Public formulas on the same rows, median error (mean); * not on all of them": [
            ["", *(peer.name[:14] for peer in PEERS)],
            *(_peer_cells(score) for score in ledger.scores if score.peers),
        ],
    }
    lines: list[str] = []
    for title, table in tables.items():
        lines += ["", title, ""] if title else []
        lines += aligned(table, right=range(1, len(table[0])))
    newest_figure = f"The newest figure is of {newest(ledger.points)}."
    return "\n".join((*lines, "", newest_figure, floor_sentence(ledger.floor)))


def _peer_cells(score: scoring.Score) -> list[str]:
    """Regime, and errors of each public formula there; * where not on all rows."""
    cells = {
        peer.name: errors(peer) + ("" if peer.rows == score.rows else "*") for peer in score.peers
    }
    return [score.regime, *(cells.get(peer.name, "") for peer in PEERS)]


def markdown(ledger: scoring.Ledger) -> str:
    """Whole table, with the difference between sources and the public formulas."""
    table = _markdown(*_table("document", (*ledger.scores, *ledger.simulated)))
    names = ", ".join(f"[{peer.name}]({peer.source}) ({peer.date})" for peer in PEERS)
    formulas = f"Public formulas, restated in `lab/peers.py` and scored on the same rows: {names}."
    return "\n".join((*table, "", floor_sentence(ledger.floor), "", formulas))


def front_page(ledger: scoring.Ledger) -> str:
    """Table of README: the regimes of `FRONT`, without the means and what chance allows."""
    by_name = {score.regime: score for score in ledger.scores}
    table = _markdown(*_table("front page", (by_name[name] for name in FRONT)))
    behind = ("", floor_sentence(ledger.floor), "", strangers_sentence(ledger))
    return "\n".join((fresh_sentence(last_scores()), "", OWN_FOLDS, "", *table, *behind))


OWN_FOLDS = (
    "All published figures, each predicted from constants that were fitted without its publisher, "
    "beside the best public formula on the same rows:"
)


def fresh_sentence(scores: Sequence[FreshScore]) -> str:
    """Sentence on the accuracy for rows that were new at their day, with the day."""
    day = date.fromisoformat(scores[0].day)
    told = "; ".join(
        f"{score.kind} {percent(score.error)} ({percent(score.held)})" for score in scores
    )
    return (
        f"On {day.day} {day:%B %Y}, {sum(score.rows for score in scores)} figures of other people "
        "were predicted before anything was fitted to them. By publisher and machine, the median "
        f"error was, and in brackets the share of figures in their range: {told}. A range should "
        "hold 80 %; ranges were widened after that."
    )


def _best_median(score: scoring.Score) -> str:
    peer = score.best_peer
    if peer is None:
        return "none"
    return f"{peer.name}, {percent(peer.median, 1)}"


TOLD = ("llama.cpp family, 2026", "other engines, 2026", "publishers with a single run")
"""Kinds of run in README's sentence."""


def strangers_sentence(ledger: scoring.Ledger) -> str:
    """Sentence on the accuracy for runs of strangers."""
    scores = [score for score in stranger_scores(ledger.points) if score.name in TOLD]
    told = "; ".join(
        f"{score.name}: {percent(score.error, 1)} off, {percent(score.held)} in range"
        for score in (*scores, *([ledger.unseen] if ledger.unseen else ()))
    )
    return (
        f"By publisher and card, each predicted without its publisher, at the median: {told}. The "
        f"newest figure is of {newest(ledger.points)}."
    )


def history_markdown(rows: Sequence[scoring.HistoryRow]) -> str:
    """Table of the first and the last constants, kind by kind."""
    first = rows[0]
    last = rows[-1]
    before = {row.kind: row for row in rows if row.constants == first.constants}
    now = [row for row in rows if row.constants == last.constants]
    told = (
        f"Interval score of the ranges (the lower the better: the width of a range as a logarithm, "
        f"and ten times the distance of a figure outside it), of the constants of {first.day} "
        f"(`{first.constants}`) and of {last.day} (`{last.constants}`), publishers left out."
    )
    heads, *old_cells = _table("history", (before.get(row.kind, row) for row in now))
    pairs = zip(old_cells, _table("history", now)[1:], strict=True)
    cells = ([new[0], *map(" to ".join, zip(old[1:], new[1:], strict=True))] for old, new in pairs)
    return "\n".join((told, "", *_markdown(heads, *cells)))


def record(ledger: scoring.Ledger) -> dict[str, Any]:
    """Ledger as plain data: shares as fractions, speeds in tokens/s."""

    def each(rows: Iterable[Any]) -> list[dict[str, Any]]:
        return [asdict(row) for row in rows]

    return {
        "regimes": each(ledger.scores),
        "simulated": each(ledger.simulated),
        "fresh": each(last_scores()),
        "strangers": each(stranger_scores(ledger.points)),
        "by_date": each(stranger_scores(ledger.points, "by date")),
        "by_age": each(stranger_scores(ledger.points, "by age")),
        "newest": newest(ledger.points),
        "by_card": each(scoring.by_card(ledger.points)),
        "worst_groups": each(scoring.worst_groups(ledger.points)),
        "doubtful": len(ledger.doubtful),
        "noise_floor": asdict(ledger.floor),
        "peers": each(PEERS),
        "points": [as_record("point", point) for point in ledger.points],
    }
