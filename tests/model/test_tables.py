"""Tables that need no GPU memory: their sizes, and where runtimes keep them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gguf_files import LLAMA_KEYS, llama_tensors, write

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model.config.read import describe
from advisor.model.model import Model
from advisor.model.resolve import find
from advisor.runtimes import LLAMA_CPP, MLX, SGLANG, VLLM
from advisor.runtimes.compare import compare
from advisor.runtimes.remarks import modes
from advisor.units import GIB

RESIDENT, OFFLOAD, PAGED = PlacementStrategy
WORK = Workload(context=4096)
TWO = MachineSpec(gpu="RTX PRO 6000", gpu_count=2, ram_gb=256)
GRAMS = "Qwen3.8-Flash-Next"
LAYERED = "Gemma-3n-E4B"


def model(name: str, form: str) -> Model:
    return find(name, form).model


def test_tables_of_ngrams_are_most_of_the_embedding() -> None:
    grams = model(GRAMS, "Q4_0")
    layered = model(LAYERED, "Q4_0")
    assert grams.by_ngrams
    assert not layered.by_ngrams
    assert layered.tables_share > 0.5
    # 51.2 billion weights (the model's card) beside 248,320 tokens of 2,560 values
    assert grams.tables_share * grams.embedding == pytest.approx(51.2e9 * 4.5 / 8, rel=0.01)
    assert model("Qwen3-8B", "Q4_0").tables_share == 0.0


def test_several_formats_keep_their_own_shares() -> None:
    several = [model(LAYERED, form) for form in ("Q4_0", "Q8_0")]
    assert np.allclose(
        Model.in_many_formats(several).tables_share, [m.tables_share for m in several]
    )


ENGINES = pytest.mark.parametrize(
    ("engine", "options"),
    [
        (
            VLLM,
            {
                "GPUs": "--engram-config.cpu_offload false",
                "RAM": "",
                "file": "--engram-config.host_file_gather true",
            },
        ),
        (
            SGLANG,
            {
                "GPUs": "",
                "RAM": "--ple-offload-embedding",
                "file": "--ple-offload-embedding --ple-offload-backend file",
            },
        ),
    ],
)


def resident(name: str, form: str, engine: Runtime, spec: MachineSpec) -> Estimate:
    runs = compare(model(name, form), machine(spec), WORK, runtimes=(engine,))
    return next(each for each in runs if each.strategy is RESIDENT)


@ENGINES
@pytest.mark.parametrize(
    ("form", "ram_gb", "place"), [("FP8", 256, "RAM"), ("FP8", 64, "file"), ("NVFP4", 64, "GPUs")]
)
def test_serving_engines_keep_tables_of_ngrams_where_there_is_room(
    engine: Runtime, options: Mapping[str, str], form: str, ram_gb: float, place: str
) -> None:
    """FP8, whose tables have 16 bits, ran on two of these (kubesimplify/website, pull request 267).

    vLLM's docs/features/engram.md: pinned RAM unless told otherwise, or the mapped file; SGLang's
    pull requests 37995 and 39928.
    """
    run = resident(GRAMS, form, engine, replace(TWO, ram_gb=ram_gb))
    assert run.placement is not None
    tables = run.model.embedding * run.model.tables_share
    in_ram = float(run.placement.weight_bytes(run.model, Location.RAM))
    assert bool(run.fits)
    assert in_ram == pytest.approx(tables if place == "RAM" else 0.0, rel=1e-6)
    given = [words for words in options.values() if words and words in run.command]
    assert max(given, key=len, default="") == options[place]
    assert "offload-gb" not in run.command
    remarked = {"RAM": "lie in RAM and take no GPU memory", "file": "stay in the file", "GPUs": ""}
    assert any(remarked[place] in each for each in (*modes(run), ""))


@ENGINES
def test_tables_that_no_loader_maps_need_ram(engine: Runtime, options: Mapping[str, str]) -> None:
    """Of DeepSeek-V4.1's tables vLLM maps none (docs/features/engram.md)."""
    eight = MachineSpec(gpu="H200 SXM", gpu_count=8, ram_gb=128)
    run = resident("DeepSeek-V4.1-Flash", "FP8", engine, eight)
    assert options["file"] not in run.command


