"""Use of the routes: bytes and rates from the parts of an estimate."""

import numpy as np
import pytest

from advisor.advice.speeds import route_bytes, route_use
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine as machine_from
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, VLLM
from advisor.runtimes.compare import compare

WORK = Workload(context=4096, prompt=512, output=256)
HOST = {"cpu": "Ryzen 9 7950X", "ram_gb": 64.0}


def test_bytes_in_ram_are_weights_and_cache() -> None:
    # Every token reads all layers, the output head and the cache so far: half of its reply deep.
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    machine = machine_from(MachineSpec(gpu="none", **HOST))
    ram = next(
        each
        for each in compare(model, machine, WORK, runtimes=(LLAMA_CPP,))
        if each.strategy is PlacementStrategy.CPU_OFFLOAD
    )
    cache = float(np.sum(model.kv_bytes(WORK.decode_depth, "f16")))
    moved = route_bytes(ram)
    assert set(moved) == {Route.IN_PLACE}
    assert moved[Route.IN_PLACE] == pytest.approx(
        float(model.layer_bytes.sum()) + model.output + cache, rel=1e-6
    )
    use = route_use([ram])[Route.IN_PLACE]
    assert use.runtimes == ["llama.cpp"]
    assert use.rate == pytest.approx(moved[Route.IN_PLACE] / float(ram.step.parts[Route.IN_PLACE]))
    assert use.rate < float(machine.host.bandwidth.value)


def test_refused_estimates_use_no_route() -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    machine = machine_from(MachineSpec(gpu="none", **HOST))
    refused = [each for each in compare(model, machine, WORK, runtimes=(VLLM,)) if each.refusal]
    assert refused
    assert not route_use(refused)


def test_runtimes_stand_in_the_order_of_the_estimates() -> None:
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    machine = machine_from(MachineSpec(gpu="RTX 3090", **HOST))
    both = compare(model, machine, WORK, runtimes=(VLLM, LLAMA_CPP))
    assert route_use(both)[Route.RESIDENT].runtimes == ["vLLM", "llama.cpp"]
    assert route_use(both)[Route.STREAMED].runtimes == ["vLLM"]
    assert route_use(both)[Route.IN_PLACE].runtimes == ["llama.cpp"]
