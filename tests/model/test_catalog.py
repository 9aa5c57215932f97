"""Names as people type them, and every model in its formats."""

import pytest
from measurements import measured

from advisor.errors import Refusal, UnknownName
from advisor.machine.catalog import DISKS, GPUS, HOSTS
from advisor.model import catalog
from advisor.units import GIB

NO_SINGLE_GPU = {"none", "RTX 5090 + RTX 4090", "RX 7900 XT + RX 7900 XTX",
                 "5090+2x4090+3090+A6000 (x8/x4/x4/x4/x4)", "8 GPUs (unnamed)",
                 "Intel Arc (4 cards)"}  # fmt: skip
"""What the published measurements name that is not one GPU, or not a name."""

UNKNOWN_SHAPE = [name for name, row in catalog.model_rows().items() if not row.layers]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Nvidia 4090", "RTX 4090"),
        ("RTX 4090 24GB", "RTX 4090"),
        ("rtx4090", "RTX 4090"),
        ("4090", "RTX 4090"),
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", "RTX 4090 Laptop 16GB"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
        ("NVIDIA A100-SXM4-80GB", "A100 SXM 80GB"),
        ("NVIDIA A100 80GB PCIe", "A100 PCIe 80GB"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("Tesla T4", "T4"),
        ("AMD Radeon RX 7900 XTX", "RX 7900 XTX"),
        ("Intel(R) Arc(TM) B580 Graphics", "Arc B580"),
        ("Apple M4 Max", "Apple M4 Max 40c"),
        ("Strix Halo", "Radeon 8060S (Ryzen AI Max+ 395)"),
        ("DGX Spark", "GB10"),
    ],
)
def test_gpus_by_the_names_people_and_drivers_give_them(typed: str, name: str) -> None:
    assert GPUS.find(typed).name == name


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("llama 3.1 70b", "Llama-3.1-70B"),
        ("meta-llama/Llama-3.1-70B-Instruct", "Llama-3.1-70B"),
        ("llama3.1:70b", "Llama-3.1-70B"),
        ("bartowski/Llama-3.3-70B-Instruct-GGUF", "Llama-3.3-70B"),
        ("openai/gpt-oss-120b", "gpt-oss-120b"),
        ("qwen3 30b a3b", "Qwen3-30B-A3B"),
        ("DeepSeek R1", "DeepSeek-R1"),
    ],
)
def test_models_by_the_names_of_people_ollama_and_the_hub(typed: str, name: str) -> None:
    assert catalog.find_model(typed).name == name


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("AMD Ryzen 9 7950X 16-Core Processor", "Ryzen 9 7950X"),
        ("13th Gen Intel(R) Core(TM) i9-13900K", "Core i9-13900K"),
        ("Intel(R) Core(TM) i9-9900K CPU @ 3.60GHz", "Core i9-9900K"),
        ("INTEL(R) XEON(R) PLATINUM 8480+", "Xeon Platinum 8480+"),
        ("AMD EPYC 7763 64-Core Processor", "EPYC 7763"),
        ("i9 13900k", "Core i9-13900K"),
        ("Apple M4 Max", "Apple M4 Max"),
    ],
)
def test_processors_by_the_strings_of_their_systems(typed: str, name: str) -> None:
    assert HOSTS.find(typed).name == name


@pytest.mark.parametrize(
    ("find", "typed", "meant"),
    [
        (GPUS.find, "RTX 4909", "RTX 4090"),
        (catalog.find_model, "llama 3.1 71b", "Llama-3.1-70B"),
        (HOSTS.find, "Ryzen 9 7951X", "Ryzen 9 7950X"),
        (DISKS.find, "NVMe PCIe 4 x4 (typicl)", "NVMe PCIe 4.0 x4 (typical)"),
    ],
)
def test_close_names_are_suggested(find, typed: str, meant: str) -> None:
    with pytest.raises(UnknownName, match=r"Did you mean .*lists those it knows") as error:
        find(typed)
    assert error.value.close[0] == meant
    assert repr(typed) in str(error.value)


