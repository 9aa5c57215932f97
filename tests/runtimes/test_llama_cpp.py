"""llama.cpp: placement, schedule and command."""

import shlex
from dataclasses import replace

import numpy as np
import pytest
from placing import WORK, command, place

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.schedule import ExchangePath, Route, Transfer
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.model import Model
from advisor.runtimes import IK_LLAMA_CPP, LLAMA_CPP, LM_STUDIO
from advisor.runtimes.compare import compare
from advisor.runtimes.llama_cpp.forks import unfolded
from advisor.runtimes.llama_cpp.passes import OBSERVED, Rereading, crossings, renewal_rate
from advisor.units import GIB, Quantity


@pytest.fixture(scope="module")
def rig() -> Machine:
    return machine(MachineSpec(gpu="RTX 3090", ram_gb=64))


@pytest.mark.parametrize("head_first", [True, False])
def test_llama_cpp_keeps_the_embedding_in_ram_and_the_head_with_the_first_or_last_layer(
    rig: Machine, head_first: bool
) -> None:
    settings = Settings(gpu_layers=40.0, head_first=head_first)
    whole = place(LLAMA_CPP, rig, PlacementStrategy.GPU_RESIDENT, settings=settings)
    half = place(LLAMA_CPP, rig, PlacementStrategy.CPU_OFFLOAD, settings=settings)
    assert whole.embedding == half.embedding == Location.RAM
    assert float(np.asarray(whole.output[Location.vram(0)])) == 1.0
    assert float(np.asarray(half.output[Location.vram(0)])) == float(head_first)
    assert half.weights[Location.vram(0)][Group.ATTENTION][-1] == 1.0, (
        "the last layers go to the GPU"
    )
    assert half.weights[Location.vram(0)][Group.ATTENTION][0] == 0.0


def test_a_gpu_layer_more_would_not_fit(rig: Machine) -> None:
    placement = place(LLAMA_CPP, rig, PlacementStrategy.CPU_OFFLOAD)
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    more = Settings(gpu_layers=float(placement.gpu_layers) + 3)
    needed = place(LLAMA_CPP, rig, PlacementStrategy.CPU_OFFLOAD, settings=more).needed_bytes(
        model, Location.vram(0), WORK
    )
    assert float(needed) > 24 * GIB - 1.0 * GIB, "three more would eat the margin of 1 GiB"


def test_unlike_cards_hold_what_whole_layers_leave_room_for() -> None:
    """Each card's part fits it, where all together had room for an expert layer more."""
    cards = machine(MachineSpec(gpu="V100 32GB + Arc A770 + RTX 2080 Ti", ram_gb=256))
    work = Workload(context=16384, prompt=256, users=2)
    model = catalog.model("gpt-oss-120b", "Q8_0")
    placement = LLAMA_CPP.place(model, cards, work, PlacementStrategy.CPU_OFFLOAD, Settings())
    for device, card in enumerate(cards.gpus):
        needed = placement.needed_bytes(model, Location.vram(device), work)
        assert float(needed) <= float(card.memory.value), card.name
    assert 0 < float(placement.cpu_moe) < model.layers


@pytest.mark.parametrize(
    ("settings", "at_once"),
    [(Settings(gpu_layers=80.0), 2), (Settings(gpu_layers=79.0), 1),
     (Settings(gpu_layers=80.0, kv_in_ram=True), 1)],
)  # fmt: skip
def test_cards_work_on_micro_batches_at_once_where_they_hold_everything(
    settings: Settings, at_once: int
) -> None:
    cards = machine(MachineSpec(gpu="RTX A6000", gpu_count=2, ram_gb=64))
    placement = place(LLAMA_CPP, cards, PlacementStrategy.CPU_OFFLOAD, settings=settings)
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    assert LLAMA_CPP.schedule(model, placement, cards, WORK).prefill.workers == at_once


@pytest.mark.parametrize(("cards", "at_once"), [(3, 3), (4, 4), (10, 4)])
def test_no_more_than_four_micro_batches_are_under_way(cards: int, at_once: int) -> None:
    # GGML_SCHED_MAX_COPIES is 4 in llama.cpp (ggml/CMakeLists.txt, pull request 20395), and 1 in
    # builds of ik_llama.cpp (pull request 751), whose cards take turns.
    rig = machine(MachineSpec(gpu="RTX A6000", gpu_count=cards, ram_gb=64))
    placement = place(LLAMA_CPP, rig, PlacementStrategy.GPU_RESIDENT)
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    assert LLAMA_CPP.schedule(model, placement, rig, WORK).prefill.workers == at_once
    assert IK_LLAMA_CPP.schedule(model, placement, rig, WORK).prefill.workers == 1


