"""Ledger: points, scores and the noise floor."""

from advisor.evidence.accuracy.noise_floor import noise_floor
from advisor.evidence.accuracy.points import drafting as drafting_points
from advisor.evidence.accuracy.points import engine as engine_points
from advisor.evidence.accuracy.points import framework as framework_points
from advisor.evidence.accuracy.points import llama_cpp as llama_cpp_points
from advisor.evidence.accuracy.points import load_curves as load_curve_points
from advisor.evidence.accuracy.points import paged as paged_points
from advisor.evidence.accuracy.points import split as split_points
from advisor.evidence.accuracy.result import Ledger
from advisor.evidence.accuracy.scoring import scores


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