@ENGINES
def test_tables_by_layer_lie_in_the_gpu_of_serving_engines(
    engine: Runtime, options: Mapping[str, str]
) -> None:
    small = machine(MachineSpec(gpu="RTX 3060", ram_gb=64))
    layered = model(LAYERED, "BF16-hf")
    placed = engine.place(layered, small, WORK, RESIDENT, Settings())
    assert float(placed.weight_bytes(layered, Location.RAM)) == 0.0
    command = engine.command(layered, placed, small, WORK)
    assert not any(words in command for words in options.values() if words)


def test_mlx_reads_all_tables_in() -> None:
    """llama.cpp leaves them in its mapped file on a Mac, too."""
    mac = machine(MachineSpec(gpu="Apple M3 Ultra 80c", ram_gb=256))
    grams = model(GRAMS, "Q4_0")
    assert LLAMA_CPP.place(grams, mac, WORK, RESIDENT, Settings()).embedding_shares
    assert not MLX.place(grams, mac, WORK, RESIDENT, Settings()).embedding_shares


def test_an_answer_says_where_tables_lie() -> None:
    runs = compare(model(LAYERED, "Q4_0"), machine(TWO), WORK, runtimes=(LLAMA_CPP,))
    remarked = {each.strategy: " ".join(modes(each)) for each in runs}
    assert "tables by layer" in remarked[RESIDENT]
    runs = compare(model(GRAMS, "Q4_0"), machine(TWO), WORK, runtimes=(LLAMA_CPP,))
    assert "stay in the file on the drive" in " ".join(modes(runs[0]))
    runs = compare(model("Qwen3-8B", "Q4_0"), machine(TWO), WORK, runtimes=(LLAMA_CPP,))
    assert "tables" not in " ".join(modes(runs[0]))


def in_ram(name: str, form: str, mode: str) -> float:
    placed = LLAMA_CPP.place(
        model(name, form), machine(TWO), WORK, RESIDENT, Settings(load_mode=mode)
    )
    return float(placed.weight_bytes(model(name, form), Location.RAM))


def test_llama_cpp_leaves_large_tables_in_the_file() -> None:
    assert in_ram(GRAMS, "Q4_0", "auto") < GIB
    assert in_ram(GRAMS, "Q4_0", "none") > 25 * GIB
    assert in_ram(LAYERED, "Q4_0", "auto") == in_ram(LAYERED, "Q4_0", "none"), "under 4 GiB"
    grams = model(GRAMS, "Q4_0")
    placed = LLAMA_CPP.place(grams, machine(TWO), WORK, PAGED, Settings())
    assert not placed.embedding_shares
    assert float(placed.weight_bytes(grams, Location.DISK)) > grams.embedding


BASE: Mapping[str, object] = {
    "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 1024,
    "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 8,
    "intermediate_size": 4096, "vocab_size": 32000, "head_dim": 128, "tie_word_embeddings": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        ("scores", {"architectures": ["Qwen3ForSequenceClassification"]}),
        ("scores", {"architectures": ["Qwen2ForProcessRewardModel"]}),
        ("vectors", {"architectures": ["Qwen3Model"]}),
        ("vectors", {"model_type": "bert", "architectures": ["BertModel"]}),
        ("text diffusion", {"model_type": "llada", "architectures": ["LLaDAModelLM"]}),
        ("text diffusion", {"model_type": "Dream", "architectures": ["DreamModel"]}),
        ("text diffusion", {"architectures": ["DiffusionGemmaForBlockDiffusion"]}),
    ],
)
def test_a_config_of_a_model_that_does_not_chat_is_refused(
    words: str, changes: Mapping[str, object]
) -> None:
    with pytest.raises(Refusal, match=words):
        describe(json.dumps({**BASE, **changes}), "some model")


def test_a_config_of_one_that_chats_or_names_no_class_is_not() -> None:
    assert describe(json.dumps(dict(BASE)), "some model").architecture.layers == 4
    plain = {key: value for key, value in BASE.items() if key != "architectures"}
    assert describe(json.dumps(plain), "some model").architecture.layers == 4
    odd = {**BASE, "architectures": "Qwen3Model"}
    assert describe(json.dumps(odd), "some model").architecture.layers == 4


@pytest.mark.parametrize(("kind", "words"), [(3, "vectors"), (4, "scores"), (0, "")])
def test_a_file_that_pools_its_answers_is_refused(tmp_path: Path, kind: int, words: str) -> None:
    path = write(
        tmp_path / "m.gguf", "llama", {**LLAMA_KEYS, "pooling_type": kind}, llama_tensors()
    )
    if not words:
        assert find(str(path)).model.layers == 2
        return
    with pytest.raises(Refusal, match=words):
        find(str(path))