def test_experts_go_to_ram_before_whole_layers(rig: Machine) -> None:
    placement = place(LLAMA_CPP, rig, PlacementStrategy.CPU_OFFLOAD, "Qwen3-235B-A22B")
    assert float(placement.gpu_layers) == 94
    assert 0 < float(placement.cpu_moe) <= 94
    assert placement.weights[Location.vram(0)][Group.ATTENTION].sum() == 94
    assert placement.weights[Location.RAM][Group.ROUTED_EXPERTS].sum() == float(placement.cpu_moe)
    assert placement.weights[Location.RAM][Group.ATTENTION].sum() == 0


def test_each_layer_with_experts_in_ram_crosses_twice(rig: Machine) -> None:
    settings = Settings(cpu_moe=10.0)
    placement = place(
        LLAMA_CPP, rig, PlacementStrategy.CPU_OFFLOAD, "Qwen3-30B-A3B", settings=settings
    )
    model = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    assert float(crossings(model, placement, rig)) == 20.0


def test_where_the_gpu_holds_all_offload_is_shown_from_ram(rig: Machine) -> None:
    placement = place(LLAMA_CPP, rig, PlacementStrategy.CPU_OFFLOAD, "Llama-3.1-8B")
    assert float(placement.gpu_layers) == 0.0


def test_the_page_cache_is_the_free_ram_only_where_ram_is_too_small() -> None:
    small = machine(MachineSpec(gpu="RTX 3090", ram_gb=16))
    large = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    assert float(place(LLAMA_CPP, large, PlacementStrategy.NVME_OFFLOAD).page_cache) == 0.0
    # 16 GiB less 2 for the system, 1.2 of cache for 37 layers, 0.3 of buffer.
    assert 11 < float(place(LLAMA_CPP, small, PlacementStrategy.NVME_OFFLOAD).page_cache) / GIB < 14
    chosen = Settings(page_cache=5.0)
    given = place(LLAMA_CPP, large, PlacementStrategy.NVME_OFFLOAD, settings=chosen)
    assert float(given.page_cache) == 5.0


def paged_bytes(model: Model, cache: float, read_ahead: float = 128 * 2**10) -> float:
    """What a token brings in from the drive [B]."""
    where = machine(MachineSpec(gpu="none", ram_gb=16))
    assert where.disk is not None
    ahead = Quantity.given(read_ahead)
    where = replace(where, disk=replace(where.disk, read_ahead=ahead))
    settings = Settings(page_cache=cache)
    placed = LLAMA_CPP.place(model, where, WORK, PlacementStrategy.NVME_OFFLOAD, settings)
    stages = LLAMA_CPP.schedule(model, placed, where, WORK).decode.stages
    flows = [flow for stage in stages for flow in stage if flow.route is Route.PAGED]
    return sum(float(flow.moved) for flow in flows)


def test_a_scan_is_read_again_while_the_cache_is_smaller() -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    read = model.read_bytes_per_token
    assert paged_bytes(model, 0.0) == pytest.approx(read, rel=0.001)
    again = (1 - OBSERVED.retained) * read
    assert paged_bytes(model, 0.8 * model.file_bytes) == pytest.approx(again, rel=0.001)
    assert paged_bytes(model, model.file_bytes) == 0.0


def test_a_head_that_is_the_token_table_is_scanned_with_the_rest() -> None:
    # A fifth of Llama-3.2-1B is its table: with nine tenths of the file the cache holds no scan.
    model = catalog.model("Llama-3.2-1B", "Q8_0")
    assert model.embedding > 0.2 * model.file_bytes
    again = (1 - OBSERVED.retained) * model.read_bytes_per_token
    assert paged_bytes(model, 0.9 * model.file_bytes) == pytest.approx(again, rel=0.005)


def test_experts_used_last_are_cached_and_others_fetch_their_neighbours() -> None:
    # Mixtral in Q8_0: a matrix of an expert has 4096 x 14336 weights of 34 / 32 bytes, 62.4 MB.
    model = catalog.model("Mixtral-8x7B", "Q8_0")
    experts = float(np.sum(model.bytes_per_layer[Group.ROUTED_EXPERTS]))
    dense = model.read_bytes_per_token - experts / 4
    piece = 4096 * 14336 * 34 / 32
    half = dense + 0.5 * experts
    use = model.expert_use()
    assert use is not None
    missed = 1 - float(use.served(4.0))  # 4 of 8 experts are cached
    for ahead in (0.0, 128 * 2**10, 8 * 2**20):
        needed = experts / 4 * (1 + OBSERVED.windows * ahead / piece)
        assert paged_bytes(model, half, ahead) == pytest.approx(missed * needed, rel=0.01)
    # However much lies beside.
    most = missed * OBSERVED.most * experts
    assert paged_bytes(model, half, 1e9) == pytest.approx(most, rel=0.01)


