"""Points of llama.cpp and its forks, each predicted without its source."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.constants import Constants
from advisor.cost_model import uncertainty
from advisor.cost_model.estimate import estimate
from advisor.cost_model.measured_constants import doubt, software_of
from advisor.cost_model.uncertainty import NEW, Margins, Range, margins
from advisor.evidence.accuracy import regimes
from advisor.evidence.published.case import Case
from advisor.evidence.published.row import PublishedRow
from advisor.model import catalog
from advisor.model.model import Floats
from advisor.runtimes import LLAMA_CPP
from advisor.units import GB, Array, Quantity
from lab import llama_cpp
from lab.held_out import GENERATED, READ, UNSEEN, left_out
from lab.peers import PEERS, PLACES, SPLIT, Facts, PeerFormula, facts_of
from lab.points import NOBODY, decode_of, margins_of, point_of
from lab.published import group_of, ram_in_theory
from lab.spreads import circumstances_of, other_evidence
from lab.stack import Cases, Timed


class LlamaCppRun(NamedTuple):
    """One published run."""

    row: PublishedRow  # its row
    case: Case  # machine, model and request of the row


def runs(rows: Iterable[PublishedRow]) -> tuple[LlamaCppRun, ...]:
    """Runs of rows that can be predicted and are not doubtful."""
    told = ((row, llama_cpp.case_of(row)) for row in rows if not row.doubtful)
    return tuple(LlamaCppRun(row, case) for row, case in told if case is not None)


@cache
def fitted() -> Cases:
    """Rows that constants are fitted to."""
    return llama_cpp.rows_of(llama_cpp.published())


def points() -> Iterable[AccuracyPoint]:
    """Points of all rows in the last fit, with the speed of all users together."""
    for timed, _, ranges in by_table(fitted()):
        predicted = left_out().get((timed.timed, timed.id))
        if predicted is not None:
            model = catalog.model_rows().get(timed.case.model.architecture.name)
            point = _point(timed, traits(timed), predicted, ranges, _peers(timed))
            first_seen = point.first_seen or (model.released if model else "")
            yield replace(point, first_seen=first_seen)


def unseen() -> Iterable[AccuracyPoint]:
    """Points of tokens, predicted without any model of the same kinds of layers."""
    for timed, _, ranges in by_table(fitted(), unseen=True):
        predicted = left_out().get((UNSEEN, timed.id))
        if timed.timed != READ and predicted is not None:
            yield _point(timed, {"category": llama_cpp.kinds_of(timed)}, predicted, ranges)


def doubtful() -> Iterable[AccuracyPoint]:
    """Points of doubtful rows: doubted by their source, or physically impossible.

    Nothing is fitted to them, so the shipped constants predict them.
    """
    doubted = [*fitted().doubted, *llama_cpp.doubted_by_sources(llama_cpp.published())]
    for timed, predicted, ranges in by_table(llama_cpp.side_by_side(doubted)):
        yield _point(timed, traits(timed), predicted, ranges)


def _point(
    timed: Timed,
    traits: regimes.Traits,
    predicted: float,
    ranges: Margins,
    peers: Mapping[str, float | None] = NOBODY,
) -> AccuracyPoint:
    """Point of a row whose time is predicted [s]."""
    measured = llama_cpp.stated_tps(timed.row, timed.timed)
    speed = measured * (timed.seconds / predicted)
    return point_of(
        timed.row,
        traits,
        group=timed.group,
        measured=measured,
        predicted=speed,
        margins=ranges,
        peers=peers,
    )


def by_table(rows: Cases, *, unseen: bool = False) -> Iterator[tuple[Timed, float, Margins]]:
    """Rows with their time by the shipped constants [s], and the margins of its 80 % range.

    A row's own publisher does not count as evidence for its range; of an `unseen` model nobody's
    does.
    """
    seconds, below, above = np.empty((3, len(rows.timed)))
    few = dict(other_evidence(rows))
    if unseen:
        few[NEW] = np.ones(len(rows.timed))
    for part in rows.stacks:
        timed = [rows.timed[place] for place in part.at]
        read = rows.read[part.at]
        constants = llama_cpp.TableColumns(timed)
        time = part.time(constants)
        run = circumstances_of(rows, part, few)
        own = [row.case.runtime.extra_uncertainty for row in timed]
        shape = [row.case.model.architecture.shape_uncertainty for row in timed]
        beside = np.hypot(np.hypot(own, shape), _doubts(timed, uncertainty.on_gpu(time, run)))
        prompt, token = (
            margins(time, run, constants, constant).wider(beside)  # type: ignore[arg-type]  # arrays stand for numbers
            for constant in (Margins.IN_PROMPT, Margins.IN_DECODE)
        )
        seconds[part.at] = time.total
        below[part.at] = np.where(read, prompt.below, token.below)
        above[part.at] = np.where(read, prompt.above, token.above)
    for row, total, low, high in zip(rows.timed, seconds, below, above, strict=True):
        yield row, float(total), Margins(below=low, above=high)


def _doubts(timed: Sequence[Timed], gpu: Array) -> Floats:
    """Half width that stated software adds to each row, by the GPUs' share of its time."""
    doubts = [
        doubt(
            software_of(row.case.model, row.case.machine, row.case.runtime),
            prompt=row.timed == READ,
        )
        for row in timed
    ]
    of_gpu, of_host = np.array(doubts).T
    return np.asarray(of_gpu * gpu + of_host * (1.0 - gpu))


