"""The llama-server line: its options against the real engine, each of them against its help."""

import re
import shlex
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine import needs_engine, options, understood
from flags import flags, listed
from synthetic import write_model

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model.architecture import ArchitectureSpec
from advisor.model.build import build
from advisor.model.catalog import find_model, in_format
from advisor.model.model import Model
from advisor.request.estimates import estimates_of
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP
from advisor.units import MIB

ARCHITECTURES = {"Qwen3-4B": "qwen3", "Qwen3-30B-A3B": "qwen3moe", "Gemma-3-4B": "gemma3"}
RESIDENT, OFFLOAD, PAGED = PlacementStrategy


@cache
def facts(name: str) -> ArchitectureSpec:
    """A catalogue model cut to six narrow layers, so that the engine loads it in a moment."""
    whole = find_model(name)
    return replace(
        whole,
        layers=6,
        vocab=1024,
        hidden=512,
        heads=4,
        kv_heads=2,
        intermediate=min(whole.intermediate, 1024),
        experts=min(whole.experts, 16),
        moe_intermediate=min(whole.moe_intermediate, 256),
    )


@cache
def small(name: str) -> Model:
    return in_format(build(facts(name)), "Q4_K_M")


def line(
    name: str = "Qwen3-4B",
    gpus: int = 1,
    strategy: PlacementStrategy = OFFLOAD,
    work: dict[str, Any] | None = None,
    **settings: Any,
) -> list[str]:
    """Words of the command for a small model on a machine with so many GPUs."""
    where = machine(MachineSpec(gpu="RTX 3090" if gpus else "none", gpu_count=max(gpus, 1)))
    request = Workload(**{"context": 1024, **(work or {})})
    model = small(name)
    placement = LLAMA_CPP.place(model, where, request, strategy, Settings(**settings))
    return shlex.split(LLAMA_CPP.command(model, placement, where, request))


LOAD_NAMES = {
    "none": "none", "dio": "direct_io", "mlock": "mlock", "mmap+mlock": "mmap_mlock",
}  # fmt: skip
"""Load modes beside mmap, as the engine calls them."""
CPU_MOE = ",".join(rf"blk\.{layer}\.ffn_(up|down|gate|gate_up)_(ch|)exps=CPU" for layer in range(2))
"""What the engine makes of `-ncmoe 2`."""
CPU_FFN = ",".join(rf"blk\.{layer}\.ffn_(up|down|gate)\.=CPU" for layer in range(2))
"""What the engine makes of `-ncffn 2`."""
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "all in the GPU": ({"strategy": RESIDENT}, {"n_gpu_layers": -2, "fit_params": False}),
    "no GPU": ({"gpus": 0}, {"n_gpu_layers": -1}),
    "some layers": ({"gpu_layers": 3.0}, {"n_gpu_layers": 4, "tensor_buft_overrides": ""}),
    "none": ({"gpu_layers": 0.0}, {"n_gpu_layers": 0}),
    "layers, the head in RAM": (
        {"gpu_layers": 3.0, "head_first": False},
        {"n_gpu_layers": 4, "tensor_buft_overrides": r"^(output|token_embd)\.weight=CPU"},
    ),
    "two GPUs": ({"gpus": 2, "strategy": RESIDENT}, {"tensor_split": [3.0, 4.0]}),
    "requests": (
        {"work": {"users": 3, "context": 512, "ubatch": 4096}},
        {"n_ctx": 1536, "n_parallel": 3, "n_ubatch": 4096, "n_batch": 4096},
    ),
    "cache": (
        {"work": {"kv_type": "q8_0"}, "gpu_layers": 6.0, "kv_in_ram": True},
        {"cache": ["GGML_TYPE_Q8_0"] * 2, "no_kv_offload": True},
    ),
    "whole windows": ({"name": "Gemma-3-4B", "work": {"swa_full": True}}, {"swa_full": True}),
    "from the drive": (
        {"strategy": PAGED},
        {"load_mode": "mmap", "no_extra_bufts": True},
    ),
    "experts of two layers": (
        {"name": "Qwen3-30B-A3B", "cpu_moe": 2.0},
        {"n_gpu_layers": -2, "tensor_buft_overrides": CPU_MOE},
    ),
    "feed-forward of two layers": (
        {"cpu_ffn": 2.0},
        {"n_gpu_layers": -2, "tensor_buft_overrides": CPU_FFN},
    ),
    "a cache of experts": (
        {"name": "Qwen3-30B-A3B", "cpu_moe": 2.0, "expert_cache": 2.5 * MIB},
        {"tensor_buft_overrides": CPU_MOE, "moe_cache_size": 2 * 2**20},
    ),
    "all experts": ({"name": "Qwen3-30B-A3B", "cpu_moe": 6.0}, {"n_gpu_layers": -2}),
    **{
        f"load mode {mode}": ({"gpu_layers": 2.0, "load_mode": mode}, {"load_mode": name})
        for mode, name in LOAD_NAMES.items()
    },
}