def test_pages_of_a_full_cache_are_renewed_by_all_cores_and_faster_with_more_read_ahead() -> None:
    host = machine(MachineSpec(cpu="Ryzen 9 7950X", ram_gb=16))  # 16 cores
    constants = Rereading(retained=0.0, renewed=0.5e9, growth=0.5, windows=0.0, most=1.0)
    assert host.disk is not None
    for ahead, rate in ((128 * 2**10, 8e9), (2 * 2**20, 32e9), (4096, 8e9)):  # 4 = sqrt(2048 / 128)
        here = replace(host, disk=replace(host.disk, read_ahead=Quantity.given(float(ahead))))
        assert float(renewal_rate(here, constants)) == pytest.approx(rate)


def test_layers_are_divided_by_the_memory_of_the_cards() -> None:
    two = machine(MachineSpec(gpu="RTX 3090", gpu_count=2, ram_gb=64))
    placement = place(LLAMA_CPP, two, PlacementStrategy.GPU_RESIDENT)
    first, second = (placement.weights[Location.vram(device)][Group.NORMS] for device in (0, 1))
    # 80 layers of about 0.51 GB; the head behind the second card's layers counts as two of them.
    assert (first.sum(), second.sum()) == (41, 39)
    assert first[:41].all(), "the first card takes the first layers"


def test_cards_are_filled_by_bytes_where_experts_lie_in_ram() -> None:
    """Half of the first layers' experts lie in RAM, so the first card takes more layers: both cards
    then hold alike, the head on the second counted.
    """
    two = machine(MachineSpec(gpu="RTX 3090", gpu_count=2, ram_gb=256))
    model = catalog.model("Qwen3-235B-A22B", "Q4_K_M")
    result = LLAMA_CPP.place(model, two, WORK, PlacementStrategy.CPU_OFFLOAD, Settings())
    counts = [float(result.weights[Location.vram(device)][Group.NORMS].sum()) for device in (0, 1)]
    held = [float(result.needed_bytes(model, Location.vram(device), WORK)) for device in (0, 1)]
    assert counts[0] > 2 * counts[1]
    assert held[0] == pytest.approx(held[1], rel=0.1)
    assert max(held) <= 24 * GIB
    text = LLAMA_CPP.command(model, result, two, WORK)
    assert f"-ts {counts[0]:.0f},{counts[1] + 1:.0f} " in text


def test_a_cache_in_ram_leaves_room_for_layers_and_crosses_twice_in_each(rig: Machine) -> None:
    work = Workload(context=32_768)
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    here, there = (
        place(
            LLAMA_CPP,
            rig,
            PlacementStrategy.CPU_OFFLOAD,
            settings=Settings(kv_in_ram=kept),
            work=work,
        )
        for kept in (False, True)
    )
    assert float(there.gpu_layers) > float(here.gpu_layers)
    assert there.kv[Location.RAM].sum() == 80
    layers = float(there.gpu_layers)
    assert float(crossings(model, there, rig)) == float(crossings(model, here, rig)) + 2 * layers


def test_the_cpu_attends_to_a_cache_in_ram(rig: Machine) -> None:
    """4097 tokens of 327,680 B, all 80 layers'; the GPU reads none."""
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    work = Workload(prompt=4096, output=2)
    settings = Settings(gpu_layers=40.0, kv_in_ram=True)
    result = LLAMA_CPP.place(model, rig, work, PlacementStrategy.CPU_OFFLOAD, settings)
    stages = LLAMA_CPP.schedule(model, result, rig, work).decode.stages
    loads = [(flow.route, flow.load) for stage in stages for flow in stage if flow.load]
    read = sum(float(np.asarray(load.kv)) for route, load in loads if route is Route.IN_PLACE)
    assert read == 4097 * 327_680
    assert all(float(np.asarray(load.kv)) == 0 for route, load in loads if route is Route.RESIDENT)


