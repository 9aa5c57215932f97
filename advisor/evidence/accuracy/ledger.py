"""Ledger: points, scores and the noise floor."""

from collections.abc import Hashable, Iterable
from itertools import combinations

import numpy as np

from advisor.evidence.accuracy.points import drafting as drafting_points
from advisor.evidence.accuracy.points import engine as engine_points
from advisor.evidence.accuracy.points import framework as framework_points
from advisor.evidence.accuracy.points import llama_cpp as llama_cpp_points
from advisor.evidence.accuracy.points import load_curves as load_curve_points
from advisor.evidence.accuracy.points import paged as paged_points
from advisor.evidence.accuracy.points import split as split_points
from advisor.evidence.accuracy.points.llama_cpp import LlamaCppRun, Published
from advisor.evidence.accuracy.scoring import scores
from advisor.evidence.accuracy.shipped import Floor, Ledger
from advisor.evidence.fitting.held_out import GENERATED
from advisor.evidence.fitting.llama_cpp import APART, stated_tps
from advisor.evidence.published.row import publisher_of

# Noise floor: difference between two sources on the same GPU, model and format.
#
# No formula can be more exact than that.

NEAR = 512
"""Largest difference in context depth of two runs that are compared [tokens]."""


def noise_floor(published: Published) -> Floor:
    """Comparison of GPU-resident runs of two sources with equal GPU, model and format."""
    alike: dict[Hashable, list[LlamaCppRun]] = {}
    for run in published.runs.values():
        if run.row.category == "resident" and run.row.tg_tps and run.case.build not in APART:
            alike.setdefault(_setting(run), []).append(run)
    apart_by_key = {key: list(_differences(runs)) for key, runs in alike.items()}
    every = [difference for differences in apart_by_key.values() for difference in differences]
    middles = [np.median(differences) for differences in apart_by_key.values() if differences]
    return Floor(
        pairs=len(every),
        settings=sum(bool(differences) for differences in apart_by_key.values()),
        median=float(np.median(middles)) if middles else 0.0,
    )


def _setting(run: LlamaCppRun) -> Hashable:
    """Key of a GPU, model and format; models with equal layers and weights count as the same."""
    arch, gpus = run.case.model.architecture, run.case.machine.gpus
    build = run.case.runtime.build
    return gpus[0].name, len(gpus), arch.layers, arch.params, run.case.model.format, build


def _differences(runs: Iterable[LlamaCppRun]) -> Iterable[float]:
    for first, other in combinations(runs, 2):
        apart = abs(float(first.case.work.decode_depth) - float(other.case.work.decode_depth))
        if publisher_of(first.row) != publisher_of(other.row) and apart <= NEAR:
            slower, faster = sorted(stated_tps(run.row, GENERATED) for run in (first, other))
            yield faster / slower - 1.0


def ledger() -> Ledger:
    """Ledger of the shipped measurements; takes some seconds."""
    rows = llama_cpp_points.read()
    points = (
        *llama_cpp_points.points(rows),
        *split_points.points(rows),
        *framework_points.points(),
        *engine_points.points(),
        *drafting_points.points(),
        *load_curve_points.points(),
        *paged_points.points(),
    )
    return Ledger(
        points=points,
        scores=scores(points),
        floor=noise_floor(rows),
        simulated=scores(tuple(engine_points.simulated()))[:-1],
        unseen=tuple(llama_cpp_points.unseen(rows)),
        doubtful=tuple(llama_cpp_points.doubtful(rows)),
    )
