"""Engines with experts in tiers: what is left out of their predictions."""

from pathlib import Path

import numpy as np
import pytest

from advisor.catalog.csv_tables import read
from lab.llama_cpp import placed_case
from lab.tiers import LEFT_OUT, LeftOutTiers, left_out_table, published

ROOT = Path(__file__).parents[2]


def test_the_document_shows_the_table_that_the_command_prints() -> None:
    text = (ROOT / "docs/accuracy.md").read_text(encoding="utf-8")
    assert "\n".join(left_out_table()) in text, "python -m lab.tiers --markdown"


NOISE = 2.0  # points by which medians of so few groups differ by chance


def test_runs_are_hardly_easier_to_predict_without_their_engine() -> None:
    heads, _, *rows = (line.strip("| ").split(" | ") for line in left_out_table())
    error = {(left, timed): float(off.removesuffix(" %")) for left, timed, _, _, off in rows}
    assert heads[0] == "left out"
    for timed in ("tokens", "prompt"):
        assert error["its publisher", timed] <= error["every run of its engine", timed] + NOISE
    assert error["its publisher", "tokens"] < 40.0  # read as llama.cpp they were 64 % off


def test_every_left_out_run_has_its_measured_time() -> None:
    rows = read(LEFT_OUT, LeftOutTiers)
    assert len({(row.timed, row.id) for row in rows}) == len(rows)
    assert all(row.measured > 0 and row.engine and row.group for row in rows)


@pytest.mark.parametrize(
    ("row", "tokens", "way", "sleeping"),
    [
        # JustVugg/colibri, docs/benchmarks.md: 2.29 tokens a round; MTP=0; DIRECT=1 and MTP=0
        ("t0395", 2.29, "buffered", False),
        ("t0396", 1.0, "buffered", False),
        ("t0375", 1.0, "", False),
        # its issue 31, of the version of 10 July: three drafts, before pull request 77
        ("t0369", 2.5, "buffered", True),
        # Strata drafts no model without layers for it
        ("t0735", 1.0, "", False),
    ],
)
def test_a_run_is_read_with_its_drafts_and_its_drive(
    row: str, tokens: float, way: str, sleeping: bool
) -> None:
    case = placed_case(next(each for each in published() if each.id == row))
    assert case is not None
    work = case.estimate.work
    assert float(np.ravel(work.tokens_per_step)[0]) == pytest.approx(tokens, rel=0.01)
    flows = [flow for stage in case.phases.decode.stages for flow in stage]
    assert {flow.kernels.way for flow in flows if flow.kernels} <= {way}  # type: ignore[attr-defined]
    assert {flow.kernels.sleeping for flow in flows if flow.kernels} == {sleeping}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("row", "share"),
    [
        # notes: "left at 0.55"; "pcie-frac 0.00"; "--pcie-frac .55"; "--pcie-frac 0.1"
        ("t0031", 0.55),
        ("t0187", 0.0),
        ("t0632", 0.55),
        ("t0595", 0.1),
        # "misses read by the GPU from pinned RAM (no cores)"; "static profile, no PCIe"
        ("t0259", 1.0),
        ("t0514", 0.0),
        # 0.15 of all lookups over the link, 0.775 of the others served: 0.15 / (1 - 0.85 * 0.775)
        ("t0173", 0.44),
        # its own packs of Q2_0 before 0.1.42
        ("t0001", 0.2),
    ],
)
def test_a_run_is_read_with_its_link_share(row: str, share: float) -> None:
    case = placed_case(next(each for each in published() if each.id == row))
    assert case is not None
    placement = case.estimate.placement
    assert placement is not None
    tiers = placement.tiers
    assert tiers is not None
    assert float(np.asarray(tiers.link_share)) == pytest.approx(share, abs=0.005)
