"""An estimate: what it refuses, when memory is tight, and what it lacks where nothing runs."""

from dataclasses import replace

import numpy as np
import pytest

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings, Tier
from advisor.cost_model.runtime import variant
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, OLLAMA, VLLM

LLAMA = catalog.model("Llama-3.1-8B", "Q4_K_M")
OFFLOAD = PlacementStrategy.CPU_OFFLOAD
MAC = machine(MachineSpec(gpu="Apple M4 Max 40c", ram_gb=64))
TWO_SOCKETS = machine(MachineSpec(gpu="RTX 3090", cpu="2x Xeon E5-2680 v4", ram_gb=128))


def run(
    where: Machine, strategy: PlacementStrategy = OFFLOAD, settings: Settings | None = None
) -> Estimate:
    work = Workload()
    constants = Constants.fitted()
    return estimate(LLAMA, where, work, LLAMA_CPP, strategy, constants, settings)


def test_one_memory_is_not_divided_unless_somebody_divides_the_model() -> None:
    assert "share one memory" in run(MAC).refusal
    assert run(MAC, settings=Settings(gpu_layers=10.0)).refusal == ""
    assert run(MAC, settings=Settings(kv_in_ram=False)).refusal == ""
    assert run(MAC, PlacementStrategy.GPU_RESIDENT).refusal == ""


def test_what_is_refused_has_no_speed_and_no_reply() -> None:
    refused = run(MAC)
    assert (refused.step, refused.prompt, refused.decode, refused.prefill) == (None,) * 4
    assert np.isnan(refused.reply)
    assert (refused.command, refused.assumptions, refused.routes) == ("", (), ())
    assert (refused.first_token, refused.unmeasured, refused.tight) == (None, (), False)


def test_a_reply_is_its_prompt_and_then_its_tokens() -> None:
    timed = run(TWO_SOCKETS, PlacementStrategy.GPU_RESIDENT)
    assert timed.step is not None
    assert timed.prompt is not None
    # 256 tokens by default, one a step
    assert timed.reply == pytest.approx(timed.prompt.total + 256 * timed.step.total)


def test_memory_is_tight_from_nine_tenths_of_it() -> None:
    alone = machine(MachineSpec(gpu="none", cpu="Ryzen 9 7950X", ram_gb=256))
    work = Workload(context=400_000)  # some 50 GB, of which the system needs less than a tenth
    for share, tight in ((0.5, False), (0.89, False), (0.95, True)):
        there = replace(alone.host.memory, value=float(held_by(alone, work) / share))
        there_alone = replace(alone, host=replace(alone.host, memory=there))
        made = estimate(LLAMA, there_alone, work, LLAMA_CPP, OFFLOAD, Constants.fitted())
        assert made.tight is tight, share


def held_by(where: Machine, work: Workload) -> float:
    made = estimate(LLAMA, where, work, LLAMA_CPP, OFFLOAD, Constants.fitted())
    return float(sum(map(float, made.held[Tier.RAM])))


def test_a_policy_for_one_node_leaves_half_of_two_sockets() -> None:
    whole = TWO_SOCKETS.host
    bound = LLAMA_CPP.bound(replace(TWO_SOCKETS, host=replace(whole, numa="numactl"))).host
    assert (whole.sockets, bound.sockets) == (2, 1)
    assert bound.cores == whole.cores // 2
    assert bound.cores_there is None, "no number of threads is stated"
    assert bound.memory.value == whole.memory.value / 2
    assert bound.bandwidth.value == whole.bandwidth.value / 2
    threads = replace(whole, numa="numactl", threads=4)
    stated = LLAMA_CPP.bound(replace(TWO_SOCKETS, host=threads)).host
    assert stated.cores_there == whole.cores // 2


def test_a_stated_policy_is_missed_where_a_runtime_takes_layers_but_no_policy() -> None:
    for policy, runtime, note in (
        ("numactl", OLLAMA, "It has no --numa."),
        ("", OLLAMA, ""),
        ("numactl", VLLM, ""),
        ("numactl", LLAMA_CPP, ""),
    ):
        where = replace(TWO_SOCKETS, host=replace(TWO_SOCKETS.host, numa=policy))
        strategy = PlacementStrategy.GPU_RESIDENT
        constants = Constants.fitted()
        made = estimate(LLAMA, where, Workload(), runtime, strategy, constants)
        assert made.format_note == note, (policy, runtime.name)


def test_an_estimate_names_the_rates_of_the_memories_that_it_uses() -> None:
    def names(strategy: PlacementStrategy) -> list[str]:
        return [each.what for each in run(TWO_SOCKETS, strategy).assumptions]

    ram = "RAM, sustained read"
    link = "link, "
    drive = "drive, sequential read"
    offloaded = names(OFFLOAD)
    assert ram in offloaded
    assert any(name.startswith(link) for name in offloaded)
    assert drive not in offloaded
    assert drive in names(PlacementStrategy.NVME_OFFLOAD)
    none = replace(TWO_SOCKETS, disk=None)
    assert drive not in [each.what for each in run(none).assumptions]
    assert "RTX 3090 memory bandwidth" in names(PlacementStrategy.GPU_RESIDENT)


def test_a_prompt_that_is_cached_whole_computes_a_token_of_each_user() -> None:
    timed = estimate(
        LLAMA,
        TWO_SOCKETS,
        Workload(prompt=512, cached=512, users=4),
        LLAMA_CPP,
        PlacementStrategy.GPU_RESIDENT,
        Constants.fitted(),
        None,
    )
    assert timed.prompt is not None
    assert timed.prefill is not None
    assert float(timed.prefill.value) == pytest.approx(4 / float(timed.prompt.total))


def test_a_runtime_of_anothers_kernels_takes_no_more_of_its_command() -> None:
    other = variant(LLAMA_CPP, name="other", command=lambda *_: "other")
    flags = ("drafts", "mainstream", "binds_nodes", "takes_several_counts", "caches_experts")
    assert all(getattr(LLAMA_CPP, flag) for flag in flags)
    assert not any(getattr(other, flag) for flag in flags)
    assert (other.setup, other.place) == (None, LLAMA_CPP.place)
