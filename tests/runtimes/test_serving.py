"""vLLM and SGLang: weights on the GPUs, offloaded weights, several GPUs."""

import shlex
from dataclasses import replace

import numpy as np
import pytest
from flags import flags, listed

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import ExchangePath, Route
from advisor.cost_model.workload import Workload
from advisor.evidence.published.engines import ENGINES
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.runtimes import LLAMA_CPP, SGLANG, VLLM
from advisor.runtimes.compare import as_run
from advisor.runtimes.parallelism import cache_share, parallel
from advisor.runtimes.remarks import modes, remarks_of
from advisor.runtimes.serving import sequences_that_fit
from advisor.runtimes.sglang import static_share
from advisor.runtimes.vllm import grouped, grouping
from advisor.units import GIB

WORK = Workload()
OFFLOAD = PlacementStrategy.CPU_OFFLOAD
RESIDENT = PlacementStrategy.GPU_RESIDENT


def rig(gpu: str = "RTX 3090", count: int = 1, nodes: int = 1, **inputs: float) -> Machine:
    return machine(
        MachineSpec(gpu=gpu, gpu_count=count, machines=nodes, ram_gb=512, **inputs)  # type: ignore[arg-type]
    )


def run(
    runtime: Runtime,
    where: Machine,
    strategy: PlacementStrategy = OFFLOAD,
    name: str = "Llama-3.1-70B",
    settings: Settings | None = None,
    work: Workload = WORK,
    form: str = "Q4_K_M",
) -> Estimate:
    model = as_run(catalog.model(name, form), runtime, where)
    return estimate(model, where, work, runtime, strategy, Constants.fitted(), settings)


def placement(estimate: Estimate) -> Placement:
    assert estimate.placement is not None
    return estimate.placement


def tps(estimate: Estimate) -> float:
    assert estimate.decode is not None
    return float(estimate.decode.value)


