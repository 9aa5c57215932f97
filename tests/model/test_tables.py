"""Tables that need no GPU memory: their sizes, and where vLLM and llama.cpp keep them."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from gguf_files import LLAMA_KEYS, llama_tensors, write

from advisor.advice.compare import compare
from advisor.cost_model.placement import DISK, RAM, PlacementStrategy, Settings, weight_bytes
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model.catalog import in_many_formats
from advisor.model.config.read import describe
from advisor.model.model import Model
from advisor.model.resolve import find
from advisor.runtimes import LLAMA_CPP, VLLM
from advisor.units import GIB

RESIDENT, OFFLOAD, PAGED = PlacementStrategy
WORK = Workload(context=4096)
TWO = MachineSpec(gpu="RTX PRO 6000", gpu_count=2, ram_gb=256)
GRAMS, LAYERED = "Qwen3.8-Flash-Next", "Gemma-3n-E4B"


def model(name: str, form: str) -> Model:
    return find(name, form).model


def test_tables_of_ngrams_are_most_of_the_embedding() -> None:
    grams, layered = model(GRAMS, "Q4_0"), model(LAYERED, "Q4_0")
    assert grams.by_ngrams
    assert not layered.by_ngrams
    assert layered.tables_share > 0.5
    # 51.2 billion weights (the model's card) beside 248,320 tokens of 2,560 values
    assert grams.tables_share * grams.embedding == pytest.approx(51.2e9 * 4.5 / 8, rel=0.01)
    assert model("Qwen3-8B", "Q4_0").tables_share == 0.0


def test_several_formats_keep_their_own_shares() -> None:
    several = [model(LAYERED, form) for form in ("Q4_0", "Q8_0")]
    assert np.allclose(in_many_formats(several).tables_share, [m.tables_share for m in several])


def test_vllm_keeps_tables_of_ngrams_in_ram_and_the_others_in_the_gpu() -> None:
    grams = model(GRAMS, "NVFP4")
    placed = VLLM.place(grams, machine(TWO), WORK, RESIDENT, Settings())
    tables = grams.embedding * grams.tables_share
    assert float(weight_bytes(grams, placed, RAM)) == pytest.approx(tables, rel=1e-6)
    (outcome,) = (each for each in compare(grams, machine(TWO), WORK, runtimes=(VLLM,))
                  if each.strategy is RESIDENT)  # fmt: skip
    assert outcome.fits, "it ran on two of these (kubesimplify/website, pull request 267)"
    layered = model(LAYERED, "FP8")
    placed = VLLM.place(layered, machine(TWO), WORK, RESIDENT, Settings())
    assert float(weight_bytes(layered, placed, RAM)) == 0.0


def in_ram(name: str, form: str, mode: str) -> float:
    placed = LLAMA_CPP.place(
        model(name, form), machine(TWO), WORK, RESIDENT, Settings(load_mode=mode)
    )
    return float(weight_bytes(model(name, form), placed, RAM))


def test_llama_cpp_leaves_large_tables_in_the_file() -> None:
    assert in_ram(GRAMS, "Q4_0", "auto") < GIB
    assert in_ram(GRAMS, "Q4_0", "none") > 25 * GIB
    assert in_ram(LAYERED, "Q4_0", "auto") == in_ram(LAYERED, "Q4_0", "none"), "under 4 GiB"
    grams = model(GRAMS, "Q4_0")
    placed = LLAMA_CPP.place(grams, machine(TWO), WORK, PAGED, Settings())
    assert not placed.embedding_shares
    assert float(weight_bytes(grams, placed, DISK)) > grams.embedding


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
    path = write(tmp_path / "m.gguf", "llama", {**LLAMA_KEYS, "pooling_type": kind},
                 llama_tensors())  # fmt: skip
    if not words:
        assert find(str(path)).model.layers == 2
        return
    with pytest.raises(Refusal, match=words):
        find(str(path))
