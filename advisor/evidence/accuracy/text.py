"""Text of the ledger: for the terminal, for README and for other programs."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from advisor.catalog.accuracy_points import PEERS, AccuracyPoint
from advisor.catalog.csv_tables import read
from advisor.catalog.records import as_record
from advisor.evidence.accuracy.regimes import ALL, REGIMES
from advisor.evidence.accuracy.scoring import (
    GroupScore,
    PeerScore,
    Score,
    StrangerScore,
    by_card,
    stranger_score,
    with_doubtful,
    worst_groups,
)
from advisor.evidence.accuracy.shipped import ROLLING, Floor, HistoryRow, Ledger, OriginRow
from advisor.formatting import percent

# Scores on strangers' runs: groups by publisher and card, each predicted without its publisher.
#
# A person who asks is none of those whose runs were fitted. So the error of a kind of run is the
# median over publishers and cards, a single run counting as much as a sweep, and a range is judged
# by how many of these groups it holds.

FEW_RUNS = 2
"""Most figures of a publisher who counts as one with a single run: its tokens and its prompt."""
IN_LLAMA_CPP = (
    "resident, dense", "resident, experts", "resident, deep context", "CPU alone, RAM stated",
    "CPU alone", "dense split", "dense split, RAM from its slowest row", "experts in RAM",
    "experts in RAM, RAM stated", "several users, CPU alone", "several users, resident",
)  # fmt: skip
"""Regimes of tokens in llama.cpp and its forks."""
ENGINES = ("serving engines", "MLX", "resident, other engines")
"""Regimes of tokens in other engines."""
BY_NAME = (
    "experts in RAM, RAM stated", "prompt, resident", "prompt, deep context",
    "prompt, experts in RAM", "prompt, CPU alone",
)  # fmt: skip
"""Regimes that are scored by themselves."""


def stranger_scores(points: Sequence[AccuracyPoint]) -> Iterator[StrangerScore]:
    """Scores by kind of run, without those that have no figure."""
    runs = Counter(point.publisher for point in points)
    ours = [point for point in points if point.regime in IN_LLAMA_CPP]
    newer = [point for point in points if point.date[:4] == "2026"]
    kinds = {
        "llama.cpp family, 2026": [each for each in newer if each.regime in IN_LLAMA_CPP],
        "other engines, 2026": [each for each in newer if each.regime in ENGINES],
        "publishers with a single run": [each for each in ours if runs[each.publisher] <= FEW_RUNS],
        "llama.cpp family, 2024 and 2025": [
            each for each in ours if each.date[:4] in ("2024", "2025")
        ],
        "experts in RAM": [each for each in points if each.regime.startswith("experts in RAM")],
        **{name: [each for each in points if each.regime == name] for name in BY_NAME},
        "all": points,
    }
    return _scores(kinds.items())


def _scores(
    parts: Iterable[tuple[str, Sequence[AccuracyPoint]]],
) -> Iterator[StrangerScore]:
    return (stranger_score(name, points) for name, points in parts if points)


HALVES = (
    ("before 2025", "2000", "2025-01"), ("2025, first half", "2025-01", "2025-07"),
    ("2025, second half", "2025-07", "2026-01"), ("2026, to April", "2026-01", "2026-05"),
    ("2026, May to July", "2026-05", "2026-08"), ("2026, from August", "2026-08", "9999"),
)  # fmt: skip
"""Periods of the date of a run: name, first month, and the month after the last."""
AGES = (("younger than 3 months", 0, 3), ("3 to 12 months", 3, 12), ("older", 12, 1000))
"""Ages of a model's architecture on the day of a run: name, and months from and before."""


def by_date(points: Sequence[AccuracyPoint]) -> Iterator[StrangerScore]:
    """Scores of llama.cpp's family by the date of the run."""
    ours = [point for point in points if point.regime in IN_LLAMA_CPP]
    return _scores(
        (name, [point for point in ours if first <= point.date[:7] < before])
        for name, first, before in HALVES
    )


def by_age(points: Sequence[AccuracyPoint]) -> Iterator[StrangerScore]:
    """Scores of llama.cpp's family by the age of the model's architecture at the run."""
    ours = [point for point in points if point.regime in IN_LLAMA_CPP]
    return _scores(
        (name, [point for point in ours if first <= _months_old(point) < before])
        for name, first, before in AGES
    )


def newest(points: Iterable[AccuracyPoint]) -> str:
    """Month of the newest published figure."""
    return max(
        (point.date[:7] for point in points if point.published and point.date[:2] == "20"),
        default="",
    )


def _months_old(point: AccuracyPoint) -> float:
    """Months from the first appearance of a model's architecture to the run; below 0 if unknown."""
    seen, ran = MONTH.match(point.first_seen), MONTH.match(point.date)
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