@pytest.mark.parametrize(
    ("name", "gpus", "tensor"),
    [
        ("Llama-3.1-70B", 1, 1),
        ("Llama-3.1-70B", 8, 8),
        ("Qwen2.5-7B", 4, 4),  # 28 heads
        ("Qwen2.5-7B", 8, 4),
        ("Llama-3.1-70B", 3, 1),  # 64 heads
    ],
)
def test_heads_decide_how_many_gpus_share_a_layer(name: str, gpus: int, tensor: int) -> None:
    how = parallel(catalog.model(name, "AWQ"), rig(count=gpus))
    assert (how.tensor, how.pipeline) == (tensor, gpus // tensor)


def test_machines_are_a_pipeline() -> None:
    how = parallel(catalog.model("Llama-3.1-405B", "AWQ"), rig("H100 SXM", 8, nodes=2))
    assert (how.tensor, how.pipeline) == (8, 2)


@pytest.mark.parametrize(
    ("name", "gpus", "share"),
    [
        ("Llama-3.1-70B", 4, 1 / 4),  # 8 key heads
        ("Llama-3.1-70B", 16, 1 / 8),
        ("DeepSeek-V3", 8, 1.0),  # one latent
    ],
)
def test_key_heads_are_divided_as_far_as_they_go(name: str, gpus: int, share: float) -> None:
    assert cache_share(catalog.model(name, "FP8"), gpus) == pytest.approx(share)


def test_two_gpus_hold_half_each() -> None:
    estimate = run(VLLM, rig(count=2), RESIDENT)
    held = [
        float(placement(estimate).weight_bytes(estimate.model, Location.vram(device)))
        for device in (0, 1)
    ]
    assert held[0] == pytest.approx(held[1])
    assert sum(held) == pytest.approx(estimate.model.file_bytes)
    cache = [
        float(placement(estimate).kv_bytes(estimate.model, Location.vram(device), WORK))
        for device in (0, 1)
    ]
    assert sum(cache) == pytest.approx(8192 * 327_680)


@pytest.mark.parametrize("runtime", [VLLM, SGLANG])
def test_each_byte_lies_somewhere_once(runtime: Runtime) -> None:
    for where in (rig(), rig(count=3), rig(count=2, nodes=2)):
        for strategy in runtime.strategies:
            for zero_copy in (False, True):
                estimate = run(runtime, where, strategy, settings=Settings(zero_copy=zero_copy))
                held = sum(
                    float(placement(estimate).weight_bytes(estimate.model, location))
                    for location in placement(estimate).locations
                )
                assert held == pytest.approx(estimate.model.file_bytes)


def test_tensor_parallel_adds_speed_and_a_pipeline_only_memory() -> None:
    """Half the bytes to read each, but all layers' fixed cost and 160 all-reduces."""
    entry, two, three = (run(VLLM, rig("A100 PCIe 80GB", count), RESIDENT) for count in (1, 2, 3))
    assert 1.3 < tps(two) / tps(entry) < 2.0
    assert tps(three) == pytest.approx(tps(entry), rel=0.02)


def test_an_all_reduce_takes_the_time_of_its_link() -> None:
    """80 layers, twice each; a vector is 16 KiB and adds little."""
    table = Constants.fitted().bound(Scope(runtime="vllm"))
    for card, family in (("A100 SXM 80GB", "NVLink"), ("A100 PCIe 80GB", "")):
        estimate = run(VLLM, rig(card, 2), RESIDENT)
        seconds = 160 * table.value("all_reduce", family)
        assert estimate.step is not None
        assert float(estimate.step.parts["crossings"]) == pytest.approx(seconds, rel=0.15)


def test_more_gpus_take_longer_to_add_up() -> None:
    two, eight = (run(VLLM, rig("H100 SXM", count), RESIDENT) for count in (2, 8))
    assert two.step is not None
    assert eight.step is not None
    assert float(eight.step.parts["crossings"]) > float(two.step.parts["crossings"])


LONG = Workload(users=8, prompt=15_872, output=512, context=16_384)
"""Requests of 16k tokens: 15,872 + 512 / 2 = 16,128 in the cache on average."""
OF_A_TOKEN = 64 * 2 * 8 * 128 * 2
"""Cache of a token of Qwen3-32B in 16 bits: 64 layers, 8 heads of 128 keys and values [B]."""


@pytest.mark.parametrize(
    ("card", "kept", "users"), [("RTX 6000 Ada", 387 * 2**20, 2), ("L40S", 3693 * 2**20, 1)]
)  # fmt: skip
def test_users_who_do_not_fit_wait(card: str, kept: float, users: int) -> None:
    """34.3 GB of Qwen3-32B in FP8 and 4.23 GB of cache for each user in 0.92 of 48 GiB.

    The driver keeps 387 MiB of the one card, and error correction 3 GiB of the other besides, where
    two users lack 1.6 MB.
    """
    estimate = run(VLLM, rig(card), RESIDENT, "Qwen3-32B", form="FP8", work=LONG)
    memory = float(estimate.machine.gpus[0].memory.value)
    assert memory == pytest.approx(48 * GIB - kept, rel=0.01)
    left = memory * 0.92 - GIB - estimate.model.file_bytes
    assert float(estimate.work.users) == left // (16_128 * OF_A_TOKEN) == users
    assert float(estimate.waiting) == 8 - users
    if users == 2:
        running = "2 users run at once"
    else:
        running = "1 user runs"
    assert any(f"{running} and {8 - users} wait" in note for note in modes(estimate))
    assert bool(estimate.fits)


def test_users_take_the_pages_of_their_requests() -> None:
    """Of 16,384 tokens that a user may fill, 512 + 256 / 2 = 640 are in use on average."""
    short = Workload(users=8, context=16_384)
    estimate = run(VLLM, rig("RTX 6000 Ada"), RESIDENT, "Qwen3-32B", form="FP8", work=short)
    assert (float(estimate.work.users), float(np.sum(estimate.waiting))) == (8, 0)
    # Eight times 640 tokens are less than a whole context, which the engine must be able to hold.
    assert placement(estimate).cache is not None
    assert 8 * np.sum(placement(estimate).cache) == pytest.approx(16_384 * OF_A_TOKEN)
    longer = replace(short, prompt=4000, output=512)
    estimate = run(VLLM, rig("RTX 6000 Ada"), RESIDENT, "Qwen3-32B", form="FP8", work=longer)
    assert np.sum(placement(estimate).cache) == pytest.approx(4256 * OF_A_TOKEN)


def test_a_whole_context_must_fit_however_short_the_requests() -> None:
    """11.6 GB are left; 65,536 tokens need 17.2 GB, and the engine would not start."""
    work = Workload(users=8, context=65_536)
    estimate = run(VLLM, rig("RTX 6000 Ada"), RESIDENT, "Qwen3-32B", form="FP8", work=work)
    assert not bool(estimate.fits)


def test_first_tokens_come_in_turns_by_hand() -> None:
    """Two at once of eight: prompts after t / 2 and t, the next pair a whole reply later."""
    estimate = run(VLLM, rig("RTX 6000 Ada"), RESIDENT, "Qwen3-32B", form="FP8", work=LONG)
    assert estimate.first_token is not None
    prompt = float(estimate.first_token.value)
    reply = float(estimate.reply)
    times = estimate.first_tokens
    assert times[:3] == pytest.approx([prompt / 2, prompt, reply + prompt / 2])
    assert estimate.first_token_within(0.5) == pytest.approx(reply + prompt)
    assert estimate.first_token_within(0.95) == pytest.approx(3 * reply + prompt)


def test_bloom_on_eight_gpus_as_published() -> None:
    """44 ms a token, 16 bits, one sequence, 8 A100 80 GB, DeepSpeed-Inference.

    https://huggingface.co/blog/bloom-inference-pytorch-scripts, 2022-09-16.
    """
    work = Workload(prompt=50, output=100, context=2048)
    where = rig("A100 SXM 80GB", 8)
    estimate = run(
        ENGINES["DeepSpeed-Inference"], where, RESIDENT, "BLOOM-176B", work=work, form="BF16-hf"
    )
    assert bool(estimate.fits)
    assert 1 / tps(estimate) == pytest.approx(0.044, rel=0.15)


@pytest.mark.parametrize(
    ("gpu", "runtime", "model", "form", "least"),
    [
        # GiB of weights: 235.1e9 x 0.53 B (AWQ, with scales) = 117; 70.6e9 x 2 B = 131;
        # 671e9 x 0.6 B (Q4_K_M) = 377, on machines of 128, 128 and 256 GiB.
        ("GB10", VLLM, "Qwen3-235B-A22B", "AWQ", 2),
        ("GB10", SGLANG, "Llama-3.3-70B", "BF16", 2),
        ("Ryzen AI Max+ 395", LLAMA_CPP, "Llama-3.3-70B", "BF16", 2),
        ("M3 Ultra 256GB", LLAMA_CPP, "DeepSeek-R1", "Q4_K_M", 2),
    ],
)
def test_machines_of_unified_memory_add_it_up(
    gpu: str, runtime: Runtime, model: str, form: str, least: int
) -> None:
    def fits(machines: int) -> bool:
        where = machine(MachineSpec(gpu=gpu, machines=machines, network_gbs=23))
        return bool(run(runtime, where, RESIDENT, model, form=form).fits)

    assert [fits(count) for count in (least - 1, least, 2 * least)] == [False, True, True]


@pytest.mark.parametrize(
    ("gpu", "network", "form", "shared"),
    [
        # 64 GB x (1 - 1/2) / 273 GB/s = 117 ms saved; 128 sums of 15 us + 10 KB / 23 GB/s cost 2 ms
        ("GB10", "200GbE", "BF16", True),
        # 128 x (300 us + 10 KB / 2.5 GB/s) = 39 ms of 16.4 GB x 1/2 / 120 GB/s = 68 ms (4 bits)
        ("M4", "Thunderbolt 4", "Q4_0", True),
        # the same of 16.4 GB x 1/2 / 819 GB/s = 10 ms
        ("M2 Ultra", "Thunderbolt 4", "Q4_0", False),
    ],
)
def test_machines_share_layers_where_that_is_sooner(
    gpu: str, network: str, form: str, shared: bool
) -> None:
    where = machine(MachineSpec(gpu=gpu, machines=2, network=network))
    how = parallel(catalog.model("Qwen3-32B", form), where)
    assert (how.tensor, how.pipeline) == ((2, 1) if shared else (1, 2))


def test_two_boxes_by_cable_are_twice_as_fast_as_published() -> None:
    """332.7 to 162.4 ms a token for two GB10 over 200GbE (unslothai/unsloth, pull request 10280,
    2026-09-04: 2.09 times, a pipeline 1.08); dense 16-bit weights."""
    entry, pair = (
        run(
            VLLM,
            machine(MachineSpec(gpu="GB10", machines=count)),
            RESIDENT,
            "Qwen3-32B",
            form="BF16",
        )
        for count in (1, 2)
    )
    assert tps(pair) / tps(entry) == pytest.approx(2.09, rel=0.2)


def test_machines_pay_for_their_network() -> None:
    near, far = (run(VLLM, rig(count=2, nodes=nodes), RESIDENT) for nodes in (1, 2))
    assert far.phases is not None
    assert [exchange.way for exchange in far.phases.decode.exchanges] == [
        ExchangePath.PEER,
        ExchangePath.NETWORK,
    ]
    assert near.step is not None
    assert far.step is not None
    assert float(far.step.parts["crossings"]) > float(near.step.parts["crossings"])


def test_a_dense_model_is_copied_ahead() -> None:
    estimate = run(VLLM, rig())
    assert float(placement(estimate).zero_copy) == 0
    other = run(VLLM, rig(), settings=Settings(zero_copy=True))
    assert tps(estimate) > tps(other)
    assert "--offload-backend uva --cpu-offload-gb" in other.command


def test_of_many_experts_only_those_used_are_read() -> None:
    """Of 128 experts 8 are used: reading them over the link beats copying all of a layer."""
    estimate = run(VLLM, rig("RTX 4070"), name="Qwen3-30B-A3B")
    assert np.all(placement(estimate).zero_copy)
    assert set(placement(estimate).weights[Location.RAM]) >= {Group.ROUTED_EXPERTS}
    assert placement(estimate).weights[Location.RAM][Group.ATTENTION].sum() == 0
    assert tps(estimate) > 3 * tps(
        run(VLLM, rig("RTX 4070"), name="Qwen3-30B-A3B", settings=Settings(zero_copy=False))
    )
    assert "--cpu-offload-params experts" in estimate.command


def test_zero_copy_by_hand() -> None:
    """All 80 layers in RAM at 24 x 0.68 GB/s of zero-copy, times what vLLM reaches of a link."""
    estimate = run(VLLM, rig(pcie_gbs=24), settings=Settings(gpu_layers=0, zero_copy=True))
    held = float(placement(estimate).weight_bytes(estimate.model, Location.RAM))
    assert estimate.step is not None
    reached = Constants.fitted().bound(Scope(runtime="vllm")).value("link_share")
    seconds = held / (24e9 * 0.68 * reached)
    assert float(estimate.step.parts[Route.STREAMED]) == pytest.approx(seconds, rel=1e-4)


def test_users_together_make_copying_pay() -> None:
    """256 users ask for nearly all experts, and a copy ahead is then the faster way."""
    work = Workload(users=256, prompt=64, output=64, context=256)
    estimate = run(VLLM, rig("RTX 3090"), name="Qwen3-30B-A3B", work=work, form="FP8")
    assert not np.any(placement(estimate).zero_copy)


@pytest.mark.parametrize(
    ("layers", "offloaded", "pair"), [(80, 80, (1, 1)), (80, 40, (2, 1)), (80, 1, (41, 1))]
)
def test_groups_by_hand(layers: int, offloaded: int, pair: tuple[int, int]) -> None:
    assert grouping(layers, offloaded) == pair


def test_groups_offload_enough_and_hardly_more() -> None:
    for layers in (28, 36, 61, 80):
        for offloaded in range(1, layers + 1):
            size, last = grouping(layers, offloaded)
            named = [at for at in range(layers) if at % size >= size - last]
            assert len(named) == grouped(layers, size, last)
            assert offloaded <= len(named) <= offloaded + 1


def test_conversations_that_fit_by_hand() -> None:
    """24 GiB x 0.92 - 1 GiB - 5.73 GB of AWQ 8B, over 8192 x 128 KiB each."""
    estimate = run(VLLM, rig(), RESIDENT, "Llama-3.1-8B")
    left = 24 * GIB * 0.92 - GIB - estimate.model.file_bytes
    number = sequences_that_fit(estimate.model, placement(estimate), estimate.machine, WORK)
    assert number == int(left // (8192 * 131_072))


def test_fewer_bits_of_cache_hold_more_conversations() -> None:
    counts = []
    for kv_type in ("f16", "q8_0"):
        work = Workload(kv_type=kv_type)
        estimate = run(VLLM, rig(), RESIDENT, "Llama-3.1-8B", work=work)
        counts.append(
            sequences_that_fit(estimate.model, placement(estimate), estimate.machine, work)
        )
        assert ("--kv-cache-dtype fp8" in estimate.command) == (kv_type == "q8_0")
    assert counts[1] == pytest.approx(2 * counts[0], abs=1)


def test_sglang_copies_and_then_computes() -> None:
    """Copy and compute add up: 0.9 of neither is hidden, so it is slower than copying ahead."""
    settings = Settings(gpu_layers=40.0)
    serial, ahead = (run(runtime, rig(), settings=settings) for runtime in (SGLANG, VLLM))
    assert serial.step is not None
    assert float(serial.step.hidden) == 0
    assert ahead.step is not None
    assert float(ahead.step.hidden) > 0


def test_sglang_sets_memory_aside_for_a_chunk() -> None:
    """Chunks of 4096 tokens: 512 MiB and 1.5 MiB each, 6.5 GiB of an RTX 3090's 24,123 MiB."""
    assert static_share(rig()) == pytest.approx(1 - 6.5 * 1024 / 24_123, abs=0.001)
    assert static_share(rig("H100 SXM")) == pytest.approx(1 - 12.5 * 1024 / 81_081, abs=0.001)


CASES = [
    run(runtime, where, strategy, name, settings, Workload(kv_type=kv_type))
    for runtime in (VLLM, SGLANG)
    for where in (rig(), rig(count=2), rig(count=2, nodes=2))
    for strategy in (RESIDENT, OFFLOAD)
    for name in ("Llama-3.1-70B", "Qwen3-235B-A22B")
    for settings in (Settings(zero_copy=False), Settings(zero_copy=True))
    for kv_type in ("f16", "q8_0")
]


@pytest.mark.parametrize("runtime", [VLLM, SGLANG], ids=lambda runtime: runtime.key)
def test_every_option_is_in_the_release(runtime: Runtime) -> None:
    lines = [
        line for case in CASES if case.runtime is runtime for line in case.command.splitlines()
    ]
    printed = set().union(*(flags(shlex.split(line, comments=True)[1:]) for line in lines))
    assert printed - {"-m"} <= listed(runtime.key)
    assert len(printed) > 8


def test_swap_space_is_printed_nowhere_and_explained() -> None:
    assert not any("swap" in case.command for case in CASES)
    assert "--swap-space" not in listed("vllm")
    assert any("swap_space never held weights" in note for note in remarks_of(VLLM))
