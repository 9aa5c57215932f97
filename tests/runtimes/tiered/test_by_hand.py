"""Engines with experts in tiers: three published machines, worked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from advisor.catalog.constants import ConstantRow, Constants
from advisor.cost_model.kernels import TierKernels, drive_seconds, kernel_family
from advisor.cost_model.loads import Load
from advisor.cost_model.schedule import Flow, Route
from advisor.cost_model.timing import stage_seconds
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model.expert_use import ExpertUse, lookups
from advisor.runtimes.tiered.passes import OF_RAM, best_link_share, probed_share, strata_share
from advisor.units import Quantity

WHOLE = ("tier_ram_share", "tier_link_share", "tier_drive_share", "tier_engine", "tier_core_engine")


def plain(of_ram: float = 1.0) -> Constants:
    """Constants under which every rate is reached whole but the cores' of the RAM."""
    shares = {**dict.fromkeys(WHOLE, 1.0), "tier_core_rate": 1e15, "tier_ram_share": of_ram}
    return Constants(
        ConstantRow(constant=name, value=value, unit="share", kind="assumed", source="by hand")
        for name, value in shares.items()
    )


def rig(*, cores_gbs: float, link_gbs: float, disk_gbs: float = 7.0) -> Machine:
    spec = MachineSpec(gpu="P100 PCIe 16GB", cpu="Ryzen 9 5950X", ram_gb=128, disk_gbs=disk_gbs)
    made = machine(spec)
    gpu = made.gpus[0]
    link = replace(gpu.link, pinned=Quantity.given(link_gbs * 1e9))
    host = replace(made.host, bandwidth=Quantity.given(cores_gbs * 1e9))
    return replace(made, gpus=(replace(gpu, link=link),), host=host)


def experts(size: float) -> Load:
    """Load of experts of a size alone [B]."""
    names = (
        "tokens", "sequence_tokens", "weights", "experts", "kv", "flops", "attention_flops",
        "expert_flops", "layers", "matrices", "expert_layers", "state_layers",
    )  # fmt: skip
    return Load(**{**dict.fromkeys(names, 0.0), "weights": size, "experts": size})


def missed_seconds(size: float, over_link: float, where: Machine, of_ram: float = 1.0) -> float:
    """Time of misses of which a share goes over the link [s]."""
    kernels = TierKernels()
    stage = (
        Flow(route=Route.IN_PLACE, load=experts(size * (1.0 - over_link)), kernels=kernels),
        Flow(route=Route.STREAMED, moved=size * over_link, kernels=kernels),
    )
    return float(stage_seconds(stage, where, plain(of_ram)).total)


@pytest.mark.parametrize(
    ("over_link", "published_ms"), [(1.0, 114.7), (0.5, 68.2), (0.25, 44.5), (0.0, 34.8)]
)
def test_strata_on_two_p100_by_its_link_share(over_link: float, published_ms: float) -> None:
    # Niko1221/Strata, bench/results/2026-10-02-p100-resident-hybrid, prose: 331 misses a token of
    # 3.13 MB; cores reach 70 GB/s of the 80 measured, the link 11.0 of 12.9; 20.2 ms for the rest.
    size = 331 * 3.13e6
    by_hand = 20.2 + 1e3 * max((1.0 - over_link) * size / 70e9, over_link * size / 11e9)
    here = 20.2 + 1e3 * missed_seconds(size, over_link, rig(cores_gbs=70, link_gbs=11))
    assert here == pytest.approx(by_hand, rel=0.02)
    assert here == pytest.approx(published_ms, rel=0.05)


def test_strata_s_link_share_is_that_of_its_logs() -> None:
    # taxah92, Tesla V100 SXM2 and EPYC 7532, 10 October 2026: "the CPU pool takes 45 us per missed
    # expert (45.4 GB/s), the link 13.1 GB/s -> pcie_frac 0.15 (was 0.36)"; a Strata for NVFP4 on an
    # RTX 5090: link 57.9 GB/s, cores 55 to 56 GB/s, 0.35
    assert float(probed_share(np.asarray(13.1e9))) == pytest.approx(0.36, abs=0.005)
    assert float(probed_share(np.asarray(26e9))) == 0.55
    slow = strata_share(np.asarray(13.1e9), np.asarray(45.4e9))
    fast = strata_share(np.asarray(57.9e9), np.asarray(55.5e9))
    assert float(slow) == pytest.approx(0.15, abs=0.01)
    assert float(fast) == pytest.approx(0.35, abs=0.05)


