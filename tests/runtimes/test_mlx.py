"""MLX: steps of a prompt."""

import shlex

import numpy as np
import pytest
from flags import flags, listed

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import ExchangePath
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, MLX


@pytest.mark.parametrize(("runtime", "steps"), [(LLAMA_CPP, 12), (MLX, 3)])
def test_mlx_reads_a_prompt_in_steps_of_2048_tokens(runtime: Runtime, steps: int) -> None:
    # 6,144 tokens: twelve micro-batches of 512 in llama.cpp, three of 2,048 in MLX.
    model = catalog.model("Qwen3-8B", "Q4_K_M")
    where = machine(MachineSpec(gpu="M4 Max"))
    work = Workload(prompt=6144, context=8192)
    resident = PlacementStrategy.GPU_RESIDENT
    placement = runtime.place(model, where, work, resident, Settings())
    prefill = runtime.schedule(model, placement, where, work).prefill
    assert float(np.asarray(prefill.repeats)) == steps


def test_two_macs_share_each_layer_over_thunderbolt_5() -> None:
    # GLM-5 in 8 bits: 2 x 78 sums a token, half of the weights on each Mac; 18.3 tokens/s were
    # measured on two M3 Ultra (exo-explore/exo issue 1468, 2026-02-17).
    model = catalog.model("GLM-5", "Q8_0")
    where = machine(MachineSpec(gpu="M3 Ultra 512GB", machines=2))
    answer = estimate(
        model, where, Workload(), MLX, PlacementStrategy.GPU_RESIDENT, Constants.fitted()
    )
    assert answer.placement is not None
    assert answer.decode is not None
    (exchange,) = answer.phases.decode.exchanges
    assert (exchange.way, exchange.times) == (ExchangePath.NETWORK, 2 * 78)
    halves = [float(answer.placement.weight_bytes(model, Location.vram(mac))) for mac in (0, 1)]
    assert halves == pytest.approx([sum(halves) / 2] * 2, rel=0.01)
    assert float(answer.decode.value) == pytest.approx(18.3, rel=0.2)
    assert "mlx.launch --backend jaccl --hostfile hosts.json mlx_lm.server" in answer.command
    slow = machine(MachineSpec(gpu="M3 Ultra 512GB", machines=2, network="Thunderbolt 4"))
    placed = MLX.place(model, slow, Workload(), PlacementStrategy.GPU_RESIDENT, Settings())
    assert "--pipeline" in MLX.command(model, placed, slow, Workload())


@pytest.mark.parametrize("form", ["MLX-4bit-g64", "MLX-8bit-g64", "BF16"])
@pytest.mark.parametrize("name", ["Qwen3-30B-A3B", "Llama-3.1-8B", "gpt-oss-120b"])
def test_its_lines_are_taken_by_its_own_parsers(name: str, form: str) -> None:
    mac = machine(MachineSpec(gpu="M3 Ultra 512GB"))
    described = catalog.model(name, form)
    placed = MLX.place(described, mac, Workload(), PlacementStrategy.GPU_RESIDENT, Settings())
    for part in MLX.command(described, placed, mac, Workload()).splitlines():
        program, *words = shlex.split(part)
        if program.startswith("mlx_lm."):
            assert flags(words) <= listed(program.replace(".", "_")), part
