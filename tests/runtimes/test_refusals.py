"""Every refusal of a runtime, and that each names what is wrong."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import advisor.runtimes
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import resolve
from advisor.runtimes import (
    ACCELERATE,
    DEEPSPEED,
    EXLLAMAV3,
    FLEXGEN,
    KTRANSFORMERS,
    LLAMA_CPP,
    LLAMA_CPP_TENSOR,
    LLAMAFILE,
    LM_STUDIO,
    MLX,
    OLLAMA,
    SGLANG,
    TENSORRT_LLM,
    VLLM,
    runtime,
)
from advisor.runtimes.format_support import RefusalRow

PACKAGE = Path(advisor.runtimes.__file__).parent
IN_GPU, IN_RAM, ON_DRIVE = PlacementStrategy
CARD = MachineSpec(gpu="RTX 3090", ram_gb=128)
PAIR = MachineSpec(gpu="RTX 3090", gpu_count=2, ram_gb=128)
NO_CARD = MachineSpec(gpu=MachineSpec.NO_GPU, ram_gb=128)
RADEON = MachineSpec(gpu="RX 7900 XTX", ram_gb=128)
GAUDI = MachineSpec(gpu="Gaudi 3", ram_gb=128)
MAC = MachineSpec(gpu="M4 Max", ram_gb=128)
TWO_HOSTS = MachineSpec(gpu="RTX 3090", machines=2, network_gbs=10, ram_gb=128)
ON_WINDOWS = MachineSpec(gpu="RTX 3090", ram_gb=128, system="windows")
SMALL_CARD = MachineSpec(gpu="RTX 2060 6GB", ram_gb=128)
STRATA = runtime("strata")
FLASH_MOE = runtime("flash-moe")
FREETOKEN = runtime("freetoken")
BIG_MOE = runtime("bigmoeonedge")
LEAN = runtime("lean-qwenflash")
TIERED_MODEL = "Qwen3.6-35B-A3B"
WORK = Workload()
TWO_TYPES = Workload(kv_type="q8_0/q4_0")
SIX_BITS = Workload(kv_type="q8_0/q6_0")
CHOSEN = Settings()


@dataclass(frozen=True, kw_only=True)
class Case:
    """A placement that a runtime refuses, and words of the message."""

    how: Runtime
    words: str
    where: MachineSpec = CARD
    strategy: PlacementStrategy = IN_GPU
    model: str = "Llama-3.1-8B"
    work: Workload = WORK
    chosen: Settings = CHOSEN

    def __str__(self) -> str:
        return f"{self.how.key}-{self.words[:30]}"


def case(how: Runtime, words: str, **other: object) -> Case:
    return Case(how=how, words=words, **other)  # type: ignore[arg-type]


CASES = (
    case(LLAMA_CPP, "This machine has no GPU; the model can only run from RAM", where=NO_CARD),
    case(LLAMA_CPP, "llama.cpp has no backend for Gaudi 3", where=GAUDI),
    case(
        LLAMA_CPP, "A cache of experts needs a GPU, and a model with experts",
        strategy=IN_RAM, chosen=Settings(expert_cache=1e9),
    ),
    case(
        LLAMA_CPP, "A cache of experts in the GPU is filled from RAM", model="Qwen3-30B-A3B",
        strategy=ON_DRIVE, chosen=Settings(expert_cache=1e9),
    ),
    case(LLAMA_CPP, "no fp8 cache; q8_0 is its closest", work=Workload(kv_type="fp8")),
    case(
        LLAMA_CPP, "keeps a cache in q8_0 only with flash attention; choose f16",
        work=Workload(kv_type="q8_0", flash_attention=False),
    ),
    case(LLAMA_CPP, "takes keys and values of one type", where=MAC, work=TWO_TYPES),
    case(LLAMA_CPP, "no q6_0 cache, ik_llama.cpp has", work=SIX_BITS),
    case(LM_STUDIO, "no q6_0 cache, ik_llama.cpp has", work=SIX_BITS),
    case(LLAMAFILE, "no q6_0 cache, ik_llama.cpp has", work=SIX_BITS),
    case(OLLAMA, "Ollama keeps keys and values in one type", work=TWO_TYPES),
    case(VLLM, "vLLM keeps keys and values in one type", work=TWO_TYPES),
    case(SGLANG, "SGLang keeps keys and values in one type", work=TWO_TYPES),
    case(TENSORRT_LLM, "TensorRT-LLM keeps keys and values in one type", work=TWO_TYPES),
    case(FLEXGEN, "FlexGen packs keys and values alike", strategy=IN_RAM, work=TWO_TYPES),
    case(
        KTRANSFORMERS, "KTransformers keeps keys and values in one type", strategy=IN_RAM,
        model="Qwen3-30B-A3B", work=TWO_TYPES,
    ),
    case(EXLLAMAV3, "packs keys and values both", work=Workload(kv_type="f16/q8_0")),
    case(STRATA, "Strata keeps keys and values in one type", model=TIERED_MODEL, work=TWO_TYPES),
    case(
        LLAMA_CPP, "Load mode mlock keeps the whole file in RAM; choose auto or mmap",
        strategy=ON_DRIVE, chosen=Settings(load_mode="mlock"),
    ),
    case(LLAMA_CPP_TENSOR, "divides layers over several GPUs of one machine"),
    case(LLAMA_CPP_TENSOR, "divides layers over several GPUs of one machine", where=TWO_HOSTS),
    case(LLAMA_CPP_TENSOR, "only with the whole model in the GPUs", where=PAIR, strategy=IN_RAM),
    case(
        LLAMA_CPP_TENSOR, "divides a cache in", where=PAIR, work=Workload(kv_type="fp8")
    ),
    case(
        LLAMA_CPP_TENSOR, "does not run models with latent attention; use -sm layer",
        where=PAIR, model="DeepSeek-V2-Lite",
    ),
    case(
        LLAMAFILE, "no option that keeps experts in RAM; use llama.cpp", strategy=IN_RAM,
        model="Qwen3-30B-A3B", chosen=Settings(cpu_moe=4.0),
    ),
    case(LM_STUDIO, "LM Studio refuses models larger than RAM", strategy=ON_DRIVE),
    case(LM_STUDIO, "LM Studio uses one machine only", where=TWO_HOSTS),
    case(
        LM_STUDIO, "LM Studio drafts by a model's own layers (mtp), a block drafter (dflash) or a "
        "smaller model, not by ngram", work=Workload(draft="ngram", drafted=3, acceptance=0.5),
    ),
    case(VLLM, "vLLM does not run on Windows: use WSL2", where=ON_WINDOWS),
    case(SGLANG, "SGLang does not run on Windows: use WSL2", where=ON_WINDOWS),
    case(TENSORRT_LLM, "TensorRT-LLM does not run on Windows: use WSL2", where=ON_WINDOWS),
    case(OLLAMA, "Ollama refuses models larger than RAM", strategy=ON_DRIVE),
    case(OLLAMA, "Ollama uses one machine only", where=TWO_HOSTS),
    case(OLLAMA, "Ollama supports a cache in f16", work=Workload(kv_type="fp8")),
    case(
        OLLAMA, "Ollama drafts by a model's own layers (mtp) where its tag has them, not by ngram",
        work=Workload(draft="ngram", drafted=3, acceptance=0.5),
    ),
    case(
        OLLAMA, "serves Qwen3-Next-80B-A3B one request at a time", strategy=IN_RAM,
        model="Qwen3-Next-80B-A3B", work=Workload(users=2),
    ),
    case(KTRANSFORMERS, "computes attention on a GPU", where=NO_CARD, model="Qwen3-30B-A3B"),
    case(KTRANSFORMERS, "is for models with experts, and Llama-3.1-8B has none", strategy=IN_RAM),
    case(KTRANSFORMERS, "KTransformers keeps experts in RAM", model="Qwen3-30B-A3B"),
    case(
        KTRANSFORMERS, "KTransformers uses one machine only", where=TWO_HOSTS, strategy=IN_RAM,
        model="Qwen3-30B-A3B",
    ),
    case(VLLM, "vLLM keeps no weights on a drive", strategy=ON_DRIVE),
    case(VLLM, "vLLM is modelled on GPUs, and this machine has none", where=NO_CARD),
    case(SGLANG, "SGLang keeps no weights on a drive", strategy=ON_DRIVE),
    case(SGLANG, "SGLang is modelled on GPUs, and this machine has none", where=NO_CARD),
    case(
        VLLM, "Llama-3.1-8B has no experts to divide; leave out --expert-parallel", where=PAIR,
        chosen=Settings(expert_parallel=True),
    ),
    case(
        VLLM, "and here none share any; add a GPU", model="Qwen3-30B-A3B",
        chosen=Settings(expert_parallel=True),
    ),
    case(
        VLLM, "and nothing lies in RAM; leave out --attention-by-user", where=PAIR,
        model="Qwen3-30B-A3B", strategy=IN_RAM, chosen=Settings(attention_by_user=True),
    ),
    case(TENSORRT_LLM, "TensorRT-LLM keeps all weights on the GPUs", strategy=IN_RAM),
    case(TENSORRT_LLM, "TensorRT-LLM needs an NVIDIA GPU", where=NO_CARD),
    case(TENSORRT_LLM, "TensorRT-LLM is modelled on one machine only", where=TWO_HOSTS),
    case(DEEPSPEED, "it is for models that do not fit"),
    case(DEEPSPEED, "DeepSpeed streams to a GPU, and this machine has none", where=NO_CARD),
    case(DEEPSPEED, "DeepSpeed is modelled on one machine only", where=TWO_HOSTS, strategy=IN_RAM),
    case(FLEXGEN, "FlexGen is modelled on one machine only", where=TWO_HOSTS, strategy=IN_RAM),
    case(ACCELERATE, "Transformers is modelled on GPUs, and this machine has none", where=NO_CARD),
    case(ACCELERATE, "Accelerate is modelled on one machine only", where=TWO_HOSTS),
    case(FLEXGEN, "streams to a GPU, and this machine has none", where=NO_CARD, strategy=IN_RAM),
    case(EXLLAMAV3, "ExLlamaV3 needs an NVIDIA GPU", where=NO_CARD),
    case(EXLLAMAV3, "ExLlamaV3 needs an NVIDIA GPU", where=RADEON),
    case(EXLLAMAV3, "keeps experts alone in RAM, and Llama-3.1-8B has none", strategy=IN_RAM),
    case(EXLLAMAV3, "ExLlamaV3 computes on one machine", where=TWO_HOSTS),
    case(
        EXLLAMAV3, "TabbyAPI drafts by a model's own layers (mtp), n-grams or a smaller model, not "
        "by eagle", work=Workload(draft="eagle", drafted=3, acceptance=0.5),
    ),
    case(MLX, "MLX computes on the GPU of Apple's own chips"),
    case(MLX, "MLX keeps all weights in unified memory", where=MAC, strategy=IN_RAM),
    case(MLX, "keeps the cache in 16 bits", where=MAC, work=Workload(kv_type="q8_0")),
    case(ACCELERATE, "keeps the cache in 16 bits", work=Workload(kv_type="q8_0")),
    case(
        DEEPSPEED, "keeps the cache in 16 bits", strategy=IN_RAM, work=Workload(kv_type="q4_0")
    ),
    case(STRATA, "Strata keeps experts in tiers, and Llama-3.1-8B has none", strategy=IN_RAM),
    case(STRATA, "does not run DeepSeek-V3: ", strategy=IN_RAM, model="DeepSeek-V3"),
    case(FLASH_MOE, "flash-moe runs on macOS", model="Qwen3.5-397B-A17B"),
    case(STRATA, "Strata runs on one machine", where=TWO_HOSTS, model=TIERED_MODEL),
    case(
        STRATA, "answers one user at a time here; lower the users to 1", model=TIERED_MODEL,
        work=Workload(users=2),
    ),
    case(FREETOKEN, "FreeToken needs a GPU", where=NO_CARD, model="gpt-oss-120b"),
    case(FREETOKEN, "FreeToken does not run on RX 7900 XTX", where=RADEON, model="gpt-oss-120b"),
    case(
        FREETOKEN, "starts with 8 GB of VRAM, and RTX 2060 6GB has less", where=SMALL_CARD,
        model="gpt-oss-120b",
    ),
    case(BIG_MOE, "There is no GPU that could hold the model", where=NO_CARD, model=TIERED_MODEL),
    case(BIG_MOE, "BigMoeOnEdge computes on the processor alone here", model=TIERED_MODEL),
    case(
        LEAN, "lean-qwenflash keeps no experts in RAM", strategy=IN_RAM,
        model="Qwen3.8-Flash-Next",
    ),
)  # fmt: skip


def message(case: Case) -> str:
    model = resolve.find(case.model, "Q4_K_M").model
    with pytest.raises(Refusal) as refused:
        case.how.place(model, machine(case.where), case.work, case.strategy, case.chosen)
    return str(refused.value)


def test_it_is_refused_in_words(subtests: pytest.Subtests) -> None:
    for case in CASES:
        with subtests.test(str(str(case))):
            assert case.words in message(case)


IN_TIERS = (STRATA, FLASH_MOE, FREETOKEN, BIG_MOE)
OFFLOADS = {
    **dict.fromkeys((KTRANSFORMERS, DEEPSPEED, FLEXGEN, *IN_TIERS), IN_RAM),
    LEAN: ON_DRIVE,
}
"""Placement of engines that are made for another one than the GPU."""
TAKEN = {
    "KTransformers": "Qwen3-30B-A3B",
    "Strata": TIERED_MODEL,
    "BigMoeOnEdge": TIERED_MODEL,
    "FreeToken": "gpt-oss-120b",
    "flash-moe": "Qwen3.5-397B-A17B",
    "lean-qwenflash": "Qwen3.8-Flash-Next",
}
"""Model that an engine is made for, where that is not any."""
REFUSING = {case.how.name: case.how for case in CASES}


@pytest.mark.parametrize("how", REFUSING.values(), ids=REFUSING.keys())
def test_a_refusal_depends_on_what_is_wrong(how: Runtime) -> None:
    """What each runtime is made for, it takes."""
    strategy = OFFLOADS.get(how, IN_GPU)
    where = {"MLX": MAC, "flash-moe": MAC, "llama.cpp -sm tensor": PAIR}.get(how.name, CARD)
    model = resolve.find(TAKEN.get(how.name, "Llama-3.1-8B"), "Q4_K_M").model
    placement = how.place(model, machine(where), Workload(), strategy, Settings())
    assert placement.weights


def fragments() -> Iterator[tuple[str, str]]:
    """File and longest fixed text of every refusal in the code."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Raise(exc=ast.Call(func=ast.Name(id="Refusal"), args=[text])):
                    fixed = [
                        part.value
                        for part in ast.walk(text)
                        if isinstance(part, ast.Constant) and isinstance(part.value, str)
                    ]
                    yield path.name, max(fixed, key=len, default="")


def test_every_refusal_of_a_placement_has_its_case() -> None:
    messages = [message(case) for case in CASES]
    missing = {
        text
        for name, text in fragments()
        # Formats are refused before a placement is asked for: test_format_support.py.
        if name != "format_support.py" and not any(text in words for words in messages)
    }
    assert not missing
    every = read(DATA / "runtimes/refusals.csv", RefusalRow)
    shown = [re.compile(re.sub(r"\\{.+?\\}", ".+", re.escape(row.words))) for row in every]
    assert [words.pattern for words in shown if not any(map(words.search, messages))] == []
