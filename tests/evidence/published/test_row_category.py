"""Rows without a category, larger than their GPU, or on cards that compute in turn."""

import pytest
from measurements import measured
from published_rows import answer, understood

from advisor.cost_model.placement import PlacementStrategy

ROW = {
    "runtime": "Ollama",
    "gpu": "RTX 4070",
    "cpu": "Ryzen 7 7800X3D",
    "model": "Llama-3.1-8B",
    "quant": "Q4_K_M",
    "source_note": "",
}
ALL_IN_GPU = PlacementStrategy.GPU_RESIDENT
SPLIT = PlacementStrategy.CPU_OFFLOAD


@pytest.mark.parametrize(
    ("changes", "category"),
    [
        ({}, "resident"),
        ({"gpu": ""}, "cpu"),
        ({"gpu": "none"}, "cpu"),
        ({"ngl": "0"}, "cpu"),
        ({"ngl": "20"}, "partial"),
        ({"model": "gpt-oss-120b", "quant": "MXFP4", "n_cpu_moe": "36"}, "moe_offload"),
        (
            {"model": "gpt-oss-120b", "quant": "MXFP4", "source_note": '-ot ".*exps=CPU"'},
            "moe_offload",
        ),
        ({"runtime": "ktransformers", "model": "DeepSeek-R1"}, "moe_offload"),
        ({"model": "Llama-3.1-70B", "fraction_disk": "0.5"}, "nvme"),
    ],
)
def test_a_row_without_a_category_is_read_as_the_category_that_its_cells_say(
    changes: dict[str, str], category: str
) -> None:
    row = {**ROW, **changes}
    silent = answer(row)
    stated = answer({**row, "category": category})
    assert silent["tg_tps"] == stated["tg_tps"]
    assert float(str(silent["tg_tps"])) > 0


@pytest.mark.parametrize("name", ["llama.cpp", "vLLM", "Ollama"])
def test_an_engine_without_tiers_is_itself_in_either_column(name: str) -> None:
    """It was an engine with experts in tiers, for which a model without experts is refused."""
    as_engine = {key: cell for key, cell in ROW.items() if key != "runtime"} | {"engine": name}
    assert answer(as_engine) == answer({**ROW, "runtime": name})


def test_weights_beyond_the_gpus_memory_are_split_with_ram() -> None:
    # Llama 3.1 70B has 42.5 GB in Q4_K_M, an RTX 4070 12 GiB.
    row = {**ROW, "model": "Llama-3.1-70B", "category": "resident", "ngl": ""}
    case = understood(row)
    assert case.strategy is SPLIT
    assert any("read as split" in note for note in case.notes)
    assert understood({**row, "gpu": "2x RTX A6000"}).strategy is ALL_IN_GPU
    assert understood({**row, "runtime": "vLLM", "quant": "AWQ"}).strategy is ALL_IN_GPU
    assert understood({**row, "gpu": "M2 Max 32GB"}).strategy is ALL_IN_GPU


def test_published_runs_of_models_larger_than_their_card_are_read_as_split() -> None:
    # Drivers moved what exceeded the cards to RAM: the sources' notes call these runs doubtful.
    larger = {"n0618", "n0813", "n0741", "n0746"}
    rows = {row["id"]: row for row in measured("llama_cpp_more.csv") if row["id"] in larger}
    assert set(rows) == larger
    for row in rows.values():
        assert row["doubtful"] == "True"
        assert understood(row).strategy is SPLIT


EXL2 = {
    "category": "resident",
    "runtime": "exllamav2",
    "gpu": "RTX 4090",
    "model": "Llama-2-13B",
    "quant": "EXL2 4.0 bpw",
    "source_note": "",
}


def test_exllama_computes_layers_card_by_card_unless_tensor_parallel_is_stated() -> None:
    alone = answer(EXL2)
    two = answer({**EXL2, "gpu_count": "2"})
    divided = answer({**EXL2, "gpu_count": "2", "source_note": "tp=2"})
    assert two["tg_tps"] == pytest.approx(alone["tg_tps"], rel=1e-6)
    assert float(str(divided["tg_tps"])) > 1.2 * float(str(two["tg_tps"]))


def test_a_65b_over_two_cards_is_bound_by_reading_it_once_through_one() -> None:
    # 65.2 billion weights of 4.5 bits are 36.7 GB: at most 27.5 tokens/s at 1,008 GB/s. Published:
    # 20.25 (github.com/turboderp/exllama/issues/149, 2023-07-18).
    row = {**EXL2, "runtime": "exllama", "gpu_count": "2", "model": "Llama-65B", "quant": "GPTQ"}
    row |= {"params_b": "65.2", "n_layers": "80"}
    assert 0.7 * 20.25 <= float(str(answer(row)["tg_tps"])) <= 27.5


def test_bits_per_weight_of_exl2_decide_the_bytes() -> None:
    three, five = (
        understood({**EXL2, "quant": f"EXL2 {bits} bpw"}).model for bits in ("3.0", "5.0")
    )
    assert five.file_bytes / three.file_bytes == pytest.approx(5.0 / 3.0, rel=0.1)


@pytest.mark.parametrize("identifier", ["n0888", "lc0286"])
def test_tokens_of_a_raspberry_pi_4_are_within_a_third_of_two_sources(identifier: str) -> None:
    # A Cortex-A72 has no dot products of integers, and its board a slow memory.
    files = ("llama_cpp.csv", "llama_cpp_more.csv")
    (row,) = (row for file in files for row in measured(file) if row["id"] == identifier)
    ratio = float(str(answer(row)["tg_tps"])) / float(row["tg_tps"])
    assert 0.67 <= ratio <= 1.4
