"""Published gains of drafted tokens, as the ledger scores them."""

import math
import statistics
from dataclasses import replace

import pytest

from advisor.evidence.accuracy.regimes import REGIMES
from benchmarks.pairs import AIMS, met
from lab.points import drafting as drafting_points


def test_a_share_of_accepted_drafts_is_a_chance_by_hand() -> None:
    """Two drafts, half accepted: 1 + a + a^2 = 2 gives a = (sqrt(5) - 1) / 2 = 0.618."""
    work = replace(drafting_points.rows()[0], draft="mtp", drafted=2, accepted_share=0.5).work
    assert work.acceptance == pytest.approx(0.618, abs=0.002)
    assert float(work.tokens_per_step) == pytest.approx(2.0, abs=0.01)


def test_published_gains_are_met() -> None:
    points = tuple(drafting_points.points())
    off = [abs(math.log(point.predicted / point.measured)) for point in points]
    assert len({point.source for point in points}) >= 4
    assert statistics.median(off) < math.log(1.25), off
    assert sum(point.held for point in points) >= 0.8 * len(points)
    assert {point.regime for point in points} == {"drafted tokens"}
    assert "drafted tokens" in {regime.name for regime in REGIMES}


def test_whether_drafting_pays_is_right_for_published_pairs() -> None:
    """Experts in RAM among them: 1.14 to 1.29 times as fast with drafts as without."""
    aim = AIMS["drafts"]
    pairs = tuple(aim.pairs())
    assert (aim.signs, aim.within) == (0.95, 1.2)
    assert len(pairs) >= 18
    assert sum("moe_offload" in pair.words for pair in pairs) >= 7
    assert met(aim, pairs)
