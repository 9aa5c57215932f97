"""Slices of data-centre cards, by NVIDIA's MIG user guide."""

import pytest

from advisor.errors import UnknownName
from advisor.machine.catalog import GPUS, MACHINES
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec


@pytest.mark.parametrize(
    ("typed", "card", "memory", "bandwidth", "arithmetic"),
    [
        ("H100 MIG 3g.40gb", "H100 SXM", 40, 4 / 8, 3 / 7),
        ("A100-SXM4-40GB MIG 1g.5gb", "A100 SXM 40GB", 5, 1 / 8, 1 / 7),
        ("A100 80GB PCIe 1g.20gb", "A100 PCIe 80GB", 20, 2 / 8, 1 / 7),
        ("A30 MIG 2g.12gb", "A30", 12, 2 / 4, 2 / 4),
        ("H200 MIG 7g.141gb", "H200 SXM", 141, 1, 1),
        ("B200 MIG 3g.90gb", "B200", 90, 4 / 8, 3 / 7),
    ],
)
def test_a_slice_has_its_fractions_of_memory_and_multiprocessors(
    typed: str, card: str, memory: int, bandwidth: float, arithmetic: float
) -> None:
    """Fractions of memory and SMs: docs.nvidia.com, Supported MIG Profiles."""
    part = GPUS.named(typed).row
    whole = GPUS.named(card).row
    assert part.memory_gib == memory
    assert part.bandwidth_gbs == pytest.approx(whole.bandwidth_gbs * bandwidth)
    assert whole.fp16_tflops is not None
    assert part.fp16_tflops == pytest.approx(whole.fp16_tflops * arithmetic)


def test_the_size_of_a_slice_tells_cards_of_one_name_apart() -> None:
    assert GPUS.named("A100 MIG 2g.10gb").row.name == "A100 SXM 40GB MIG 2g.10gb"
    assert GPUS.named("A100 MIG 2g.20gb").row.name == "A100 SXM 80GB MIG 2g.20gb"


def test_a_slice_is_a_part_of_a_machine_beside_its_memory() -> None:
    spec = MACHINES.named("4x H100 MIG 3g.40gb EPYC 9654 512GB").spec
    assert (spec.gpu, spec.gpu_count, spec.ram_gb) == ("H100 SXM MIG 3g.40gb", 4, 512)


def test_a_slice_can_be_computed_with() -> None:
    slice_, whole = (machine(MachineSpec(gpu=name)).gpus[0] for name in ("A30 1g.6gb", "A30"))
    assert slice_.memory.value < whole.memory.value / 3
    assert slice_.bandwidth.value == pytest.approx(whole.bandwidth.value / 4)


@pytest.mark.parametrize("typed", ["RTX 4090 MIG 1g.3gb", "H100 MIG 3g.30gb", "MIG 3g.40gb"])
def test_cards_without_such_a_slice_are_refused(typed: str) -> None:
    with pytest.raises(UnknownName, match="slice"):
        GPUS.named(typed)
