"""Feed-forward of a dense model in RAM: placement, hand-overs, and the change that offers it."""

from dataclasses import replace

import numpy as np
import pytest
from placing import offered, offloaded

from advisor.advice.edits.edit import Edited
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location
from advisor.cost_model.runtime import Runtime
from advisor.model.architecture import Group
from advisor.runtimes import LLAMA_CPP, OLLAMA
from advisor.runtimes.llama_cpp.passes import crossings


def _split(how: Runtime = LLAMA_CPP, **stated: object) -> Estimate:
    values = {
        "model": "Gemma-3-27B",
        "format": "Q4_K_M",
        "gpu": "RTX 4070 Ti Super",
        "ram_gb": 64.0,
        "context": 32768,
        "prompt": 16384,
        **stated,
    }
    return offloaded(how, **values)


def _offered(best: Estimate) -> list[Edited]:
    return offered(best, "-ncffn")


def test_the_feed_forward_of_the_first_layers_alone_lies_in_ram() -> None:
    placement = _split(cpu_ffn=3).placement
    assert placement is not None
    for group, share in placement.weights[Location.RAM].items():
        if group is Group.DENSE_FFN:
            dense = 1.0
        else:
            dense = 0.0
        if group is not Group.ROUTED_EXPERTS:  # it has none
            assert np.allclose(share[:3], dense), group
            assert np.allclose(share[3:], 0.0), group
    assert np.allclose(placement.kv[Location.vram(0)], 1.0), "the cache stays beside attention"


def test_each_of_these_layers_hands_over_twice() -> None:
    none = _split(cpu_ffn=0)
    three = _split(cpu_ffn=3)
    counts = []
    for each in (none, three):
        assert each.placement is not None
        counts.append(float(crossings(each.model, each.placement, each.machine)))
    assert counts[1] - counts[0] == 6


def test_it_is_offered_with_as_few_layers_as_fit() -> None:
    best = _split()
    (change,) = _offered(best)
    fewest = change.changes["settings"].cpu_ffn
    assert change.gain > 1.02
    assert bool(_split(cpu_ffn=fewest).fits)
    assert not bool(_split(cpu_ffn=fewest - 1).fits)
    assert f"-ncffn {fewest:.0f}" in change.of(best).command


@pytest.mark.parametrize(
    "stated",
    [
        {"model": "gpt-oss-120b", "format": "MXFP4"},  # experts
        {"gpu_layers": 10},  # a fixed split stays
    ],
)
def test_it_is_not_offered_where_it_is_no_choice(stated: dict[str, object]) -> None:
    assert _offered(_split(**stated)) == []


def test_a_runtime_without_it_says_so() -> None:
    plain = _split(OLLAMA)
    other = _split(OLLAMA, cpu_ffn=3)
    assert other.format_note.endswith("It leaves whole layers in RAM alone.")
    assert other.placement is not None
    assert plain.placement is not None
    assert replace(other.placement, weights={}).gpu_layers == plain.placement.gpu_layers
    assert _offered(plain) == []
