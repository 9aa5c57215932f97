"""Points of dense models split by layer, from sources that do not state the RAM.

In a sweep over the layers on the GPU, the run with the fewest layers there reads nearly everything
from RAM. Our formula, inverted, gives the RAM rate from its speed, and the other runs are predicted
with that rate. Each public formula is inverted in the same way.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.uncertainty import Range
from advisor.errors import InputError
from advisor.evidence.accuracy.regimes import GENERATION, INFERRED, regime_of
from advisor.evidence.published.row import group_of
from advisor.machine.quantity import given
from advisor.runtimes import LLAMA_CPP
from advisor.units import GB, Array
from lab.held_out import GENERATED
from lab.llama_cpp import published, stated_tps
from lab.peers import PEERS, Facts, Peer
from lab.points.llama_cpp import LlamaCppRun, fitted, runs
from lab.points.peer_facts import facts_of
from lab.points.point import margins_of, point_of

RATES = np.geomspace(2 * GB, 2000 * GB, 400)
"""Sustained RAM rates tried by the inversion [B/s]."""


def points() -> Iterable[AccuracyPoint]:
    """Points of all sweeps, without the runs that gave the RAM rate."""
    for sweep in sweeps(runs(published()), {timed.row.id for timed in fitted().timed}):
        yield from _predicted(sweep)


def sweeps(
    runs: Iterable[LlamaCppRun], fitted: Collection[str] = ()
) -> Iterable[tuple[LlamaCppRun, ...]]:
    """Sweeps: runs that differ only in layers on the GPU, fewest layers first, without rows of the
    fit, by their ids.
    """
    alike: dict[tuple[str, ...], list[LlamaCppRun]] = {}
    for run in runs:
        row = run.row
        if row.category == "partial" and row.tg_tps and row.id not in fitted:
            key = ("source_url", "runtime", "gpu", "cpu", "model", "quant", "context_depth")
            alike.setdefault(tuple(row.cells[name] for name in key), []).append(run)
    for group in alike.values():
        stated = (run for run in group if _stated(run))
        split = sorted(stated, key=lambda run: float(run.case.settings.gpu_layers or 0.0))
        if len(split) > 1:
            yield tuple(split)


def _stated(run: LlamaCppRun) -> bool:
    layers = run.case.settings.gpu_layers
    return layers is not None and float(layers) < run.case.model.layers


def _predicted(sweep: Sequence[LlamaCppRun]) -> Iterable[AccuracyPoint]:
    slowest, *others = sweep
    rate = ram_rate(slowest)
    told = {peer: _peer_rate(peer, slowest) for peer in PEERS}
    for run in others:
        decode, facts = _decode(run, rate), _facts(run)
        speed = float(decode.value)
        yield point_of(
            run.row,
            regime=regime_of({"category": "partial", "timed": GENERATION, "ram": INFERRED}),
            group=group_of(run.row),
            measured=stated_tps(run.row, GENERATED),
            predicted=speed,
            margins=margins_of(decode),
            peers={
                peer.name: answer
                for peer, own in told.items()
                if (answer := peer.answer(replace(facts, ram=own, ram_peak=own))) is not None
            },
        )


def ram_rate(run: LlamaCppRun) -> float:
    """Sustained RAM rate at which our formula gives a run's speed [B/s]."""
    speeds = np.asarray(_decode(run, RATES).value)
    return float(np.exp(np.interp(stated_tps(run.row, GENERATED), speeds, np.log(RATES))))


def _decode(run: LlamaCppRun, rate: Array) -> Range:
    case = run.case
    host = replace(case.machine.host, bandwidth=given(rate))
    estimated = estimate(
        case.model, replace(case.machine, host=host), case.work, LLAMA_CPP, case.strategy,
        fitted_constants(), case.settings, backend=case.backend, build=case.build,
    )  # fmt: skip
    if estimated.decode is None:
        raise InputError(estimated.refusal)
    return estimated.decode


def _peer_rate(peer: Peer, run: LlamaCppRun) -> float:
    """RAM rate at which a public formula comes closest to a run's speed [B/s]."""
    facts, speed = _facts(run), stated_tps(run.row, GENERATED)

    def off(rate: float) -> float:
        answer = peer.answer(replace(facts, ram=rate, ram_peak=rate))
        return abs(math.log(answer / speed)) if answer else math.inf

    return min(map(float, RATES), key=off)


def _facts(run: LlamaCppRun) -> Facts:
    return facts_of(run.case, run.row.category, ram_peak=0.0)
