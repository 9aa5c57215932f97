"""GPU cells of published rows that name a whole machine, or state memory in brackets."""

import pytest

from advisor.errors import UnknownName
from advisor.evidence.published.machine import stated_gpus, stated_machine
from advisor.evidence.published.row import PublishedRow

FRAMEWORK = "Framework Desktop: AMD Ryzen AI Max+ 395, 128GB LPDDR5x"
MINI = "GMK-TEK EVO-X1 AI Mini AMD Ryzen™ AI 9 HX 370 | Radeon 890M 32GB LPDDR5X 7000Mhz"


@pytest.mark.parametrize(
    ("cell", "count", "gpu", "cards"),
    [
        (FRAMEWORK, "1", "Radeon 8060S (Ryzen AI Max+ 395)", 1),
        (MINI, "1", "Radeon 890M", 1),
        ("AMD Ryzen AI MAX+ 395, Radeon 8060S iGPU", "1", "Radeon 8060S (Ryzen AI Max+ 395)", 1),
        # The desktop card has 16 GB.
        ("NVIDIA RTX 4080 (12GB VRAM, 9,728 CUDA cores)", "1", "RTX 4080 Laptop", 1),
        ("2x RTX 4090 + RTX 3090", "3", "2x RTX 4090 + RTX 3090", 1),
        ("RTX 3090 + RTX 3090", "2", "RTX 3090", 2),
    ],
)
def test_a_cell_names_cards_or_a_machine(cell: str, count: str, gpu: str, cards: int) -> None:
    assert stated_gpus(PublishedRow({"gpu": cell, "gpu_count": count})) == (gpu, cards)


def test_a_machine_lends_its_processor() -> None:
    spec = stated_machine(PublishedRow({"category": "resident", "gpu": MINI}))
    assert spec.cpu == "Ryzen AI 9 HX 370"


def test_a_named_processor_stays() -> None:
    cells = {"category": "resident", "gpu": MINI, "cpu": "Ryzen 9 7950X"}
    assert stated_machine(PublishedRow(cells)).cpu == "Ryzen 9 7950X"


def test_neither_is_refused() -> None:
    with pytest.raises(UnknownName, match="toaster"):
        stated_gpus(PublishedRow({"gpu": "my toaster"}))


@pytest.mark.parametrize(
    ("gpu", "cpu", "meant"),
    [
        ("AMD Radeon Graphics", "AMD Ryzen Z1", "Radeon 740M"),
        ("AMD Radeon(TM) Graphics", "AMD Ryzen 7 7840HS", "Radeon 780M"),
        ("integrated graphics", "Intel(R) Core(TM) i5-1135G7", "Iris Xe"),
    ],
)
def test_graphics_without_a_model_are_those_of_the_processor(
    gpu: str, cpu: str, meant: str
) -> None:
    row = PublishedRow({"gpu": gpu, "cpu": cpu})
    assert stated_gpus(row) == (meant, 1)
    assert cpu in row.notes[0]
    with pytest.raises(UnknownName):
        stated_gpus(PublishedRow({"gpu": gpu, "cpu": "Ryzen 9 7950X"}))
