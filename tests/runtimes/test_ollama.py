"""Ollama and LM Studio: llama.cpp's placement by their rules, and their commands.

Options against lists that were read from their documentation: tests/samples/flags.
"""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from flags import flags, listed

from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.runtimes import LLAMA_CPP, LM_STUDIO, OLLAMA
from advisor.runtimes.llama_cpp.ollama import default_context, served

OFFLOAD = PlacementStrategy.CPU_OFFLOAD
RESIDENT = PlacementStrategy.GPU_RESIDENT
PAGED = PlacementStrategy.NVME_OFFLOAD
RIG = machine(MachineSpec(gpu="RTX 3090", ram_gb=128))


def place(
    runtime: Runtime,
    name: str = "Llama-3.1-70B",
    where: Machine = RIG,
    strategy: PlacementStrategy = OFFLOAD,
    settings: Settings | None = None,
    **work: Any,
) -> Placement:
    model = catalog.model(name, "Q4_K_M")
    return runtime.place(model, where, Workload(**work), strategy, settings or Settings())


def run(runtime: Runtime, name: str = "Llama-3.1-70B", **work: Any) -> Estimate:
    model = catalog.model(name, "Q4_K_M")
    return estimate(model, RIG, Workload(**work), runtime, OFFLOAD, Constants.fitted())


@pytest.mark.parametrize(
    ("gpu", "count", "tokens"),
    [("RTX 4070", 1, 4096), ("RTX 3090", 1, 32_768), ("RTX 3090", 2, 262_144), ("none", 1, 4096)],
)
def test_the_context_that_ollama_allocates_by_vram(gpu: str, count: int, tokens: int) -> None:
    """4k below 24 GiB, 32k below 48 GiB, 256k from there on.

    https://github.com/ollama/ollama/blob/fb30760/docs/context-length.mdx, 2026-08-21.
    """
    assert default_context(machine(MachineSpec(gpu=gpu, gpu_count=count))) == tokens


def test_parallel_requests_multiply_the_cache() -> None:
    """A 2k context with 4 requests takes 8k (docs/faq.mdx)."""
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    cache = []
    for users, context in ((1, 8192), (4, 2048)):
        work = Workload(users=users, context=context)
        result = OLLAMA.place(model, RIG, work, RESIDENT, Settings())
        cache.append(float(result.kv_bytes(model, Location.vram(0), work)))
    assert cache[0] == cache[1]


@pytest.mark.parametrize(
    ("context", "users", "batch"),
    [(4096, 1, 512), (8192, 1, 1024), (4096, 2, 1024), (40_000, 1, 2048), (100_000, 1, 1024),
     (120_000, 1, 512)],
)  # fmt: skip
def test_the_micro_batch_grows_with_the_context_where_there_is_room(
    context: int, users: int, batch: int
) -> None:
    """8B takes 4.9 GB and 131,072 B a token: 10.1 GB at 40,000 tokens, 18.0 at 100,000, 20.6 at
    120,000. Of 24 GiB, 25.8 GB, 0.60 are 15.5 and 0.75 are 19.3.
    """
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    assert float(served(model, RIG, Workload(context=context, users=users)).ubatch) == batch


def test_a_micro_batch_that_is_given_is_kept() -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    assert served(model, RIG, Workload(context=40_000, ubatch=256)).ubatch == 256


def test_it_fits_as_llama_cpp_does() -> None:
    for name in ("Llama-3.1-70B", "Qwen3-235B-A22B"):
        own = place(OLLAMA, name)
        other = place(LLAMA_CPP, name)
        assert float(own.gpu_layers) == float(other.gpu_layers)
        assert float(own.cpu_moe) == float(other.cpu_moe)


def test_experts_stay_in_ram_by_the_environment() -> None:
    """Ollama hands its environment to llama-server (issue 11772)."""
    model = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    name = "Qwen3-30B-A3B"
    for experts, stated in ((20.0, "LLAMA_ARG_N_CPU_MOE=20"), (48.0, "LLAMA_ARG_CPU_MOE=1")):
        placement = place(OLLAMA, name, settings=Settings(gpu_layers=48.0, cpu_moe=experts))
        assert (float(placement.cpu_moe), float(placement.gpu_layers)) == (experts, 48)
        text = OLLAMA.command(model, placement, RIG, Workload())
        assert stated in text.splitlines()[1].split()
        assert r"PARAMETER num_gpu 49\n" in text
    assert "LLAMA_ARG" not in run(OLLAMA).command


def test_llama_server_reads_those_variables() -> None:
    """The library that the parser of llama.cpp is in holds the names of its variables."""
    folder = Path(pytest.importorskip("xllamacpp").__file__).parent
    held = b"".join(library.read_bytes() for library in folder.glob("xllamacpp*.so"))
    for name in ("LLAMA_ARG_CPU_MOE", "LLAMA_ARG_N_CPU_MOE"):
        assert name.encode() in held


def test_one_gpu_is_taken_where_it_holds_all() -> None:
    two = machine(MachineSpec(gpu="RTX 3090", gpu_count=2))
    assert Location.vram(1) not in place(OLLAMA, "Llama-3.1-8B", two, RESIDENT).weights
    assert Location.vram(1) in place(OLLAMA, "Llama-3.1-70B", two, RESIDENT).weights
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    work = Workload()
    result = OLLAMA.place(model, two, work, RESIDENT, Settings())
    assert OLLAMA.schedule(model, result, two, work).decode.workers == 1