@needs_engine
@pytest.mark.parametrize("case", CASES)
def test_the_engine_loads_a_model_with_the_printed_command(case: str, tmp_path: Path) -> None:
    request, expected = CASES[case]
    name = request.get("name", "Qwen3-4B")
    path = write_model(tmp_path / "model.gguf", ARCHITECTURES[name], facts(name), "Q4_K_M")
    words = line(**request)
    assert words[:2] == ["llama-server", "-hf"]
    record = understood(["-m", str(path), *words[3:], "--port", "0"])
    assert {key: record[key] for key in expected} == expected
    assert record["fit_params"] is False


def printed() -> set[str]:
    """Every option that some case, and a second machine, make the command print."""
    far = machine(MachineSpec(gpu="RTX 3090", gpu_count=2, machines=2))
    model = small("Qwen3-4B")
    work = Workload()
    placement = LLAMA_CPP.place(model, far, work, RESIDENT, Settings())
    there = LLAMA_CPP.command(model, placement, far, work).splitlines()[-1]
    lines = [line(**request) for request, _ in CASES.values()]
    return set().union(*map(flags, lines), flags(shlex.split(there)))


@needs_engine
def test_every_option_is_in_the_help_of_llama_server() -> None:
    assert printed() <= options()


def test_every_option_is_in_the_help_as_it_was_read() -> None:
    assert printed() <= listed("llama_server")


def test_the_cases_print_every_option_there_is() -> None:
    assert printed() >= {
        "-hf",
        "-c",
        "-np",
        "-b",
        "-ub",
        "-ngl",
        "-ot",
        "-cmoe",
        "-ncmoe",
        "--rpc",
        "-sm",
        "-ts",
        "--moe-cache-mib",
        "-ncffn",
        "-fa",
        "-ctk",
        "-ctv",
        "-nkvo",
        "--swa-full",
        "-lm",
        "--no-repack",
        "--fit",
    }


def test_flash_attention_is_turned_off_where_the_request_has_none() -> None:
    assert "-fa off" in " ".join(line(work={"flash_attention": False}))
    assert "-fa" not in line()


def test_another_machine_serves_its_gpus() -> None:
    far = machine(MachineSpec(gpu="RTX 3090", machines=3))
    model = small("Qwen3-4B")
    work = Workload()
    placement = LLAMA_CPP.place(model, far, work, RESIDENT, Settings())
    text = LLAMA_CPP.command(model, placement, far, work)
    assert "rpc-server -H 0.0.0.0 -p 50052" in text
    assert "--rpc HOST2:50052,HOST3:50052" in text
    assert "-ts 2,2,3" in text, "6 layers on three cards, the head counted on the last"


def test_a_file_read_in_cannot_stay_on_the_drive() -> None:
    with pytest.raises(Refusal, match="keeps the whole file in RAM"):
        line(strategy=PAGED, load_mode="none")


def test_every_load_mode_is_tried() -> None:
    assert {*LOAD_NAMES, "mmap", "auto"} == Settings.LOAD_MODES.keys()


def test_an_unknown_load_mode_is_named() -> None:
    with pytest.raises(InputError, match="mmap\\+mlock"):
        Settings(load_mode="no-mmap")


def test_a_cache_type_that_it_lacks_is_refused() -> None:
    with pytest.raises(Refusal, match="q8_0"):
        line(work={"kv_type": "fp8"})


def _split_by_number(runtime: str, stated: int) -> Estimate:
    request = Request(
        model="Llama-3.1-8B", gpu="RTX 3090", ram_gb=64, gpu_layers=stated, runtime=runtime
    )
    return next(
        each
        for each in estimates_of(request.nouns())
        if each.strategy is PlacementStrategy.CPU_OFFLOAD
    )


STATED = [0, 2, 3, 20, 31, 32, 33, 99]


@pytest.mark.parametrize("runtime", ["llama.cpp", "Ollama"])
@pytest.mark.parametrize("stated", STATED)
def test_a_stated_number_of_layers_is_printed_as_it_was_typed(stated, runtime) -> None:
    """`-ngl N` of a model of 32 layers: the head and N - 1 of them, all from 33 on
    (src/llama-model.cpp, `i_gpu_start`).
    """
    split = _split_by_number(runtime, stated)
    assert float(split.placement.gpu_layers) == min(max(stated - 1, 0), 32)
    assert float(np.sum(split.placement.output[Location.vram(0)])) == (stated > 1)
    option = "num_gpu" if runtime == "Ollama" else "-ngl"
    printed = re.search(rf'{option}"?:? (\w+)', split.command)
    assert printed is not None
    assert printed[1] in (str(stated), "all" if stated > 32 else "", "33" if stated > 32 else "")


@pytest.mark.parametrize("runtime", ["ik_llama.cpp", "llamafile"])
@pytest.mark.parametrize("stated", STATED)
def test_older_forks_count_layers_alone(stated, runtime) -> None:
    split = _split_by_number(runtime, stated)
    assert float(split.placement.gpu_layers) == min(stated, 32)
    assert float(np.sum(split.placement.output[Location.vram(0)])) == (stated >= 32)
    assert f" -ngl {stated if stated < 32 else 999} " in f"{split.command} "