@pytest.mark.parametrize("find", [GPUS.find, catalog.find_model, HOSTS.find])
@pytest.mark.parametrize("typed", ["", "  ", "NVIDIA", "8 GB", "/", "☃", "x" * 10_000])
def test_text_that_names_nothing_is_refused_in_a_short_sentence(find, typed: str) -> None:
    with pytest.raises(UnknownName) as error:
        find(typed)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("typed", "gib", "name"),
    [
        ("NVIDIA GeForce RTX 4060 Ti", 8, "RTX 4060 Ti 8GB"),
        ("NVIDIA GeForce RTX 4060 Ti", 16, "RTX 4060 Ti 16GB"),
        ("NVIDIA GeForce RTX 3080", 10, "RTX 3080 10GB"),
        ("NVIDIA GeForce RTX 3080", 12, "RTX 3080 12GB"),
        ("NVIDIA GeForce RTX 4090", 24, "RTX 4090"),
        ("NVIDIA GeForce RTX 4090", 48, "RTX 4090 48GB"),
    ],
)
def test_cards_of_the_same_driver_name_are_distinguished_by_memory(typed, gib, name) -> None:
    # A driver shows a little less than was sold.
    assert GPUS.find(typed, memory=0.985 * gib * GIB).name == name


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("RTX 3080 10 GB", "RTX 3080 10GB"),
        ("RTX 3080 12 GB", "RTX 3080 12GB"),
        ("4060 Ti 8 GiB", "RTX 4060 Ti 8GB"),
        ("4060 Ti 16 GiB", "RTX 4060 Ti 16GB"),
        ("A100 40 GB", "A100 SXM 40GB"),
        ("GH200 480GB", "GH200 96GB"),  # as its driver calls it: 480 GB are Grace's
    ],
)
def test_a_size_in_the_name_tells_cards_apart(typed: str, name: str) -> None:
    assert GPUS.find(typed).name == name


@pytest.mark.parametrize("file", ["llama_cpp.csv", "offload_papers.csv"])
def test_every_gpu_of_the_published_measurements_is_known(file: str) -> None:
    names = {row["gpu"] for row in measured(file)} - NO_SINGLE_GPU - {""}
    assert all(GPUS.find(name).name for name in names)


@pytest.mark.parametrize("name", UNKNOWN_SHAPE)
def test_a_model_of_unknown_shape_is_refused_with_its_reason(name: str) -> None:
    with pytest.raises(Refusal, match=f"{name} cannot be derived: ") as refusal:
        catalog.model(name, "Q4_K_M")
    assert catalog.model_rows()[name].note in str(refusal.value)


def test_every_other_model_can_be_made(subtests: pytest.Subtests) -> None:
    for name in sorted({*catalog.model_rows()} - {*UNKNOWN_SHAPE}):
        with subtests.test(str(name)):
            small = catalog.model(name, "Q4_K_M")
            large = catalog.model(name, "BF16")
            # 2 bytes a weight in 16 bits; Q4_K is 4.5 bits, a mixture with 6 and 8 bits here and
            # there
            params = small.architecture.params
            if not large.architecture.expert_type:
                weights = params + large.architecture.tower
                assert large.file_bytes == pytest.approx(2 * weights, rel=0.01)
            assert 4 <= small.file_bytes * 8 / params <= 6.5
            assert small.read_bytes_per_token <= small.file_bytes + small.output


def test_every_gguf_file_of_gpt_oss_keeps_its_experts_as_trained() -> None:
    """GiB as llama-bench prints them (https://github.com/lhl/strix-halo-testing,
    llm-bench/gpt-oss-20b-F16), GB of https://github.com/AlexsJones/llmfit/pull/1059.
    """
    assert catalog.model("gpt-oss-20b", "F16").file_bytes == pytest.approx(12.83 * GIB, rel=1e-3)
    eight_bits = catalog.model("gpt-oss-120b", "Q8_0")
    assert eight_bits.file_bytes == pytest.approx(63.4e9, rel=1e-3)
    assert catalog.model("gpt-oss-20b", "BF16-hf").stored.keys() == {"BF16"}


def test_an_unknown_format_is_refused_with_close_names() -> None:
    with pytest.raises(UnknownName, match="Q4_K_M"):
        catalog.model("Llama-3.1-8B", "Q4_KM")
