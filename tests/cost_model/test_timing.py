"""The cost model's formulas, each with its arithmetic, on constants made up for the purpose."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from advisor.catalog.constants import ConstantRow, Constants, Scope
from advisor.cost_model.loads import Load
from advisor.cost_model.processors import (
    cpu_seconds,
    gpu_seconds,
    matrices,
    smooth_max,
    vectors,
)
from advisor.cost_model.schedule import (
    Exchange,
    ExchangePath,
    Flow,
    Route,
    Schedule,
    Stage,
    Transfer,
)
from advisor.cost_model.timing import (
    FixedTime,
    StepTime,
    centred,
    exchange_seconds,
    flow_seconds,
    link_seconds,
    page_fault_seconds,
    passes,
    peer_path,
    peer_rate,
    ram_bytes,
    schedule_seconds,
    stage_seconds,
)
from advisor.errors import InputError
from advisor.machine.machine import Disk, Gpu, Host, Link, Machine, Network
from advisor.runtimes.llama_cpp.passes import OBSERVED, missed_share
from advisor.units import Array, Quantity
from lab.stack import Columns

CONSTANTS = {
    "gpu_read_share": 0.5,
    "gpu_kv_share": 0.25,
    "gpu_layer": 1e-3,
    "gpu_expert_layer": 2e-3,
    "gpu_state_layer": 4e-3,
    "gpu_expert_read_share": 1.0,
    "gpu_scan_layer": 16e-3,
    "gpu_stream_layer": 32e-3,
    "gpu_latent_layer": 64e-3,
    "gpu_latent_value": 8e6,
    "gpu_product_share": 0.05,
    "gpu_unpack_operations": 0.0,
    "host_launch": 1.0,
    "centre": 1.0,
    "gpu_expert_flop_share": 0.5,
    "gpu_flop_share": 0.5,
    "gpu_attention_share": 0.25,
    "gpu_tile": 0.0,
    "gpu_further_token": 0.0,
    "gpu_expert_tile": 0.0,
    "gpu_expert_half_tile": 1.0,
    "token": 5e-3,
    "crossing": 3e-3,
    "cpu_read_share": 0.8,
    "socket_share": 0.5,
    "core_clock": 1.0,
    "core_matrix_clock": 1.0,
    "core_decode_rate": 10e9,
    "core_attention_flops": 1e9,
    "core_batch_attention_flops": 4e9,
    "core_cache_rate": 1e15,
    "core_flops": 10e9,
    "core_expert_tile": 8.0,
    "socket_flop_share": 0.25,
    "plain_layout_share": 0.5,
    "others_cache_share": 0.5,
    "cpu_layer": 1e-3,
    "cpu_barrier": 2e-4,
    "cpu_expert_layer": 4e-3,
    "cpu_state_layer": 2e-3,
    "link_share": 0.9,
    "host_copy": 10e9,
    "pageable_copy": 10e9,
    "staging_wait": 0.5,
    "fault_rate": 2e9,
    "disk_share": 0.5,
    "pipeline_share": 0.5,
    "all_reduce": 4e-3,
    "all_reduce_further": 1e-3,
    "peer_share": 0.5,
    "peer_sharing": 0.25,
    "network_hop": 6e-3,
}


@pytest.fixture
def constants() -> Constants:
    return Constants(
        ConstantRow(constant=name, value=value, unit="", kind="assumed", source="made up")
        for name, value in CONSTANTS.items()
    )


LINK = Link(
    name="link",
    pinned=Quantity.given(20e9),
    pageable=Quantity.given(10e9),
    zero_copy=Quantity.given(5e9),
)
GPU = Gpu(
    name="GPU",
    vendor="",
    family="",
    memory=Quantity.given(24e9),
    bandwidth=Quantity.given(1000e9),
    tensor_flops={"fp32": 40e12, "fp16": 100e12},
    link=LINK,
)
HOST = Host(name="host", cores=8, memory=Quantity.given(64e9), bandwidth=Quantity.given(50e9))
BENT = (1 + 2**-2.5) ** 0.4
"""What a read takes more where RAM gives 0.8 x 50 GB/s and 8 cores could decode twice that."""
MACHINE = Machine(
    name="m", gpus=(GPU,), host=HOST, disk=Disk(name="d", sequential=Quantity.given(4e9))
)


def load(
    weights: Array = 0.0,
    kv: float = 0.0,
    flops: float = 0.0,
    layers: float = 0.0,
    moe: float = 0.0,
    attention: float = 0.0,
    tokens: float = 1.0,
) -> Load:
    return Load(
        tokens=tokens,
        sequence_tokens=tokens,
        weights=weights,
        experts=0.0,
        kv=kv,
        flops=flops,
        attention_flops=attention,
        expert_flops=0.0,
        layers=layers,
        matrices=layers,
        expert_layers=moe,
        state_layers=0.0,
    )


def test_a_gpu_reads_weights_and_cache_each_at_its_share(constants: Constants) -> None:
    # 10 GB / (0.5 x 1000 GB/s) = 20 ms; 5 GB / (0.25 x 1000) = 20 ms; 10 layers x 1 ms, 3 x 2 ms.
    time = gpu_seconds(load(weights=10e9, kv=5e9, layers=10, moe=3), GPU, constants)
    assert float(time.moving) == pytest.approx(0.040)
    assert float(time.layers) == pytest.approx(0.016)


def test_a_gpu_takes_the_longer_of_reading_and_computing(constants: Constants) -> None:
    # 10 TFLOP / (0.5 x 100 TFLOP/s) = 200 ms, over 20 ms of reading.
    assert float(gpu_seconds(load(weights=10e9, flops=10e12), GPU, constants).moving) == (
        pytest.approx(0.2)
    )


def test_further_tokens_add_their_arithmetic_up_to_eight() -> None:
    # 10 GB / (0.5 x 1000 GB/s) = 20 ms; each further token 1.2 x (1 TFLOP / 40 TFLOP/s) = 30 ms.
    # 100 tokens take 100 TFLOP / (0.5 x 100 TFLOP/s) = 2 s in matrices, nine no less than eight.
    own = Constants(
        ConstantRow(constant=name, value=value, unit="", kind="assumed", source="made up")
        for name, value in {**CONSTANTS, "gpu_further_token": 1.2}.items()
    )
    times = {
        tokens: float(
            gpu_seconds(load(weights=10e9, flops=tokens * 1e12, tokens=tokens), GPU, own).moving
        )
        for tokens in (1, 4, 8, 9, 100)
    }
    assert times == pytest.approx({1: 0.02, 4: 0.11, 8: 0.23, 9: 0.23, 100: 2.0})


def test_a_gpu_without_dot_products_is_bound_by_its_instructions(constants: Constants) -> None:
    # 16 GFLOP of a token / (0.05 x 40 TFLOP/s) = 8 ms, over 1 GB / (0.5 x 1000 GB/s) = 2 ms.
    plain = replace(GPU, dot_products=0.0)
    token = load(weights=1e9, flops=16e9)
    assert float(gpu_seconds(token, plain, constants).moving) == pytest.approx(8e-3)
    assert float(gpu_seconds(token, GPU, constants).moving) == pytest.approx(2e-3)


def with_constants(**changed: float) -> Constants:
    return Constants(
        ConstantRow(constant=name, value=value, unit="", kind="assumed", source="made up")
        for name, value in {**CONSTANTS, **changed}.items()
    )


def test_cores_unpack_beside_reading() -> None:
    # 4 billion weights of 10 operations / 40 TFLOP/s = 1 ms; half a GB / (0.5 x 1000 GB/s) = 1 ms:
    # where both take as long, together 1.32 times. A prompt is multiplied as matrices.
    own = with_constants(gpu_unpack_operations=10.0)
    token = load(weights=0.5e9, flops=8e9)
    assert float(gpu_seconds(token, GPU, own).moving) == pytest.approx(1e-3 * 2**0.4)
    routed = replace(load(weights=0.5e9), experts=0.5e9, expert_flops=8e9)
    assert float(gpu_seconds(routed, GPU, own).moving) == pytest.approx(1e-3 * 2**0.4)
    prompt = load(weights=0.5e9, flops=512 * 8e9, tokens=512)
    assert float(gpu_seconds(prompt, GPU, own).moving) == pytest.approx(512 * 8e9 / 50e12)


def test_a_slow_host_starts_kernels_later() -> None:
    flow = Flow(route=Route.RESIDENT, load=load(weights=1e9, layers=4.0))
    plain, slow = (
        flow_seconds(flow, MACHINE, with_constants(host_launch=launch)) for launch in (1.0, 2.0)
    )
    assert float(slow.layers) == pytest.approx(2.0 * float(plain.layers))
    assert float(slow.moving) == pytest.approx(float(plain.moving))


def test_strangers_cards_take_longer_and_their_processors_do_not() -> None:
    # 30 ms of the GPU take a tenth more, 10 ms of the processor none: 43 ms.
    time = StepTime(
        total=0.04,
        parts={Route.RESIDENT: 0.02, FixedTime.LAYERS: 0.01, Route.IN_PLACE: 0.01},
        hidden=0.0,
    )
    there = centred(time, with_constants(centre=1.1))
    assert float(there.total) == pytest.approx(0.043)
    assert sum(map(float, there.parts.values())) == pytest.approx(0.043)
    assert centred(time, with_constants()) is time


def test_a_prompt_needs_no_dot_products(constants: Constants) -> None:
    # 512 tokens are multiplied as matrices: 8 TFLOP / (0.5 x 100 TFLOP/s) = 160 ms.
    prompt = load(weights=1e9, flops=8e12, tokens=512)
    for dot_products in (0.0, 1.0):
        card = replace(GPU, dot_products=dot_products)
        assert float(gpu_seconds(prompt, card, constants).moving) == pytest.approx(0.16)


def test_heads_of_a_latent_cache_cost_more(constants: Constants) -> None:
    # 10 layers x 1 ms, each with 4 heads of 250 values in the latent's space: 1,000 values of 8 MB,
    # each moved in 8 us at 1000 GB/s; on half the rate twice as long.
    latent = replace(load(layers=10), latent_values=10.0 * 4 * 250)
    assert float(gpu_seconds(latent, GPU, constants).layers) == pytest.approx(0.090)
    half = replace(GPU, bandwidth=Quantity.given(500e9))
    assert float(gpu_seconds(latent, half, constants).layers) == pytest.approx(0.170)


def test_kinds_of_layers_have_costs_of_their_own(constants: Constants) -> None:
    # 10 layers x 1 ms; 5 with a state, 2 of them scans: 3 x 4 + 2 x 16 ms; streams 1 x 32, latent
    # 1 x 64 ms.
    mixed = replace(
        load(layers=10), state_layers=5.0, scan_layers=2.0, stream_layers=1.0, latent_layers=1.0
    )
    assert float(gpu_seconds(mixed, GPU, constants).layers) == pytest.approx(0.150)


def test_experts_are_read_at_their_share_of_the_rate() -> None:
    # 1 GB of which 0.4 are experts at half the rate: (0.6 + 0.4 / 0.5) GB / (0.5 x 1000 GB/s).
    slow = Columns({**CONSTANTS, "gpu_expert_read_share": 0.5}, 1.0)
    read = replace(load(weights=1e9), experts=0.4e9)
    assert float(gpu_seconds(read, GPU, slow).moving) == pytest.approx(2.8e-3)  # type: ignore[arg-type]


def test_scores_are_moved_in_memory_without_flash_attention(constants: Constants) -> None:
    # 5 billion scores of 20 bytes at 0.5 x 1000 GB/s: 200 ms, after 40 ms of products.
    scored = replace(load(attention=1e12), scores=5e9)
    assert float(gpu_seconds(scored, GPU, constants).moving) == pytest.approx(0.240)


def test_a_gpu_without_matrix_cores_computes_in_its_faster_type(constants: Constants) -> None:
    # A GTX 1080 Ti's 16-bit rate is 1/64 of its 32-bit one: 4 TFLOP / (0.5 x 40) = 200 ms.
    old = Gpu(
        name="old",
        vendor="",
        family="",
        memory=Quantity.given(11e9),
        bandwidth=Quantity.given(1e15),
        tensor_flops={"fp32": 40e12, "fp16": 0.6e12},
        link=LINK,
    )
    assert float(gpu_seconds(load(flops=4e12), old, constants).moving) == pytest.approx(0.2)


def test_far_from_each_other_the_smaller_of_ram_and_cores_binds() -> None:
    # a thousandth of the other side adds 1000^-2.5 of it: nothing that shows in six digits
    assert float(smooth_max(1 / 40e9, 1 / 40e12)) == pytest.approx(1 / 40e9)
    assert float(smooth_max(1 / 40e12, 1 / 40e9)) == pytest.approx(1 / 40e9)


def test_where_both_limits_meet_neither_is_reached() -> None:
    # (2 x 40^-2.5)^(1/2.5) = 2^0.4 / 40 = 1.3195 / 40
    assert float(smooth_max(1 / 40e9, 1 / 40e9)) == pytest.approx(2**0.4 / 40e9)


def test_a_published_sweep_over_threads_bends_as_ours() -> None:
    # DeepSeek-R1 Q4_K_M on an EPYC 7773X, ik_llama.cpp discussion 223, 2025-02-23, tokens/s by
    # threads. With 2 threads the cores bind, more than 32 add nothing: the curve between is ours.
    measured = {2: 0.99, 4: 1.89, 8: 3.25, 16: 4.60, 32: 4.81}
    for threads, speed in measured.items():
        ours = float(1.0 / smooth_max(1.0 / 4.95, 2.0 / (threads * 0.99)))
        assert ours == pytest.approx(speed, rel=0.06), threads


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (1, 2 / 40 + 4 / 8),  # a token: 0.8 x 50 GB/s; 8 cores attend at 1 GFLOP/s each
        (512, 2 / 40 + 4 / 32),  # a prompt: at 4 GFLOP/s each
    ],
)
def test_cores_attend_slower_for_one_token_than_for_a_prompt(
    constants: Constants, tokens: float, expected: float
) -> None:
    fast = Host(name="h", cores=8, memory=Quantity.given(64e9), bandwidth=Quantity.given(50e9))
    many = replace(
        constants.row("core_decode_rate"), value=1e15
    )  # cores never bind, so RAM's 40 GB/s stand alone
    table = Constants([*(constants.row(name) for name in CONSTANTS if name != many.constant), many])
    question = load(weights=2e9, attention=4e9, tokens=tokens)
    assert float(cpu_seconds(question, fast, table).moving) == pytest.approx(expected)


def test_two_sockets_do_not_double(constants: Constants) -> None:
    # RAM gives 0.8 x 0.5 x 50 = 20 GB/s, 8 cores 80: (1 + 4^-2.5)^0.4 = 1.0124 times 4 / 20 s
    two = Host(
        name="h", cores=8, sockets=2, memory=Quantity.given(64e9), bandwidth=Quantity.given(50e9)
    )
    expected = 4 / 20 * (1 + 4**-2.5) ** 0.4
    assert float(cpu_seconds(load(weights=4e9), two, constants).moving) == pytest.approx(expected)


def test_two_sockets_compute_a_prompt_slower_than_one_program_could(constants: Constants) -> None:
    # 8 TFLOP / (8 cores x 10 GFLOP/s x 0.25), but for the first of 512 tokens
    two = Host(
        name="h", cores=8, sockets=2, memory=Quantity.given(64e9), bandwidth=Quantity.given(50e9)
    )
    time = cpu_seconds(load(flops=8e12, tokens=512), two, constants)
    assert float(time.moving) == pytest.approx(400 * 511 / 512)


def test_a_lower_clock_for_matrices_slows_prompts_alone(constants: Constants) -> None:
    # 8 cores x 10 GFLOP/s: 100 tokens of 1 GFLOP, of which the first is unpacked, take 99 / 80 s.
    slow = constants.scaled({"core_matrix_clock": 0.5}, "this test")
    prompt = load(weights=1e3, flops=100e9, tokens=100)
    token = load(weights=10e9, flops=1e9)
    usual, slower = (float(cpu_seconds(prompt, HOST, entry).moving) for entry in (constants, slow))
    assert (usual, slower) == (pytest.approx(99 / 80), pytest.approx(99 / 40))
    assert cpu_seconds(token, HOST, slow).moving == cpu_seconds(token, HOST, constants).moving


def test_cores_meet_after_every_layer(constants: Constants) -> None:
    # 40 layers of 1 ms, and 0.2 ms for each of 8 cores; 16 cores take 1.6 ms more a layer.
    many = replace(HOST, cores=16)
    times = [float(cpu_seconds(load(layers=40), host, constants).layers) for host in (HOST, many)]
    assert times == [pytest.approx(40 * 2.6e-3), pytest.approx(40 * 4.2e-3)]


def test_weights_that_are_not_repacked_are_slower(constants: Constants) -> None:
    time = cpu_seconds(load(weights=4e9), HOST, constants, repacked=False)
    assert float(time.moving) == pytest.approx(4 / 20 * BENT)


@pytest.mark.parametrize(
    ("transfer", "rate", "waited"),
    [
        (Transfer.PINNED, 20, 0.0),
        # half of what the link alone takes for what a core copied: it is twice as fast
        (Transfer.PAGEABLE, 10, 0.5 / 20),
        (Transfer.ZERO_COPY, 5, 0.0),
    ],
)
def test_a_copy_pays_link_and_host(
    constants: Constants, transfer: Transfer, rate: float, waited: float
) -> None:
    expected = 1 / (0.9 * rate) + 1 / 10 + waited
    assert float(link_seconds(1e9, LINK, transfer, constants)) == pytest.approx(expected)


def test_faults_add_to_the_drive(constants: Constants) -> None:
    assert MACHINE.disk is not None
    seconds = page_fault_seconds(4e9, MACHINE.disk, constants)
    assert float(seconds) == pytest.approx(4 / 4 + 4 / 2)


def test_a_map_that_was_read_cold_decides_alone(constants: Constants) -> None:
    assert MACHINE.disk is not None
    disk = replace(MACHINE.disk, mapped=Quantity.given(1e9))
    assert float(page_fault_seconds(4e9, disk, constants)) == pytest.approx(4.0)


def test_old_pages_make_room_beside_a_cold_map(constants: Constants) -> None:
    # The rate of faults, where none was measured, has that work in it already.
    assert MACHINE.disk is not None
    cold = replace(MACHINE.disk, mapped=Quantity.given(1e9))
    assert float(page_fault_seconds(4e9, cold, constants, renewal=2.0)) == pytest.approx(4.0 + 2.0)
    typical = page_fault_seconds(4e9, MACHINE.disk, constants, renewal=2.0)
    assert float(typical) == pytest.approx(4 / 4 + 4 / 2)


def test_pieces_do_not_share_read_ahead(constants: Constants) -> None:
    # The map is read at 8 GB/s, the drive answers at 4: 2 GB in a row and 2 in pieces.
    assert MACHINE.disk is not None
    ahead = replace(MACHINE.disk, mapped=Quantity.given(8e9))
    assert float(page_fault_seconds(4e9, ahead, constants, 2e9)) == pytest.approx(2 / 8 + 2 / 4)
    slow = replace(MACHINE.disk, mapped=Quantity.given(1e9))
    assert float(page_fault_seconds(4e9, slow, constants, 2e9)) == pytest.approx(4.0)


def test_a_scan_finds_little_of_itself_until_all_of_it_is_kept() -> None:
    assert float(missed_share(0.0)) == 1.0
    assert float(missed_share(0.9)) == pytest.approx(1.0 - OBSERVED.retained, rel=0.01)
    assert float(missed_share(0.9, retained=0.0)) > 0.99
    assert float(missed_share(1.0)) == 0.0
    assert float(missed_share(2.0)) == 0.0
    assert np.all(np.diff(missed_share(np.linspace(0.0, 1.0, 50))) <= 0)


def test_flows_side_by_side_take_the_longest(constants: Constants) -> None:
    # Copy: 18 GB / 18 GB/s + 18 / 10 = 2.8 s; compute: 10 GB in 20 ms, hidden.
    stage = (
        Flow(route=Route.RESIDENT, load=load(weights=10e9)),
        Flow(route=Route.STREAMED, moved=18e9),
    )
    time = stage_seconds(stage, MACHINE, constants)
    assert float(time.total) == pytest.approx(2.8)
    assert float(time.hidden) == pytest.approx(0.02)
    assert float(time.parts[Route.STREAMED]) == pytest.approx(2.8)
    assert float(time.parts[Route.RESIDENT]) == 0.0


def test_flows_share_the_ram_they_take(constants: Constants) -> None:
    # The CPU reads 40 GB (1 s at 40 GB/s) while 9 GB are copied (0.5 + 0.9 s): 49 GB from RAM that
    # gives 50 GB/s need 0.98 s, less than the copy; 90 GB and 9 GB need 1.98 s, less than 2.25 s.
    def stage(read: float, copied: float) -> Stage:
        return (
            Flow(route=Route.IN_PLACE, load=load(weights=read)),
            Flow(route=Route.STREAMED, moved=copied),
        )

    assert float(stage_seconds(stage(40e9, 9e9), MACHINE, constants).total) == pytest.approx(1.4)
    # 40 GB and 20 GB: copy 20/18 + 20/10 = 3.1 s. 120 GB and 30 GB: CPU 3 s, copy 4.67 s.
    # A wide link: 60 GB copied beside 40 GB read.
    wide = Link(
        name="c2c",
        pinned=Quantity.given(1e12),
        pageable=Quantity.given(1e12),
        zero_copy=Quantity.given(1e12),
    )
    machine = Machine(
        name="m",
        gpus=(
            Gpu(
                name="g",
                vendor="",
                family="",
                memory=Quantity.given(1e9),
                bandwidth=Quantity.given(1e12),
                tensor_flops={"fp16": 1e12},
                link=wide,
            ),
        ),
        host=Host(name="h", cores=64, memory=Quantity.given(1e12), bandwidth=Quantity.given(10e9)),
        disk=None,
    )
    # CPU: 8 GB at 0.8 x 10 = 1 s; copy: 8 GB / 900 + 8 / 10 = 0.81 s; RAM: 16 GB / 10 = 1.6 s.
    time = stage_seconds(stage(8e9, 8e9), machine, constants)
    assert float(time.total) == pytest.approx(1.6)
    assert sum(map(float, time.parts.values())) == pytest.approx(1.6)


def test_stages_and_fixed_costs_add_and_repeat(constants: Constants) -> None:
    # 20 ms + 100 ms, 2 crossings x 3 ms, 5 ms a token: 131 ms and what is bent; 4 times.
    schedule = Schedule(
        stages=(
            (Flow(route=Route.RESIDENT, load=load(weights=10e9)),),
            (Flow(route=Route.IN_PLACE, load=load(weights=4e9)),),
        ),
        crossings=2,
        repeats=4,
    )
    time = schedule_seconds(schedule, MACHINE, constants)
    assert float(time.total) == pytest.approx(4 * (0.031 + 0.1 * BENT))
    assert float(time.parts[FixedTime.CROSSINGS]) == pytest.approx(4 * 0.006)
    assert float(time.parts[FixedTime.TOKEN]) == pytest.approx(4 * 0.005)
    assert float(time.parts[FixedTime.LAYERS]) == 0.0


@pytest.mark.parametrize(
    ("way", "reduces", "peer", "seconds"),
    [
        # 2 x (4 ms + 10 MB / (0.5 x 20 GB/s)); over 100 GB/s of its own a fifth of that
        (ExchangePath.PEER, True, None, 2 * (4e-3 + 1e-3)),
        (ExchangePath.PEER, True, 100e9, 2 * (4e-3 + 2e-4)),
        # handed on: a crossing of 3 ms instead
        (ExchangePath.PEER, False, None, 2 * (3e-3 + 1e-3)),
        # 2 x (6 ms + 10 MB / 1 GB/s)
        (ExchangePath.NETWORK, False, None, 2 * (6e-3 + 1e-2)),
    ],
)
def test_gpus_exchange_activations(
    constants: Constants, way: ExchangePath, reduces: bool, peer: float | None, seconds: float
) -> None:
    card = replace(GPU, peer=None if peer is None else Quantity.given(peer))
    machine = replace(
        MACHINE, gpus=(card, card), nodes=2, network=Network(name="far", rate=Quantity.given(1e9))
    )
    exchange = Exchange(way=way, times=2.0, moved=10e6, reduces=reduces)
    assert float(exchange_seconds(exchange, machine, constants)) == pytest.approx(seconds)
    schedule = Schedule(stages=(), exchanges=(exchange, exchange), crossings=1)
    parts = schedule_seconds(schedule, machine, constants).parts
    assert float(parts[FixedTime.CROSSINGS]) == pytest.approx(2 * seconds + 3e-3)


def test_machines_sum_in_rounds(constants: Constants) -> None:
    # 4 machines: 2 rounds of 25 us, and 10 MB over 1 GB/s; 2 machines a single round.
    machine = replace(
        MACHINE,
        nodes=4,
        network=Network(name="far", rate=Quantity.given(1e9), reduce=Quantity.given(25e-6)),
    )
    for gpus, rounds in ((2, 1), (4, 2), (8, 3)):
        exchange = Exchange(
            way=ExchangePath.NETWORK, times=3.0, moved=10e6, reduces=True, gpus=gpus
        )
        expected = 3 * (rounds * 25e-6 + 10e-3)
        assert float(exchange_seconds(exchange, machine, constants)) == pytest.approx(expected)


def test_the_host_copies_the_first_bytes_of_a_sum_between_small_machines(
    constants: Constants,
) -> None:
    # 31 us, and 64 KiB at 1 GB/s: 65.5 us; of 5 MiB the first at 1 GB/s, the others at 20 GB/s:
    # 1,048.6 + 4,194,304 / 20e9 = 209.7 us.
    machine = replace(
        MACHINE,
        nodes=2,
        network=Network(
            name="far",
            rate=Quantity.given(20e9),
            reduce=Quantity.given(31e-6),
            staged=Quantity.given(1e9),
        ),
    )
    for moved, expected in ((2.0**16, 96.536e-6), (5 * 2.0**20, 1289.291e-6)):
        exchange = Exchange(way=ExchangePath.NETWORK, times=1.0, moved=moved, reduces=True, gpus=2)
        assert float(exchange_seconds(exchange, machine, constants)) == pytest.approx(expected)


def test_a_protocol_waits_for_each_message(constants: Constants) -> None:
    # 3 machines more: 3 x (16 x 300 us + 10 MB / 1 GB/s).
    machine = replace(
        MACHINE,
        nodes=4,
        network=Network(name="far", rate=Quantity.given(1e9), message=Quantity.given(300e-6)),
    )
    exchange = Exchange(way=ExchangePath.NETWORK, times=3.0, moved=10e6, messages=16.0)
    assert float(exchange_seconds(exchange, machine, constants)) == pytest.approx(3 * 14.8e-3)


def test_each_further_gpu_adds_to_a_sum(constants: Constants) -> None:
    # 2 x (4 + 2 x 1 ms + 1 ms (1 + 2 x 0.25)): four GPUs over the host's link.
    exchange = Exchange(way=ExchangePath.PEER, times=2.0, moved=10e6, reduces=True, gpus=4)
    array = exchange_seconds(exchange, MACHINE, constants)
    assert float(array) == pytest.approx(2 * (6e-3 + 1.5e-3))


def test_gpus_that_copy_together_share_the_ram(constants: Constants) -> None:
    """4 x 9 GB, alone or beside 1 ms of compute: each takes 9 / 18 + 9 / 10 = 1.4 s, and 36 of
    50 GB/s are taken; 9 x 9 GB need 1.62 s."""

    def seconds(alike: int) -> tuple[float, float]:
        copied = Flow(route=Route.STREAMED, moved=9e9, alike=alike)
        computed = Flow(route=Route.RESIDENT, load=load(weights=0.5e9), alike=alike)
        return (
            float(stage_seconds((copied,), MACHINE, constants).total),
            float(stage_seconds((computed, copied), MACHINE, constants).total),
        )

    assert seconds(4) == pytest.approx((1.4, 1.4))
    assert seconds(9) == pytest.approx((9 * 9e9 / 50e9, 9 * 9e9 / 50e9))


def test_staged_bytes_pay_drive_and_link(constants: Constants) -> None:
    # 1 GB / (0.5 x 4) + 1 / (0.9 x 10) + 1 / 10 + 0.5 / 20
    flow = Flow(route=Route.STAGED, moved=1e9, transfer=Transfer.PAGEABLE)
    time = stage_seconds((flow,), MACHINE, constants)
    assert float(time.total) == pytest.approx(0.5 + 1 / 9 + 0.1 + 0.025)


def test_a_drive_that_is_not_known_is_asked_for(constants: Constants) -> None:
    diskless = Machine(name="m", gpus=(GPU,), host=HOST, disk=None)
    with pytest.raises(InputError, match="give it in GB/s or measure it"):
        stage_seconds((Flow(route=Route.PAGED, moved=1.0),), diskless, constants)


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ({"avx2", "avx512f", "avx512_vnni", "amx_int8"}, "avx512"),
        ({"avx2", "avx512f"}, "avx2"),
        ({"avx2", "avx_vnni"}, "avx2"),
        ({"avx2"}, "avx2"),
        ({"asimd", "asimddp"}, "neon"),
        ({"asimd"}, "asimd"),
        ({"avx", "sse4_2"}, "sse"),
        ({"sse4_2"}, "sse4"),
        ({"ssse3"}, "scalar"),
        ({"rv64gc"}, "scalar"),
        ({"rvv"}, "rvv"),
        ({"lsx", "lasx"}, "lasx"),
        ({""}, ""),  # a row without its instruction sets
        (set(), ""),
    ],
)
def test_the_widest_arithmetic_names_a_host(flags: set[str], name: str) -> None:
    host = Host(
        name="h",
        cores=1,
        memory=Quantity.given(1.0),
        bandwidth=Quantity.given(1.0),
        instruction_sets=frozenset(flags),
    )
    assert vectors(host) == name


def test_an_expert_with_few_tokens_takes_a_whole_tile_of_a_core(constants: Constants) -> None:
    # 8e12 FLOP x (1 - 1/16) x (1 + 8/16) / (8 cores x 10 GFLOP/s) = 140.6 s, with 128 tokens for
    # each expert 8e12 x (1 - 1/128) x (1 + 8/128) / 80e9 = 105.4 s.
    few = replace(load(tokens=512), expert_flops=8e12, per_expert=16.0)
    many = replace(few, per_expert=128.0)
    drafted = replace(load(tokens=4), expert_flops=8e12, per_expert=2.0)  # 8e12 / 2 / 80e9
    assert float(cpu_seconds(drafted, HOST, constants).moving) == pytest.approx(50.0)
    assert float(cpu_seconds(few, HOST, constants).moving) == pytest.approx(140.625)
    assert float(cpu_seconds(many, HOST, constants).moving) == pytest.approx(105.4, rel=1e-3)


def test_cores_follow_the_clock_of_their_model(constants: Constants) -> None:
    # 2 s of multiplying at the usual clock; RAM, which binds a token, is no faster.
    prompt = load(flops=0.16e12 * 512 / 511, tokens=512)
    fast = replace(HOST, clock=1.6)
    assert float(cpu_seconds(prompt, HOST, constants).moving) == pytest.approx(2.0)
    assert float(cpu_seconds(prompt, fast, constants).moving) == pytest.approx(1.25)
    slow = replace(HOST, bandwidth=Quantity.given(1e9))
    times = [
        float(cpu_seconds(load(weights=4e9), host, constants).moving)
        for host in (slow, replace(slow, clock=1.6))
    ]
    assert times[1] == pytest.approx(times[0], rel=0.01)


def test_cores_without_kernels_bind_before_ram() -> None:
    """1.09 tokens/s of Llama-3.2-3B in Q4_K_M, 1.9 GiB read, on the four cores of a Core 2 Quad
    Q8400 are 2.2 GB/s, a third of what its front-side bus gives
    (https://github.com/geerlingguy/ai-benchmarks/issues/31): within the spread of its sources,
    whose shares of AVX2 go from 0.022 to 0.064.
    """
    old = replace(
        HOST,
        cores=4,
        bandwidth=Quantity.given(7e9),
        segment="desktop",
        instruction_sets=frozenset({"ssse3"}),
    )
    shipped = Constants.fitted().bound(Scope(runtime="llama.cpp", decode_class="k"))
    token = load(weights=1.9 * 2**30)
    assert float(cpu_seconds(token, old, shipped).moving) == pytest.approx(1 / 1.09, rel=0.3)
    wide = replace(old, instruction_sets=frozenset({"avx2"}))
    assert float(cpu_seconds(token, wide, shipped).moving) < 0.4


def test_arrays_equal_single_numbers(constants: Constants) -> None:
    weights = np.array([1e9, 4e9, 9e9])
    flow = Flow(route=Route.IN_PLACE, load=load(weights=weights))
    swept = stage_seconds((flow,), MACHINE, constants).total
    single = [float(cpu_seconds(load(weights=weight), HOST, constants).total) for weight in weights]
    assert np.allclose(np.asarray(swept), single)
    assert not math.isnan(float(np.sum(swept)))


@pytest.mark.parametrize(
    ("repeats", "workers", "share", "runs"),
    [(1, 1, 0.5, 1), (16, 1, 0.5, 16), (1, 4, 1.0, 1), (16, 4, 1.0, 4.75), (16, 4, 0.0, 16)],
)
def test_micro_batches_overlap_on_several_gpus(
    repeats: int, workers: int, share: float, runs: float
) -> None:
    # 4 GPUs in a perfect pipeline, 16 batches: all four quarters, then fifteen times a quarter.
    assert float(passes(repeats, workers, share)) == pytest.approx(runs)


def test_a_second_micro_batch_of_few_tokens_is_no_gain() -> None:
    # 562 tokens in batches of 512 on three GPUs: a batch of 512 through all, then a third of one of
    # 50; in batches of 281 that is 512 / 281 + 50 / 281 / 3 = 1.8814, not (2 + 2) / 3 = 1.33
    equal = 562 / 2
    runs = float(passes(2.0, 3, 1.0, 512 / equal))
    assert runs == pytest.approx((512 + 50 / 3) / equal)
    assert runs * equal > 512


def test_a_gpu_attends_after_it_has_multiplied(constants: Constants) -> None:
    # 10 GB / 500 GB/s = 20 ms, then 1 TFLOP / (0.25 x 100 TFLOP/s) = 40 ms over 4 ms of reading.
    time = gpu_seconds(load(weights=10e9, kv=1e9, attention=1e12), GPU, constants)
    assert float(time.moving) == pytest.approx(0.060)


@pytest.mark.parametrize(("tokens", "padded"), [(8.0, 1.0), (32.0, 2.0), (512.0, 1.0625)])
def test_matrices_compute_whole_tiles_of_tokens(tokens: float, padded: float) -> None:
    # Tiles waste 32 tokens in effect: 32 of 64, 32 of 544; few tokens go one by one.
    table = Constants(
        ConstantRow(constant=name, value=value, unit="", kind="assumed", source="made up")
        for name, value in {**CONSTANTS, "gpu_tile": 32.0}.items()
    )
    time = gpu_seconds(load(flops=50e12, tokens=tokens), GPU, table)
    assert float(time.moving) == pytest.approx(padded)


@pytest.mark.parametrize(
    ("tokens", "each", "seconds"),
    [(8.0, 1.0, 2.0), (10.0, 2.0, 6.0), (80.0, 9.0, 6.0), (720.0, 32.4, 4.0)],
)
def test_the_padding_of_experts_grows_with_the_tokens_of_the_step(
    tokens: float, each: float, seconds: float
) -> None:
    # 50 TFLOP at half of half of 100 TFLOP/s: 2 s, up to eight tokens unpadded. Of at most 36
    # tokens of padding a step of 10 has 10/90: 4, beside 2 of the expert: 2 s x (1 + 4/2). One of
    # 80 has half, 18 beside 9, and one of 720 nine tenths, 32.4 beside as many.
    tiles = {"gpu_expert_tile": 36.0, "gpu_expert_half_tile": 80.0}
    table = Constants(
        ConstantRow(constant=name, value=value, unit="", kind="assumed", source="made up")
        for name, value in {**CONSTANTS, **tiles}.items()
    )
    step = replace(load(tokens=tokens), expert_flops=50e12, per_expert=each)
    assert float(gpu_seconds(step, GPU, table).moving) == pytest.approx(seconds, rel=1e-9)


def test_masked_caches_of_other_users_cost_time_where_all_lie_in_one(constants: Constants) -> None:
    # 80 GFLOP at 8 x 1 GFLOP/s: 10 s alone, and half as much again for each of three others.
    constants = constants.with_measured(
        [replace(constants.row("core_attention_flops"), constant="others_cache_share", value=0.5)]
    )
    alone = load(attention=80e9)
    shared = replace(load(attention=80e9), shared_with=3.0)
    assert float(cpu_seconds(alone, HOST, constants).moving) == pytest.approx(10.0)
    assert float(cpu_seconds(shared, HOST, constants).moving) == pytest.approx(25.0)


def test_cores_unpack_once_and_multiply_for_every_further_token(constants: Constants) -> None:
    # 0.8 GB / (8 x 10 GB/s) = 10 ms; 3 of 4 tokens' 80 GFLOP at 80 GFLOP/s = 750 ms; RAM is far.
    time = cpu_seconds(load(weights=0.8e9, flops=80e9, tokens=4), HOST, constants)
    assert float(time.moving) == pytest.approx(0.76, rel=1e-3)


def test_the_speed_of_batches_bends_without_a_step() -> None:
    # Each further user costs more time, and less than a step of its own.
    table = Constants(
        ConstantRow(constant=name, value=value, unit="", kind="assumed", source="made up")
        for name, value in CONSTANTS.items()
    )
    steps = [
        float(cpu_seconds(load(weights=4e9, flops=4e9 * users, tokens=users), HOST, table).total)
        for users in (1, 2, 4, 8, 16)
    ]
    for users, (few, more) in zip((1, 2, 4, 8), pairwise(steps), strict=True):
        assert few < more < 2 * few, users


def test_some_of_several_messages_wait_for_the_protocol(constants: Constants) -> None:
    machine = replace(
        MACHINE,
        nodes=2,
        network=Network(name="far", rate=Quantity.given(1e9), message=Quantity.given(1e-3)),
    )
    some = Exchange(way=ExchangePath.NETWORK, times=2.0, moved=10e6, messages=np.array([0.0, 3.0]))
    # 2 x (messages x 1 ms + 10 MB over 1 GB/s): in a sweep of which one point sends none
    assert exchange_seconds(some, machine, constants) == pytest.approx([2e-2, 2.6e-2])


def test_one_copy_of_several_cards_counts_for_each_of_them() -> None:
    alone = (Flow(route=Route.STREAMED, moved=3e9, alike=1),)
    together = (
        Flow(route=Route.STREAMED, moved=3e9, alike=4),
        Flow(route=Route.RESIDENT, moved=0.0),
    )
    assert float(ram_bytes(alone)) == 0.0, "a copy by itself shares its RAM with nothing"
    assert float(ram_bytes(together)) == 12e9


def test_hidden_time_and_parts_of_what_follows_add_up(constants: Constants) -> None:
    # 3 runs hide 20 ms each behind a copy of 2.8 s; then 2 runs of another stage, which only they
    # have: 4 GB from the drive at 0.5 x 4 GB/s, and on at 0.9 x 20 GB/s after a copy at 10
    copied = (
        Flow(route=Route.RESIDENT, load=load(weights=10e9)),
        Flow(route=Route.STREAMED, moved=18e9),
    )
    then = Schedule(stages=((Flow(route=Route.STAGED, moved=4e9),),), repeats=2)
    time = schedule_seconds(Schedule(stages=(copied,), repeats=3, then=then), MACHINE, constants)
    assert float(time.hidden) == pytest.approx(3 * 0.02)
    assert float(time.parts[Route.STREAMED]) == pytest.approx(3 * 2.8)
    assert float(time.parts[Route.STAGED]) == pytest.approx(2 * (2.0 + 4 / 18 + 4 / 10))
    assert float(time.total) == pytest.approx(sum(map(float, time.parts.values())))
    assert float(time.parts[FixedTime.TOKEN]) == pytest.approx(3 * 5e-3 + 2 * 5e-3)


def test_attention_multiplies_matrices_from_sixteen_tokens_of_a_sequence(
    constants: Constants,
) -> None:
    # 8 cores at 1 GFLOP/s each for 15 tokens, at 4 from 16 on: 32 GFLOP take 4 s, then 1 s
    times = [
        float(cpu_seconds(load(attention=32e9, tokens=tokens), HOST, constants).moving)
        for tokens in (15, 16)
    ]
    assert times == [pytest.approx(4.0), pytest.approx(1.0)]


def test_a_gpu_has_the_peak_of_the_first_type_that_it_computes_in() -> None:
    plain = replace(GPU, tensor_flops={"fp32": 40e12})
    assert float(plain.first_peak(("fp16", "fp32"))) == 40e12
    assert float(GPU.first_peak(("fp16", "fp32"))) == 100e12
    assert float(GPU.first_peak(("int8",))) == 1.0, "no rate that it could be divided by"
    two = replace(GPU, tensor_flops={"fp16": np.array([0.0, 8e12]), "fp32": np.array([4e12, 2e12])})
    assert two.first_peak(("fp16", "fp32")).tolist() == [4e12, 8e12]
    # 100 TFLOP/s in 16 bits, 250 of 8-bit integers are 125 of 16
    assert float(replace(GPU, tensor_flops={"fp16": 100e12, "int8": 250e12}).peak_16_bit) == 125e12
    assert float(replace(GPU, tensor_flops={}).peak_16_bit) == 0.0


@pytest.mark.parametrize(
    ("flags", "segment", "widest"),
    [
        ({"avx2"}, "desktop", "avx2"),
        ({"avx2", "avx_vnni"}, "desktop", "vnni"),
        ({"avx512f", "avx512_vnni"}, "server", "avx512"),
        ({"avx512_vnni", "avx_vnni"}, "desktop", "avx512_wide"),  # Zen 5
        ({"avx512_vnni", "avx_vnni"}, "laptop", "avx512"),  # in two halves
        ({"avx512_vnni", "avx_vnni", "amx_int8"}, "server", "amx"),
        ({"asimd", "dotprod"}, "desktop", "neon"),
        ({"avx"}, "desktop", "sse"),
        (set(), "desktop", ""),
    ],
)
def test_matrices_take_the_widest_arithmetic(flags: set[str], segment: str, widest: str) -> None:
    host = replace(HOST, instruction_sets=frozenset(flags), segment=segment)
    assert matrices(host) == widest


def test_messages_without_a_measured_cost_take_the_usual_hop(constants: Constants) -> None:
    # 2 x (6 ms + 10 MB over 1 GB/s), whether or not there are messages; 4 x 0.5 ms where known
    far = replace(MACHINE, nodes=2, network=Network(name="far", rate=Quantity.given(1e9)))
    three, none = (
        Exchange(way=ExchangePath.NETWORK, times=2.0, moved=10e6, messages=messages)
        for messages in (4.0, 0.0)
    )
    assert float(exchange_seconds(three, far, constants)) == pytest.approx(0.032)
    known = replace(
        far, network=Network(name="far", rate=Quantity.given(1e9), message=Quantity.given(0.5e-3))
    )
    assert float(exchange_seconds(three, known, constants)) == pytest.approx(0.024)
    assert float(exchange_seconds(none, known, constants)) == pytest.approx(0.032)


def test_a_gpu_that_reads_no_other_goes_through_the_hosts_memory() -> None:
    # a link of its own, reads over PCIe, neither
    linked = replace(GPU, peer=Quantity.given(300e9), peer_access=0.0)
    assert peer_path(linked) == "NVLink"
    assert peer_path(replace(GPU, peer_access=1.0)) == ""
    assert peer_path(replace(GPU, peer_access=0.0)) == "host memory"


def test_only_a_sum_of_all_takes_the_rounds_of_a_network(constants: Constants) -> None:
    # 2 hand-overs of 6 ms and 10 MB at 1 GB/s; 4 GPUs sum in two rounds of 1 ms
    far = replace(
        MACHINE,
        nodes=2,
        network=Network(name="far", rate=Quantity.given(1e9), reduce=Quantity.given(1e-3)),
    )
    one_way = Exchange(way=ExchangePath.NETWORK, times=2.0, moved=10e6)
    assert float(exchange_seconds(one_way, far, constants)) == pytest.approx(0.032)
    summed = replace(one_way, reduces=True, gpus=4)
    assert float(exchange_seconds(summed, far, constants)) == pytest.approx(2 * (2e-3 + 10e-3))


def test_products_without_dot_products_count_experts(constants: Constants) -> None:
    # (4 + 12) GFLOP / (0.05 x 40 TFLOP/s) = 8 ms
    plain = replace(GPU, dot_products=0.0)
    token = replace(load(weights=1e9, flops=4e9), expert_flops=12e9)
    assert float(gpu_seconds(token, plain, constants).moving) == pytest.approx(8e-3)


def test_what_follows_hides_time_of_its_own(constants: Constants) -> None:
    # 20 ms hidden in the first run and in each of two that follow
    copied = (
        Flow(route=Route.RESIDENT, load=load(weights=10e9)),
        Flow(route=Route.STREAMED, moved=18e9),
    )
    then = Schedule(stages=(copied,), repeats=2)
    time = schedule_seconds(Schedule(stages=(copied,), then=then), MACHINE, constants)
    assert float(time.hidden) == pytest.approx(3 * 0.02)


def test_two_cards_that_copy_at_once_share_the_ram(constants: Constants) -> None:
    # each copies 90 GB in 5 + 9 = 14 s; RAM gives 50 GB/s: two take 3.6 s of it, eight 14.4 s
    for cards, seconds in ((1, 14.0), (2, 14.0), (8, 14.4)):
        together = (Flow(route=Route.STREAMED, moved=90e9, alike=cards),)
        assert float(stage_seconds(together, MACHINE, constants).total) == pytest.approx(seconds)
    # cores that read by themselves are no copy: 40 GB at the cores' rate, whatever RAM could give
    reading = (Flow(route=Route.IN_PLACE, load=load(weights=40e9), alike=8),)
    single = replace(reading[0], alike=1)
    assert float(stage_seconds(reading, MACHINE, constants).total) == pytest.approx(
        float(stage_seconds((single,), MACHINE, constants).total)
    )


def test_a_link_of_its_own_of_any_rate_is_taken() -> None:
    assert float(peer_rate(replace(GPU, peer=Quantity.given(0.5)))) == 0.5
    assert float(peer_rate(replace(GPU, peer=Quantity.given(0.0)))) == 20e9
    assert float(peer_rate(GPU)) == 20e9
