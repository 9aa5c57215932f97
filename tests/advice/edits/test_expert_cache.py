"""A cache of experts as a change: offered where it pays, with the size that is fastest."""

import numpy as np
import pytest
from placing import offered, offloaded

from advisor.advice.edits.edit import Edited
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.runtime import Runtime
from advisor.runtimes import LLAMA_CPP, OLLAMA
from advisor.runtimes.compare import decode_tps
from advisor.units import GIB


def _split(how: Runtime = LLAMA_CPP, **stated: object) -> Estimate:
    values = {"model": "gpt-oss-120b", "gpu": "RTX 4090", "ram_gb": 128.0, **stated}
    return offloaded(how, **values)


def _offered(best: Estimate) -> list[Edited]:
    return offered(best, "--moe-cache-mib")


def test_it_is_offered_with_the_size_that_is_fastest() -> None:
    best = _split()
    (change,) = _offered(best)
    assert change.gain > 1.02
    cache = change.changes["settings"].expert_cache
    assert cache % GIB == 0
    assert change.cost == "free, the same text"
    for size in np.arange(1.0, 24.0, 2.0):
        other = best.again(settings=Settings(expert_cache=float(size * GIB)))
        if bool(other.fits):
            assert decode_tps(other) <= change.speed.decode * 1.03, size


def test_the_command_after_it_has_the_cache() -> None:
    best = _split()
    (change,) = _offered(best)
    mib = int(change.changes["settings"].expert_cache / 2**20)
    assert f"--moe-cache-mib {mib}" in change.of(best).command


@pytest.mark.parametrize(
    "stated",
    [
        {"pcie_gbs": 4.0},  # each miss crosses a thin link
        {"model": "Llama-3.1-70B"},  # no experts
        {"expert_cache_gb": 4.0},  # one is there
    ],
)
def test_it_is_not_offered_where_it_cannot_pay(stated: dict[str, object]) -> None:
    assert _offered(_split(**stated)) == []


def test_other_runtimes_have_none() -> None:
    assert _offered(_split(OLLAMA)) == []