@pytest.mark.parametrize("mode", ["none", "mlock", "dio"])
def test_a_file_that_is_read_in_is_copied_from_locked_memory(rig: Machine, mode: str) -> None:
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    for how, transfer in ((mode, Transfer.PINNED), ("mmap", Transfer.PAGEABLE)):
        settings = Settings(gpu_layers=20.0, load_mode=how)
        result = LLAMA_CPP.place(model, rig, WORK, PlacementStrategy.CPU_OFFLOAD, settings)
        stages = LLAMA_CPP.schedule(model, result, rig, WORK).prefill.stages
        copied = [flow for stage in stages for flow in stage if flow.route is Route.STREAMED]
        assert [flow.transfer for flow in copied] == [transfer]


def test_machines_that_are_joined_hand_on_over_the_network() -> None:
    far = machine(MachineSpec(gpu="RTX 3090", machines=3))
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    result = LLAMA_CPP.place(model, far, WORK, PlacementStrategy.GPU_RESIDENT, Settings())
    (exchange,) = LLAMA_CPP.schedule(model, result, far, WORK).decode.exchanges
    # To each of two further machines and back, 8192 values of 4 bytes each time, in 16 messages.
    assert (exchange.way, exchange.times, float(np.asarray(exchange.moved))) == (
        ExchangePath.NETWORK,
        2.0,
        2 * 8192 * 4,
    )
    assert exchange.messages == 16


def test_llama_cpp_gets_every_option(rig: Machine) -> None:
    work = Workload(context=4096, users=2, kv_type="q8_0", ubatch=1024)
    text = command(LLAMA_CPP, rig, PlacementStrategy.NVME_OFFLOAD, "Q4_K_M", work)
    words = shlex.split(text)
    assert words[0] == "llama-server"
    for option, value in (
        ("-c", "8192"),
        ("-np", "2"),
        ("-fa", "on"),
        ("-ctk", "q8_0"),
        ("-ctv", "q8_0"),
        ("-ub", "1024"),
        ("-lm", "mmap"),
        ("--fit", "off"),
    ):
        assert words[words.index(option) + 1] == value
    assert "--no-repack" in words
    assert int(words[words.index("-ngl") + 1]) > 20


def test_llama_cpp_resident_takes_all_layers() -> None:
    big = machine(MachineSpec(gpu="H100 SXM", ram_gb=64))
    assert "-ngl all" in command(LLAMA_CPP, big, PlacementStrategy.GPU_RESIDENT, "Q4_K_M", WORK)


def test_window_layers_cache_the_whole_context_on_request() -> None:
    # Gemma 3 12B: 40 window layers of 8192 bytes a token; 32,768 tokens in place of 1024 + 512.
    rig = machine(MachineSpec(gpu="H100 SXM", ram_gb=64))
    held = []
    for full in (False, True):
        work = Workload(context=32_768, swa_full=full)
        placement = place(
            LLAMA_CPP,
            rig,
            PlacementStrategy.GPU_RESIDENT,
            "gemma-3-12b-it",
            settings=None,
            work=work,
        )
        assert placement.cache is not None
        held.append(float(placement.cache.sum()))
    assert held[1] - held[0] == 40 * 8192 * (32_768 - 1536)
    model = catalog.model("gemma-3-12b-it", "Q4_K_M")
    assert "--swa-full" in LLAMA_CPP.command(model, placement, rig, work)


def test_pages_of_a_file_have_the_room_that_the_gpu_leaves_of_unified_memory() -> None:
    # 36 GiB: pages, what the GPU and the processor hold and the system together are no more
    mac = machine(MachineSpec(gpu="Apple M4 Max 32c", ram_gb=36))
    model = catalog.model("gpt-oss-120b", "MXFP4")
    placement = LLAMA_CPP.place(model, mac, WORK, PlacementStrategy.NVME_OFFLOAD, Settings())
    gpu, ram = (
        float(placement.needed_bytes(model, part, WORK))
        for part in (Location.vram(0), Location.RAM)
    )
    assert gpu > 20 * GIB
    assert 0 < float(np.asarray(placement.page_cache)) <= 36 * GIB - gpu - ram


def copied(build: str, ubatch: int = 512) -> float:
    """Bytes that a micro-batch of a prompt copies to the GPU [B]."""
    moe = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    rig = replace(machine(MachineSpec(gpu="RTX 4090", ram_gb=64)), build=build)
    work = replace(WORK, prompt=ubatch, ubatch=ubatch)
    placement = LLAMA_CPP.place(
        moe, rig, work, PlacementStrategy.CPU_OFFLOAD, Settings(cpu_moe=moe.layers)
    )
    stages = LLAMA_CPP.schedule(moe, placement, rig, work).prefill.stages
    return sum(float(flow.moved) for stage in stages for flow in stage)


