"""MLX: steps of a prompt."""

import numpy as np
import pytest

from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, MLX, Runtime


@pytest.mark.parametrize(("runtime", "steps"), [(LLAMA_CPP, 12), (MLX, 3)])
def test_mlx_reads_a_prompt_in_steps_of_2048_tokens(runtime: Runtime, steps: int) -> None:
    # 6,144 tokens: twelve micro-batches of 512 in llama.cpp, three of 2,048 in MLX.
    model, where = catalog.model("Qwen3-8B", "Q4_K_M"), machine(MachineSpec(gpu="M4 Max"))
    work = Workload(prompt=6144, context=8192)
    resident = PlacementStrategy.GPU_RESIDENT
    placement = runtime.place(model, where, work, resident, Settings())
    prefill = runtime.schedule(model, placement, where, work).prefill
    assert float(np.asarray(prefill.repeats)) == steps