def test_a_layer_waits_for_the_processor_where_experts_are_missing() -> None:
    # 48 layers of 75 us: 3.6 ms a round
    rows = [
        ConstantRow(constant=name, value=value, unit="share", kind="assumed", source="by hand")
        for name, value in {**ROUND, "tier_family": 1.0}.items()
    ]
    where = machine(MachineSpec(gpu="RTX 5070", cpu="Ryzen 5 7600", ram_gb=64))
    load = replace(experts(2e9), layers=48.0)
    alone, waiting = (
        Flow(route=Route.RESIDENT, load=load, kernels=TierKernels(waits=np.asarray(waits)))
        for waits in (0.0, 1.0)
    )
    more = stage_seconds((waiting,), where, Constants(rows)).total
    assert float(more - stage_seconds((alone,), where, Constants(rows)).total) == pytest.approx(
        3.6e-3
    )


def test_maya_on_a_v100_divides_misses_so_that_both_sides_end_together() -> None:
    # mw00/project-maya README: an expert of 6.8 MB takes 0.67 ms over the link and 0.32 ms by the
    # cores; together 1 / (1 / 0.67 + 1 / 0.32) = 0.216 ms, 123 misses 26.6 ms.
    link = 6.8e6 / 0.67e-3 / 1e9
    cores = 6.8e6 / 0.32e-3 / 1e9
    ram = rig(cores_gbs=cores / OF_RAM, link_gbs=link)  # which both sides read at once
    share = best_link_share(ram)
    assert share == pytest.approx(link / (link + cores), rel=1e-6)
    roomy = rig(cores_gbs=3.0 * cores, link_gbs=link)
    seconds = missed_seconds(123 * 6.8e6, share, roomy, 1.0 / 3.0)
    assert 1e3 * seconds == pytest.approx(26.6, rel=0.02)


def test_maya_s_round_on_a_v100_is_what_was_published() -> None:
    # 45 layers of 288 experts, 8 used; 24 % of them in VRAM at an unevenness of 1.5 serve 0.65.
    use = ExpertUse(288, 8, 1.5)
    result = lookups(use, 0.24, 1.0, "lru")
    served = float(result.served / result.touched)
    assert served == pytest.approx(0.65, abs=0.03)
    misses = 44 * 8 * (1.0 - served)
    dense = 6.4 / 675 * 1e3  # ms
    hits = (44 * 8 - misses) * 6.8e6 / 675e9 * 1e3
    fixed = 45 * 0.15
    for drive in (5.0, 9.0):  # of what RAM and VRAM do not hold, half hidden or not
        token = dense + hits + misses * 0.216 + fixed + drive
        assert 17.0 < 1e3 / token < 20.5  # published: 17.1 to 19.4


def test_crow_waits_for_its_drive() -> None:
    # nibor1896/Crow 0.5.1, DeepSeek-V4-Flash in IQ3_XXS on an RTX 5090: 43 layers, 6 of 256 experts
    # of 8.8 MB a token, 58 slots a layer serve 0.80; without a tier in RAM each miss takes 1.35 ms,
    # 70 of the 91 ms of a token.
    use = ExpertUse(256, 6, 1.95)
    result = lookups(use, 58 / 256, 1.0, "lru")
    missed = 43 * 256 * float(result.missed)
    assert missed == pytest.approx(51, rel=0.15)
    where = rig(cores_gbs=70, link_gbs=50, disk_gbs=6.5)
    seconds = drive_seconds(np.asarray(51 * 8.8e6), TierKernels(), where, plain())
    assert 1e3 * float(seconds) == pytest.approx(70, rel=0.02)


@pytest.mark.parametrize(
    ("share", "rows", "fill", "missed"),
    [
        (0.083, 4.0, "profile", 22.0),  # Strata docs/DGX_SPARK.md: 22 of about 29 experts a layer
        (0.117, 1.0, "lru", 4.0),  # 0.56 to 0.61 served by its adaptive cache (docs/DETAILS.md)
        (0.159, 1.0, "lru", 3.2),  # 0.66 to 0.70
    ],
)
def test_misses_of_qwen_flash_next(share: float, rows: float, fill: str, missed: float) -> None:
    result = lookups(ExpertUse(512, 10, 1.95), share, rows, fill)
    assert 512 * float(result.missed) == pytest.approx(missed, rel=0.12)


def test_half_of_the_experts_serve_nearly_all() -> None:
    result = lookups(ExpertUse(512, 10, 1.95), 0.5, 1.0, "lru")
    assert 0.94 < float(result.served / result.touched) < 0.99  # 0.95 to 0.99 in Strata's reports