def test_a_build_before_september_2025_copies_every_expert() -> None:
    # its scheduler copied whole tensors until pull request 15346
    moe = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    whole = float(moe.bytes_per_layer[Group.ROUTED_EXPERTS].sum())
    assert copied("2025-08") == pytest.approx(whole)
    assert copied("2025-08", 64) == pytest.approx(whole)
    share = float(moe.expert_share(512.0, 1.0, WORK.variety))
    assert copied("") == pytest.approx(whole * share)
    assert copied("2025-09") == copied("")


def test_whole_layers_leave_room_for_windows_that_keep_the_whole_context() -> None:
    gemma = catalog.model("Gemma-3-27B", "Q4_K_M")
    rig = machine(MachineSpec(gpu="RTX 3060", ram_gb=64))
    short, whole = (
        LM_STUDIO.place(
            gemma,
            rig,
            Workload(context=32_768, swa_full=full),
            PlacementStrategy.CPU_OFFLOAD,
            Settings(),
        )
        for full in (False, True)
    )
    assert 0 < whole.gpu_layers < short.gpu_layers
    held = whole.needed_bytes(gemma, Location.vram(0), Workload(context=32_768, swa_full=True))
    assert held <= rig.gpus[0].memory.value


def test_the_fork_reads_prompts_of_latent_attention_with_keys_and_values_anew() -> None:
    # DeepSeek-V3: 128 heads x (128 + 64 + 128) = 40,960 values; 128 x 512 x (128 + 128) =
    # 16,777,216 for each past token of a micro-batch, 4,096 for each of 4,096 tokens; in the
    # latent space 128 x (576 + 512)
    deepseek = catalog.model("DeepSeek-V3", "Q4_K_M")
    values = unfolded(deepseek, 4096.0).per_layer.attention_flops / 2.0
    assert values == pytest.approx(np.full(deepseek.layers, 45_056.0))
    assert deepseek.per_layer.attention_flops / 2.0 == pytest.approx(
        np.full(deepseek.layers, 139_264.0)
    )
    assert np.all(unfolded(deepseek, 512.0).per_layer.attention_flops / 2.0 == 40_960 + 32_768)
    plain = catalog.model("Llama-3.1-8B", "Q4_K_M")
    assert unfolded(plain, 512.0) is plain


def test_passing_from_card_to_card_over_a_slow_link_takes_time() -> None:
    """PCIe 1.0 x1 carries 250 MB/s at most: 512 tokens x 8,192 x 4 bytes take 67 ms and more."""
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    prompts = {}
    for lanes in (1, 16):
        spec = MachineSpec(gpu="RTX 3090", gpu_count=3, ram_gb=64, pcie_gen=1, pcie_lanes=lanes)
        strategy = PlacementStrategy.GPU_RESIDENT
        seen = estimate(model, machine(spec), Workload(), LLAMA_CPP, strategy, Constants.fitted())
        assert seen.prompt is not None
        prompts[lanes] = float(seen.prompt.total)
    assert prompts[1] - prompts[16] > 2 * 512 * 8192 * 4 / 250e6


@pytest.mark.parametrize(
    ("model", "settings", "words"),
    [
        ("Llama-3.1-8B", Settings(gpu_layers=10), "10 of 32"),
        ("Qwen3-30B-A3B", Settings(cpu_moe=12), "experts of 12 layers"),
        ("Llama-3.1-8B", Settings(cpu_ffn=4), "feed-forward of 4 layers"),
    ],
)
def test_a_stated_part_in_ram_is_no_model_wholly_in_the_gpu(
    model: str, settings: Settings, words: str
) -> None:
    stored = catalog.model(model, "Q4_K_M")
    where = machine(MachineSpec(gpu="RTX 4090", ram_gb=64))
    placed = compare(stored, where, Workload(), settings=settings, runtimes=(LLAMA_CPP,))
    by_strategy = {each.strategy: each for each in placed}
    assert words in by_strategy[PlacementStrategy.GPU_RESIDENT].refusal
    assert by_strategy[PlacementStrategy.CPU_OFFLOAD].fits
    whole = Settings(gpu_layers=48, cpu_moe=0)
    placed = compare(stored, where, Workload(), settings=whole, runtimes=(LLAMA_CPP,))
    assert not placed[0].refusal
