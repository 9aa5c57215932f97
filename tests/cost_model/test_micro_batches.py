"""Prompts in micro-batches, as developers of llama.cpp published them; nothing is fitted to them.

The tables are those of pull requests 22298 (April 2026) and 15525 (August 2025) of
https://github.com/ggml-org/llama.cpp, in tokens/s. Only where the padding of experts is half of the
most (`gpu_expert_half_tile`) was read off them.
"""

import numpy as np
import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP

GEMMA = {
    16: 911.67, 32: 1263.76, 64: 1606.39, 128: 1768.79, 256: 2552.34, 512: 3487.80,
    1024: 4438.32, 2048: 5212.41,
}  # fmt: skip
DEEPSEEK = {16: 784.29, 32: 1209.58, 64: 1802.95, 128: 2253.15, 256: 3628.64}
PUBLISHED = [
    ("Gemma-4-26B-A4B", "Q4_K_M", 2048, GEMMA),
    ("DeepSeek-V2-Lite", "Q4_0", 512, DEEPSEEK),
]


@pytest.mark.parametrize(("name", "form", "prompt", "measured"), PUBLISHED)
def test_micro_batches_of_experts_are_read_as_fast_as_published(
    name: str, form: str, prompt: int, measured: dict[int, float]
) -> None:
    model = catalog.model(name, form)
    card = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    speeds = []
    for tokens in measured:
        work = Workload(prompt=prompt, context=4096, ubatch=tokens, bench=True)
        answer = estimate(
            model, card, work, LLAMA_CPP, PlacementStrategy.GPU_RESIDENT, Constants.fitted()
        )
        assert answer.prefill is not None
        speeds.append(float(answer.prefill.value))
    off = np.abs(np.log(np.array(speeds) / np.array(list(measured.values()))))
    assert np.max(off) < np.log(1.5)
    assert sorted(speeds) == speeds  # larger micro-batches are faster
