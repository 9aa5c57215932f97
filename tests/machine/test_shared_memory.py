"""Memory that GPU and processor share: parts by size, what the system keeps, one pool."""

import pytest

from advisor.advice.advise import advise
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Tier
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine, left_to_system
from advisor.machine.shared_memory import raised
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP
from advisor.units import GIB


def _described(gpu: str, ram_gb: float, system: str | None = None) -> Machine:
    return machine(MachineSpec(gpu=gpu, ram_gb=ram_gb, system=system))


@pytest.mark.parametrize(
    ("chip", "ram_gb", "part_gib"),
    [
        # recommendedMaxWorkingSetSize of logs: the addresses are in data/hardware/shared_memory.csv
        ("Apple M1 8c", 8, 5461.34 / 1024),
        ("Apple M5 10c", 16, 12123 / 1024),
        ("Apple M4 10c", 24, 19069.67e6 / GIB),
        ("Apple M2 Max 38c", 32, 26800.60e6 / GIB),
        ("Apple M4 Max 32c", 36, 30150.67e6 / GIB),
        ("Apple M4 Pro 20c", 48, 38338 / 1024),
        ("Apple M1 Max 32c", 64, 55662.79e6 / GIB),
        ("Apple M5 Max 40c", 128, 107.52),
    ],
)
def test_a_mac_gives_its_gpu_what_its_log_says(chip: str, ram_gb: float, part_gib: float) -> None:
    part = _described(chip, ram_gb).gpus[0].memory
    assert float(part.value) / GIB == pytest.approx(part_gib, rel=0.01)
    assert part.source.split(": ")[1].startswith("https://github.com/")


def test_strix_halo_counts_with_what_can_be_set_and_says_so() -> None:
    # mem_info_gtt_total is 103079215104 with ttm.pages_limit=25165824
    linux = _described("Radeon 8060S (Ryzen AI Max+ 395)", 128, "linux")
    assert float(linux.gpus[0].memory.value) == 103079215104
    assert any("ttm.pages_limit=25165824" in note and "has 64" in note for note in linux.notes)
    windows = _described("Radeon 8060S (Ryzen AI Max+ 395)", 128, "windows")
    assert any("Variable Graphics Memory" in note for note in windows.notes)


def test_the_setting_of_a_mac_leaves_the_system_its_memory() -> None:
    before = _described("Apple M5 Max 40c", 128)
    after, setting = raised(before) or (before, "")
    assert setting == f"sudo sysctl iogpu.wired_limit_mb={120 * 1024}"
    assert float(after.gpus[0].memory.value) == 120 * GIB
    assert raised(after) is None
    assert raised(machine(MachineSpec(gpu="RTX 3090"))) is None


def test_a_system_keeps_four_to_eight_gib_of_what_is_shared() -> None:
    for size in (16, 24, 32, 64, 96, 128, 256, 512):
        kept = float(left_to_system(size * GIB, 0.5 * size * GIB))
        assert 4 * GIB <= kept <= 8 * GIB


def test_nothing_fills_the_whole_of_a_shared_memory() -> None:
    model = catalog.model("gpt-oss-120b", "MXFP4")
    for chip, size in (("Apple M4 Max 40c", 64), ("Apple M4 Max 40c", 128), ("GB10", 128)):
        for timed in advise(model, _described(chip, size), Workload()).estimates:
            if bool(timed.fits) and timed.strategy is not PlacementStrategy.NVME_OFFLOAD:
                held = sum(float(sum(each)) for each in timed.held.values())
                assert held <= (size - 4) * GIB


def test_one_memory_has_no_other_to_leave_a_part_in() -> None:
    model = catalog.model("Llama-3.3-70B", "Q4_K_M")
    answer = advise(model, _described("Apple M4 Max 40c", 128), Workload())
    assert "share one memory" in answer.why_not(PlacementStrategy.CPU_OFFLOAD)
    assert any(bool(each.fits) for each in answer.placed(PlacementStrategy.GPU_RESIDENT))


@pytest.mark.parametrize(
    ("chip", "form", "part_gib"),
    [("Apple M4 Max 40c", "Q3_K_L", 107.52), ("Radeon 8060S (Ryzen AI Max+ 395)", "IQ4_XS", 96.0)],
)
def test_the_processor_computes_what_the_gpus_part_of_one_memory_cannot_hold(
    chip: str, form: str, part_gib: float
) -> None:
    """Of 128 GiB the system keeps 8. Qwen3-235B-A22B takes more than the GPU's part and less than
    120 GiB in Q3_K_L and in IQ4_XS, less than the part in IQ3_XXS, more than all in Q4_K_M.
    """
    owned = _described(chip, 128)

    def beside(form: str) -> Estimate:
        model = catalog.model("Qwen3-235B-A22B", form)
        return estimate(model, owned, Workload(), LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD)

    divided = beside(form)
    in_gpu = float(sum(divided.held[Tier.VRAM]))
    in_ram = float(sum(divided.held[Tier.RAM]))
    assert divided.fits
    assert in_gpu <= part_gib * GIB * 1.001
    assert part_gib * GIB < in_gpu + in_ram <= 120 * GIB
    assert "share one memory" in beside("IQ3_XXS").refusal
    assert not beside("Q4_K_M").fits


def test_the_processor_of_a_pc_computes_what_its_graphics_may_not_hold() -> None:
    model = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    answer = advise(model, machine(MachineSpec(cpu="Ryzen 7 7840U", ram_gb=32)), Workload())
    assert any(bool(each.fits) for each in answer.placed(PlacementStrategy.CPU_OFFLOAD))