@pytest.mark.parametrize(
    ("runtime", "words", "changes"),
    [
        (OLLAMA, "larger than RAM", {"strategy": PAGED}),
        (OLLAMA, "f16, q8_0, q4_0", {"kv_type": "q5_0"}),
        (OLLAMA, "one request at a time", {"name": "Qwen3-Next-80B-A3B", "users": 2}),
        (OLLAMA, "one machine", {"where": machine(MachineSpec(gpu="RTX 3090", machines=2))}),
        (LM_STUDIO, "larger than RAM", {"strategy": PAGED}),
        (LM_STUDIO, "one machine", {"where": machine(MachineSpec(gpu="RTX 3090", machines=2))}),
    ],
)
def test_an_impossible_combination_is_refused(
    runtime: Runtime, words: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(Refusal, match=words):
        place(runtime, **changes)


def test_ollama_is_configured_by_environment_and_modelfile() -> None:
    text = run(OLLAMA, users=2, context=16_384, kv_type="q8_0").command
    _, serve, _, create, start = text.splitlines()
    assert shlex.split(serve) == [
        "OLLAMA_CONTEXT_LENGTH=16384",
        "OLLAMA_NUM_PARALLEL=2",
        "OLLAMA_KV_CACHE_TYPE=q8_0",
        "OLLAMA_FLASH_ATTENTION=1",
        "ollama",
        "serve",
    ]
    modelfile = shlex.split(create)[1].replace(r"\n", "\n").splitlines()
    assert modelfile[0] == "FROM llama3.1:70b-instruct-q4_K_M"
    assert modelfile[1] == "PARAMETER num_ctx 16384"
    assert start == f"ollama run {shlex.split(create)[-3]}"


def test_layers_and_experts_are_named() -> None:
    dense = run(OLLAMA)
    sparse = run(OLLAMA, "Qwen3-235B-A22B")
    assert dense.placement is not None
    # num_gpu counts the head, as -ngl does.
    assert f"PARAMETER num_gpu {int(dense.placement.gpu_layers) + 1}\\n" in dense.command
    assert sparse.placement is not None
    assert f"LLAMA_ARG_N_CPU_MOE={int(sparse.placement.cpu_moe)} ollama serve" in sparse.command
    assert f"PARAMETER num_gpu {sparse.model.layers + 1}\\n" in sparse.command


def test_every_name_passed_to_ollama_is_documented() -> None:
    for name in ("Llama-3.1-70B", "Qwen3-235B-A22B", "Llama-3.1-8B"):
        text = run(OLLAMA, name, users=2, kv_type="q4_0", ubatch=256).command
        assert set(re.findall(r"OLLAMA_\w+|num_\w+|PARAMETER|FROM", text)) <= listed("ollama")


def test_lm_studio_leaves_expert_layers_in_ram() -> None:
    small = machine(MachineSpec(gpu="RTX 4070", ram_gb=64))
    model = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    placement = place(LM_STUDIO, "Qwen3-30B-A3B", small)
    experts = int(placement.cpu_moe)
    assert float(placement.gpu_layers) == 48
    assert 0 < experts < 48
    first, get, line = LM_STUDIO.command(model, placement, small, Workload()).splitlines()
    assert get == "lms get https://huggingface.co/unsloth/Qwen3-30B-A3B-GGUF@Q4_K_M"
    assert f"{experts} of 48 expert layers" in first
    ratio = float(first.rpartition("numCpuExpertLayersRatio ")[2].rstrip(")"))
    assert round(ratio * 48) == experts
    assert "--gpu max" in line
    dense = place(LM_STUDIO, where=small)
    assert float(dense.cpu_moe) == 0
    assert 0 < float(dense.gpu_layers) < 80


def test_experts_left_in_ram_are_faster_than_whole_layers() -> None:
    small = machine(MachineSpec(gpu="RTX 4070", ram_gb=64))
    model = catalog.model("Qwen3-30B-A3B", "Q4_K_M")
    constants = Constants.fitted()
    speeds = []
    for settings in (Settings(), Settings(gpu_layers=24.0, cpu_moe=0.0)):
        answer = estimate(model, small, Workload(), LM_STUDIO, OFFLOAD, constants, settings)
        assert answer.decode is not None
        speeds.append(float(answer.decode.value))
    assert speeds[0] > speeds[1]


def test_lm_studio_drafts_by_the_models_own_layers() -> None:
    drafting = {"draft": "mtp", "drafted": 2, "acceptance": 0.8}
    text = run(LM_STUDIO, "Qwen3.6-27B", **drafting).command
    assert "(speculativeDraftMtp, speculativeDraftMaxTokens 2)" in text
    with pytest.raises(Refusal, match="eagle"):
        place(LM_STUDIO, draft="eagle", drafted=2, acceptance=0.8)


def test_lm_studio_gets_a_share_of_the_layers() -> None:
    estimate = run(LM_STUDIO, users=2, kv_type="q8_0")
    assert estimate.placement is not None
    *comments, line = estimate.command.splitlines()
    words = shlex.split(line)
    share = float(words[words.index("--gpu") + 1])
    assert share == pytest.approx(float(estimate.placement.gpu_layers) / 80, abs=0.001)
    assert words[words.index("--context-length") + 1] == "16384"
    assert flags(words) <= listed("lm_studio")
    assert any("q8_0" in comment for comment in comments)
    assert any("Max Concurrent Predictions 2" in comment for comment in comments)


@pytest.mark.parametrize(("strategy", "gpu"), [(RESIDENT, "max"), (OFFLOAD, "off")])
def test_the_ends_of_the_slider_have_names(strategy: PlacementStrategy, gpu: str) -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    work = Workload()
    result = LM_STUDIO.place(model, RIG, work, strategy, Settings())
    assert f"--gpu {gpu} " in LM_STUDIO.command(model, result, RIG, work)
