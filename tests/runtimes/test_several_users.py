"""Several users of llama.cpp on one chip (`-np`), beside published speeds of batches."""

import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import as_run

PUBLISHED = {2: 126.66, 3: 163.08, 4: 200.40, 5: 207.24, 6: 210.91, 7: 229.20, 8: 260.76}
"""Tokens a second of batches of Qwen2.5-7B in Q8_0 on Metal, 70.41 for one
(https://github.com/ggml-org/llama.cpp/pull/10581, 2024-11-29). Eight set the constant, the others
nothing."""


def total(gpu: str, users: int, model: str = "Qwen2.5-7B", form: str = "Q8_0") -> float:
    where = machine(MachineSpec(gpu=gpu, ram_gb=192))
    described = as_run(catalog.model(model, form), LLAMA_CPP, where)
    work = Workload(users=users, prompt=1, output=2, context=64)
    answer = estimate(
        described, where, work, LLAMA_CPP, PlacementStrategy.GPU_RESIDENT, Constants.fitted()
    )
    assert answer.decode is not None
    return users * float(answer.decode.value)


@pytest.mark.parametrize("users", PUBLISHED)
def test_users_gain_on_metal_as_published(users: int) -> None:
    gain = total("Apple M2 Ultra 76c", users) / total("Apple M2 Ultra 76c", 1)
    assert gain == pytest.approx(PUBLISHED[users] / 70.41, rel=0.15)


def test_they_gain_more_where_vectors_share_their_reads() -> None:
    assert total("RTX 4090", 8) / total("RTX 4090", 1) > 4