PLAIN = "{:<38} {:>5} {:>7} {:>8} {:>9} {:>8} {:>8} {:>9} {:>9} {:>12} {:>6}  {}"


def allowed(score: Score) -> str:
    """Shares within range that chance allows, in words."""
    return f"{100 * score.chance_low:.0f} to {percent(score.chance_high)}"


def best(score: Score) -> str:
    """Best public formula of a regime with its errors, and the number of figures where not all."""
    peer = score.best_peer
    if peer is None:
        return "none"
    part = "" if peer.rows == score.rows else f", on {peer.rows} rows"
    return f"{peer.name}, {errors(peer)}{part}"


def errors(score: Score | PeerScore) -> str:
    """Median error, with the mean in brackets."""
    return f"{percent(score.median, 1)} ({percent(score.mean)})"


def floor_sentence(floor: Floor) -> str:
    """Difference between sources, in a sentence."""
    return (
        f"Two sources of the same card, model and format differ by {percent(floor.median)} at the "
        f"median ({floor.pairs} pairs of {floor.settings} settings): a figure midway is still "
        f"{percent(math.sqrt(1.0 + floor.median) - 1.0)} off both."
    )


def plain(ledger: Ledger) -> str:
    """Tables for a terminal."""
    heads = (
        *("rows", "groups", "median", "by group", "mean", "in 25 %"),
        *("in range", "by group", "chance", "width", "best public formula"),
    )
    lines = [PLAIN.format("", *heads), *(_plain(score) for score in ledger.scores)]
    lines += ["", "Simulated, not measured", ""]
    lines += [_plain(score) for score in ledger.simulated]
    parts = [*by_card(ledger.points)]
    if ledger.doubtful:
        parts.append(with_doubtful(ledger.points, ledger.doubtful))
    lines += ["", *(_plain(score) for score in parts)]
    lines += ["", *strangers_lines(ledger)]
    lines += ["", "Farthest off: one source on one machine, two figures and more", ""]
    lines += [_worst(group) for group in worst_groups(ledger.points)]
    names = [peer.name for peer in PEERS]
    lines += ["", "Public formulas on the same rows, median error (mean); * not on all of them", ""]
    lines += [" " * 38 + "".join(f"{name[:14]:>16}" for name in names)]
    lines += [_plain_peers(score, names) for score in ledger.scores if score.peers]
    return "\n".join((*lines, "", floor_sentence(ledger.floor)))


STRANGERS = "{:<38} {:>5} {:>7} {:>11} {:>8} {:>9} {:>8} {:>10}"


def strangers_lines(ledger: Ledger) -> list[str]:
    """Scores by publisher and card, by date, by age of the architecture, and by origin."""
    heads = ("rows", "groups", "publishers", "error", "in range", "width", "interval")
    unseen = [ledger.unseen] if ledger.unseen else []
    parts = (
        ("Groups by publisher and card, predicted without the publisher", (
            *stranger_scores(ledger.points), *unseen)),
        ("llama.cpp's family by the date of the run", by_date(ledger.points)),
        ("llama.cpp's family by the age of the architecture", by_age(ledger.points)),
    )  # fmt: skip
    lines = []
    for title, scores in parts:
        lines += [title]
        lines += [STRANGERS.format("", *heads)]
        lines += [
            STRANGERS.format(
                score.name, score.rows, score.groups, score.publishers, percent(score.error, 1),
                percent(score.held), f"{score.width:.2f}", f"{score.interval:.2f}",
            )
            for score in scores
        ]  # fmt: skip
        lines += [""]
    lines += ["Constants from rows before a month, scored on those from it on"]
    lines += [
        f"{row.origin} to {row.before or 'today':<8} {row.rows:>5} rows {row.publishers:>4} "
        f"publishers {percent(row.error, 1):>8} {percent(row.held):>6} in range {row.width:.2f}"
        for row in read(ROLLING, OriginRow)
    ]
    return [*lines, "", f"The newest figure is of {newest(ledger.points)}."]


def _worst(group: GroupScore) -> str:
    off = f"{100 * group.error:+.0f} %"
    held = f"{percent(group.covered)} in range"
    return f"{off:>8} {group.rows:>5} rows {held:>14}  {group.regime}: {group.group}"


def _plain(score: Score) -> str:
    return PLAIN.format(
        score.regime, score.rows, score.groups, percent(score.median, 1),
        percent(score.group_median, 1), percent(score.mean, 1), percent(score.within),
        percent(score.covered), percent(score.group_covered), allowed(score),
        f"{score.width:.2f}", best(score),
    )  # fmt: skip


def _plain_peers(score: Score, names: Iterable[str]) -> str:
    by_name = {peer.name: peer for peer in score.peers}
    cells = (f"{_starred(by_name[name], score) if name in by_name else '':>16}" for name in names)
    return f"{score.regime:<38}" + "".join(cells)


def _starred(peer: PeerScore, score: Score) -> str:
    return errors(peer) + ("" if peer.rows == score.rows else "*")