def _peers(timed: Timed) -> Mapping[str, float | None]:
    """Predictions of the public formulas for a row; none for several sequences."""
    case = timed.case
    row = timed.row
    if float(case.work.users) > 1 or row.category not in PLACES:
        return {}
    theory = ram_in_theory(row, case.machine.host.name)
    if theory is None:
        ram_peak = float(case.machine.host.bandwidth.value)
    else:
        ram_peak = theory
    facts = facts_of(case, row.category, ram_peak=ram_peak, prompt=timed.timed == READ)
    return {peer.name: peer.answer(facts) for peer in PEERS}


def traits(timed: Timed) -> regimes.Traits:
    """Traits of a row, by which `regimes.REGIMES` are distinguished."""
    row = timed.row
    case = timed.case
    return {
        "category": row.category,
        "timed": regimes.PROMPT if timed.timed == READ else regimes.GENERATION,
        "build": timed.scope["build"],
        "together": float(case.work.users) > 1,
        "deep": (row.context_depth or 0.0) >= regimes.DEEP,
        "experts": case.model.has_experts,
        "ram": regimes.STATED if row.ram_bw_gbs or row.ram_mts else regimes.DATASHEET,
    }


# Points of dense models split by layer, from sources that do not state the RAM.
#
# In a sweep over the layers on the GPU, the run with the fewest layers there reads nearly all from
# RAM. Our formula, inverted, gives the RAM rate from its speed, and the other runs are predicted
# with that rate. Each public formula is inverted in the same way.

RATES = np.geomspace(2 * GB, 2000 * GB, 400)  # sustained RAM rates tried by the inversion [B/s]
SAME = ("source_url", "runtime", "gpu", "cpu", "model", "quant", "context_depth")
"""Columns that the rows of a sweep have in common."""


def sweep_points() -> Iterable[AccuracyPoint]:
    """Points of all sweeps, without the runs that gave the RAM rate."""
    for sweep in sweeps(runs(llama_cpp.published()), {timed.row.id for timed in fitted().timed}):
        yield from _of_sweep(sweep)


def sweeps(
    runs: Iterable[LlamaCppRun], fitted: Collection[str] = ()
) -> Iterable[tuple[LlamaCppRun, ...]]:
    """Sweeps: runs that differ only in layers on the GPU, fewest layers first, without rows of the
    fit, by their ids.
    """
    alike: dict[tuple[str, ...], list[LlamaCppRun]] = {}
    for run in runs:
        row = run.row
        if row.category == SPLIT and row.tg_tps and row.id not in fitted:
            alike.setdefault(tuple(row.cells[name] for name in SAME), []).append(run)
    for group in alike.values():
        stated = (run for run in group if llama_cpp.layers_stated(run.case))
        split = sorted(stated, key=lambda run: float(run.case.settings.gpu_layers or 0.0))
        if len(split) > 1:
            yield tuple(split)


def _of_sweep(sweep: Sequence[LlamaCppRun]) -> Iterable[AccuracyPoint]:
    slowest, *others = sweep
    rate = ram_rate(slowest)
    facts = _facts(slowest)
    speed = llama_cpp.stated_tps(slowest.row, GENERATED)
    peer_rates = {peer: _peer_rate(peer, facts, speed) for peer in PEERS}
    for run in others:
        decode = _decode(run, rate)
        facts = _facts(run)
        yield point_of(
            run.row,
            {"category": SPLIT, "timed": regimes.GENERATION, "ram": regimes.INFERRED},
            group=group_of(run.row),
            measured=llama_cpp.stated_tps(run.row, GENERATED),
            predicted=float(decode.value),
            margins=margins_of(decode),
            peers={peer.name: _peer_tps(peer, facts, own) for peer, own in peer_rates.items()},
        )


def ram_rate(run: LlamaCppRun) -> float:
    """Sustained RAM rate at which our formula gives a run's speed [B/s]."""
    speeds = np.asarray(_decode(run, RATES).value)
    return float(np.exp(np.interp(llama_cpp.stated_tps(run.row, GENERATED), speeds, np.log(RATES))))


def _decode(run: LlamaCppRun, rate: Array) -> Range:
    case = run.case
    host = replace(case.machine.host, bandwidth=Quantity.given(rate))
    estimated = estimate(
        case.model,
        replace(case.machine, host=host),
        case.work,
        LLAMA_CPP,
        case.strategy,
        Constants.fitted(),
        case.settings,
        backend=case.backend,
        build=case.build,
    )
    return decode_of(run.row, estimated)


def _facts(run: LlamaCppRun) -> Facts:
    return facts_of(run.case, run.row.category, ram_peak=0.0)


def _peer_tps(peer: PeerFormula, facts: Facts, rate: float) -> float | None:
    """Speed by a public formula with a RAM rate [tokens/s]."""
    return peer.answer(replace(facts, ram=rate, ram_peak=rate))


def _peer_rate(peer: PeerFormula, facts: Facts, speed: float) -> float:
    """RAM rate at which a public formula comes closest to a run's speed [B/s]."""

    def off(rate: float) -> float:
        answer = _peer_tps(peer, facts, rate)
        if answer:
            return abs(math.log(answer / speed))
        return math.inf

    return min(map(float, RATES), key=off)