ROUND = {
    "tier_read_share": 0.4,
    "tier_kv_share": 0.3,
    "tier_layer": 0.2e-3,
    "tier_wait": 75e-6,
    "tier_engine": 1.0,
}


def round_seconds(gpu: str, *, vulkan: bool) -> float:
    """Time of 1.97 GB and 40 layers, where CUDA's port to RDNA 3 has 0.6 of a card's speed [s]."""
    rows = [
        ConstantRow(constant=name, value=value, unit="share", kind="assumed", source="by hand")
        for name, value in {**ROUND, "tier_family": 1.0}.items()
    ]
    ported = replace(rows[-1], family="RDNA 3", value=0.6, unit="factor")
    load = replace(experts(1.97e9), layers=40.0)
    flow = Flow(route=Route.RESIDENT, load=load, kernels=TierKernels(vulkan=vulkan))
    where = machine(MachineSpec(gpu=gpu, cpu="Ryzen 5 5600X", ram_gb=64))
    return float(stage_seconds((flow,), where, Constants([*rows, ported])).total)


def test_moe4all_does_not_have_the_speed_of_strata_s_port_to_hip() -> None:
    # Headmaster218/MoE4All, documentation/evidence/benchmarks/2026-08-20-qwen36-apex-matrix.md:
    # Qwen3.6-35B-A3B on an RX 7900 XTX of 960 GB/s, 14 GiB of its experts cached, 0.98 of lookups
    # served: 93.1 tokens/s. A token reads 1.97 GB and runs 40 layers of some 0.2 ms.
    by_hand = 1.97e9 / (0.4 * 960e9) + 40 * 0.2e-3
    shaders = round_seconds("RX 7900 XTX", vulkan=True)
    assert shaders == pytest.approx(by_hand, rel=1e-3)  # 13.1 ms
    assert shaders == pytest.approx(1.0 / 93.1, rel=0.25)
    assert round_seconds("RX 7900 XTX", vulkan=False) == pytest.approx(by_hand / 0.6, rel=1e-3)


def test_each_of_several_generations_has_its_shaders() -> None:
    assert kernel_family("RDNA 3", vulkan=False) == "RDNA 3"
    assert kernel_family(("RDNA 3", "Ada"), vulkan=True) == ("RDNA 3 Vulkan", "Ada Vulkan")


def colibri_parts(gb: float, from_drive: float) -> tuple[float, float]:
    """Time of the cores and of a drive of 8.81 GB/s for a round of colibri [s]."""
    shares = {
        "tier_ram_share": 1.0,
        "tier_engine": 1.0,
        "tier_core_engine": 1.0,
        "tier_core_rate": 2.0e9,  # 32 GB/s of 16 cores: 50.7 GB in 1.6 s
        "tier_core_sleeping": 3.2,
        "tier_drive_share": 1.0,
    }
    rows = [
        ConstantRow(constant=name, value=value, unit="share", kind="assumed", source="by hand")
        for name, value in shares.items()
    ]
    buffered = replace(rows[-1], family="buffered", value=0.6, unit="factor")
    constants = Constants([*rows, buffered])
    where = rig(cores_gbs=1000.0, link_gbs=11.0, disk_gbs=8.81)
    kernels = TierKernels(way="buffered", sleeping=True)
    cores = Flow(route=Route.IN_PLACE, load=experts(gb * 1e9), kernels=kernels)
    drive = Flow(route=Route.STAGED, moved=from_drive * 1e9, transfer=None, kernels=kernels)
    return (
        float(stage_seconds((cores,), where, constants).total),
        float(stage_seconds((drive,), where, constants).total),
    )


def test_colibri_s_first_version_on_a_9950x_is_what_was_published() -> None:
    # JustVugg/colibri, issue 31 and docs/benchmarks.md: 0.28 tokens/s, of a token 32 % are the
    # drive and 57 % products, 2.5 tokens a round of three drafts: a round takes 8.9 s, of which
    # 2.9 and 5.1. It reads 50.7 GB, 14.4 of them from the drive (57 % served). The drive gives
    # 14.4 / (0.6 * 8.81) = 2.7 s; the cores, whose threads sleep between products, 3.2 times
    # (pull request 77) 50.7 / 32 = 5.1 s.
    cores, drive = colibri_parts(50.7, 14.4)
    assert cores == pytest.approx(3.2 * 50.7 / 32.0, rel=0.02)
    assert drive == pytest.approx(14.4 / (0.6 * 8.81), rel=0.01)
    assert cores == pytest.approx(0.57 * 2.5 / 0.28, rel=0.1)
    assert drive == pytest.approx(0.32 * 2.5 / 0.28, rel=0.1)
