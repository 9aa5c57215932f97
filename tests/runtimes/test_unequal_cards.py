"""Serving engines on cards of unequal memory: layers in proportion to it where equal parts do not
fit the smallest.
"""

import numpy as np
import pytest

from advisor import describe_machine, estimate
from advisor.cost_model.placement import Location
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.runtimes.parallelism import parallel, stages_by_memory

PAIRS = ("RTX 5070 Ti + RTX 5090 D", "RTX 3060 12GB + RTX 3090", "RTX A6000 + RTX 4090",
         "RTX 4060 8GB + 2x RTX 3090", "2x RTX 3090", "RTX 3090 + RTX 4090")  # fmt: skip
MODELS = ("Qwen3-8B", "Qwen3-14B", "Qwen3-32B", "Qwen3-Coder-30B-A3B-Instruct", "Llama-3.1-70B")


@pytest.mark.parametrize("runtime", ["vLLM", "SGLang", "TensorRT-LLM"])
def test_layers_by_memory_hold_what_equal_parts_do_not(runtime) -> None:
    """30.5 GB in FP8 are nearly what twice 16 GB hold, without a cache; stages of 16 and 32 layers
    ran (github.com/vllm-project/vllm/issues/34076).
    """
    machine = describe_machine(gpu="RTX 5070 Ti + RTX 5090 D", ram_gb=64)
    whole = estimate(
        catalog.model("Qwen3-Coder-30B-A3B-Instruct", "FP8"),
        machine,
        runtime=runtime,
        placement="gpu-resident",
    )
    assert whole.fits
    layers = [
        round(float(np.sum(whole.placement.weights[Location.vram(at)][Group.ATTENTION])))
        for at in range(len(machine.gpus))
    ]
    sizes = [float(gpu.memory.value) for gpu in machine.gpus]
    assert sum(layers) == whole.model.layers
    assert layers[0] / layers[1] == pytest.approx(sizes[0] / sizes[1], rel=0.2)
    assert ",".join(map(str, layers)) in whole.command.replace(", ", ",")
    # what equal parts hold is divided over every layer, as before
    small = estimate("Qwen3-8B", machine, runtime=runtime, placement="gpu-resident")
    assert "partition" not in small.command.casefold()


@pytest.mark.parametrize("cards", PAIRS)
@pytest.mark.parametrize("name", MODELS)
def test_stages_are_whole_and_in_the_order_of_memory(cards, name) -> None:
    machine = describe_machine(gpu=cards, ram_gb=64)
    model = catalog.model(name, "FP8")
    stages = stages_by_memory(model, machine)
    division = parallel(model, machine)
    assert sum(map(np.sum, division.parts(model.layers))) == model.layers
    if not stages:
        return
    assert (division.tensor, division.pipeline) == (1, len(machine.gpus))
    assert sum(stages) == model.layers
    sizes = [float(gpu.memory.value) for gpu in machine.gpus]
    assert [stages[at] for at in np.argsort(sizes)] == sorted(stages)
    assert max(sizes) > 1.2 * min(sizes)


def test_equal_cards_share_every_layer() -> None:
    for name in MODELS:
        model = catalog.model(name, "FP8")
        assert stages_by_memory(model, describe_machine(gpu="2x RTX 3090", ram_gb=64)) == ()