def markdown(ledger: Ledger) -> str:
    """Whole table, with the difference between sources and the public formulas."""
    head = (
        "| regime | rows | groups | median error | by group | within the 80 % range "
        "(chance allows) | by group | high over low | best public formula, median (mean) |",
        "|---|---|---|---|---|---|---|---|---|",
    )
    body = (
        f"| {score.regime} | {score.rows} | {score.groups} | {percent(score.median, 1)} "
        f"| {percent(score.group_median, 1)} | {percent(score.covered)} ({allowed(score)}) "
        f"| {percent(score.group_covered)} | {score.width:.2f} | {best(score)} |"
        for score in (*ledger.scores, *ledger.simulated)
    )
    names = ", ".join(f"[{peer.name}]({peer.source}) ({peer.date})" for peer in PEERS)
    formulas = f"Public formulas, restated in `lab/peers.py` and scored on the same rows: {names}."
    return "\n".join((*head, *body, "", floor_sentence(ledger.floor), "", formulas))


def front_page(ledger: Ledger) -> str:
    """Table of README: the regimes of `FRONT`, without the means and what chance allows."""
    head = (
        "| kind of run | figures | groups | median error | by group | within the 80 % range, "
        "by group | best public formula, median |",
        "|---|---|---|---|---|---|---|",
    )
    by_name = {score.regime: score for score in ledger.scores}
    body = (
        f"| {score.regime} | {score.rows} | {score.groups} | {percent(score.median, 1)} "
        f"| {percent(score.group_median, 1)} | {percent(score.group_covered)} "
        f"| {_best_median(score)} |"
        for score in (by_name[name] for name in FRONT)
    )
    sentences = ("", floor_sentence(ledger.floor), "", strangers_sentence(ledger))
    return "\n".join((*head, *body, *sentences))


def strangers_sentence(ledger: Ledger) -> str:
    """How right predictions are on strangers' runs, in a sentence."""
    scores = {score.name: score for score in stranger_scores(ledger.points)}
    parts: list[tuple[str, StrangerScore]] = [
        (name, scores[name])
        for name in (
            "llama.cpp family, 2026",
            "other engines, 2026",
            "publishers with a single run",
        )
        if name in scores
    ]
    if ledger.unseen:
        parts.append((ledger.unseen.name, ledger.unseen))
    told = "; ".join(
        f"{name}: {percent(score.error, 1)} off, {percent(score.held)} in range"
        for name, score in parts
    )
    return (
        f"By publisher and card, each predicted without its publisher, at the median: {told}. The "
        f"newest figure is of {newest(ledger.points)}."
    )


def history_markdown(rows: Sequence[HistoryRow]) -> str:
    """Table of the first and the last constants, kind by kind."""
    first, last = rows[0], rows[-1]
    before = {row.kind: row for row in rows if row.constants == first.constants}
    now = {row.kind: row for row in rows if row.constants == last.constants}
    lines = [
        f"Interval score of the ranges (the lower the better: the width of a range as a logarithm, "
        f"and ten times the distance of a figure outside it), of the constants of {first.day} "
        f"(`{first.constants}`) and of {last.day} (`{last.constants}`), publishers left out.",
        "",
        "| kind of run | error | within range | width | interval score |",
        "|---|---|---|---|---|",
    ]
    for kind, new in now.items():
        old = before.get(kind, new)
        lines.append(
            f"| {kind} | {percent(old.error, 1)} to {percent(new.error, 1)} "
            f"| {percent(old.held)} to {percent(new.held)} | {old.width:.2f} to {new.width:.2f} "
            f"| {old.interval:.2f} to {new.interval:.2f} |"
        )
    return "\n".join(lines)


def _best_median(score: Score) -> str:
    peer = score.best_peer
    return "none" if peer is None else f"{peer.name}, {percent(peer.median, 1)}"


def record(ledger: Ledger) -> dict[str, Any]:
    """Ledger as plain data: shares as fractions, speeds in tokens/s."""
    return {
        "regimes": [asdict(score) for score in ledger.scores],
        "simulated": [asdict(score) for score in ledger.simulated],
        "strangers": [asdict(score) for score in stranger_scores(ledger.points)],
        "by_date": [asdict(score) for score in by_date(ledger.points)],
        "by_age": [asdict(score) for score in by_age(ledger.points)],
        "newest": newest(ledger.points),
        "by_card": [asdict(score) for score in by_card(ledger.points)],
        "worst_groups": [asdict(group) for group in worst_groups(ledger.points)],
        "doubtful": len(ledger.doubtful),
        "noise_floor": asdict(ledger.floor),
        "peers": [
            {name: getattr(peer, name) for name in ("name", "version", "date", "source", "formula")}
            for peer in PEERS
        ],
        "points": [as_record("point", point) for point in ledger.points],
    }
