"""Commands of each runtime for ten configurations, against the options of the release it names."""

import re
import shlex
from collections.abc import Iterator, Mapping

import pytest
from flags import flags, listed

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.runtime import Runtime
from advisor.request.request import Request
from advisor.runtimes import (
    EXLLAMAV3,
    FLEXGEN,
    IK_LLAMA_CPP,
    KTRANSFORMERS,
    LLAMA_CPP,
    LLAMAFILE,
    LM_STUDIO,
    MLX,
    OLLAMA,
    OLLAMA_MLX,
    SGLANG,
    TENSORRT_LLM,
    VLLM,
)
from advisor.runtimes.compare import compare

PC: Mapping[str, object] = {"gpu": "RTX 4090", "ram_gb": 128.0}
MAC: Mapping[str, object] = {"gpu": "Apple M3 Ultra 80c", "ram_gb": 256.0}
CONFIGURATIONS: tuple[Mapping[str, object], ...] = (
    {"model": "Llama-3.1-8B"},
    {"model": "Llama-3.1-8B", "users": 4, "context": 16_384},
    {"model": "Llama-3.1-70B", "kv_type": "q8_0"},
    {"model": "Qwen3-30B-A3B"},
    {"model": "Qwen3.6-35B-A3B", "draft": "mtp", "drafted": 2, "acceptance": 0.8},
    {"model": "gpt-oss-120b", "context": 65_536},
    {"model": "Qwen3.6-35B-A3B", "session": "swe-bench"},
    {"model": "gemma-3-27b", "users": 2},
    {"model": "Qwen3-32B", "gpu_count": 2},
    {"model": "Qwen3-235B-A22B", "format": "Q3_K_M", "ram_gb": 256.0},
)
OPT: tuple[Mapping[str, object], ...] = (
    {"model": "OPT-6.7B"},
    {"model": "OPT-30B", "users": 8},
    {"model": "OPT-30B", "format": "Q4_0", "users": 16, "context": 1024},
    {"model": "OPT-30B", "kv_type": "q4_0", "users": 64, "prompt": 512, "output": 32},
    {"model": "OPT-66B", "users": 4, "gpu_count": 2},
)
APPLE = (MLX, OLLAMA_MLX)
SHORT = (LLAMA_CPP, IK_LLAMA_CPP, LLAMAFILE)
"""Runtimes whose options have short names that are checked too."""
RELEASES = {
    LLAMA_CPP: "llama_server", OLLAMA: "ollama", LM_STUDIO: "lm_studio", VLLM: "vllm",
    SGLANG: "sglang", KTRANSFORMERS: "ktransformers", MLX: "mlx", EXLLAMAV3: "tabbyapi",
    TENSORRT_LLM: "tensorrt_llm", IK_LLAMA_CPP: "ik_llama_server", LLAMAFILE: "llamafile",
    OLLAMA_MLX: "ollama",
    FLEXGEN: "flexgen",
}  # fmt: skip


def _estimates(runtime: Runtime) -> Iterator[Estimate]:
    machine = MAC if runtime in APPLE else PC
    for stated in OPT if runtime is FLEXGEN else CONFIGURATIONS:
        apple = {key: value for key, value in stated.items() if key not in ("gpu_count", "ram_gb")}
        values = {**machine, **(apple if runtime in APPLE else stated)}
        nouns = Request(**values).nouns()  # type: ignore[arg-type]
        yield from (
            each
            for each in compare(
                nouns.model, nouns.machine, nouns.work, settings=nouns.settings, runtimes=[runtime]
            )
            if each.command and bool(each.fits)
        )


@pytest.mark.parametrize("runtime", RELEASES, ids=lambda runtime: runtime.name)
def test_every_option_of_ten_configurations_is_of_the_release(runtime: Runtime) -> None:
    known = listed(RELEASES[runtime])
    commands = {each.command for each in _estimates(runtime)}
    assert len(commands) >= (4 if runtime is KTRANSFORMERS else 6), "it takes mixtures alone"
    for command in commands:
        lines = [line for line in command.splitlines() if not line.startswith("#")]
        if runtime in (OLLAMA, OLLAMA_MLX):
            names = set(re.findall(r"(?:OLLAMA|LLAMA_ARG)_\w+|num_\w+|PARAMETER|FROM", command))
            assert {name for name in names if not name.startswith("LLAMA_ARG")} <= known, command
            continue
        printed = set().union(*(flags(shlex.split(line, comments=True)[1:]) for line in lines))
        spelled = {flag for flag in printed if flag.startswith("--") or runtime in SHORT}
        if runtime is EXLLAMAV3:
            spelled -= flags(shlex.split(lines[0]))
        assert spelled <= known, (command, spelled - known)


def test_tabbyapi_divides_its_cache_among_users() -> None:
    request = Request(
        model="Llama-3.1-8B",
        gpu="RTX 4090",
        users=3,
        context=5000,
        kv_type="q8_0",
        draft="ngram",
        drafted=4,
        acceptance=0.5,
    )
    nouns = request.nouns()
    resident, _ = compare(nouns.model, nouns.machine, nouns.work, runtimes=[EXLLAMAV3])
    line = resident.command.splitlines()[-1]
    # 3 x 5000 = 15,000 in pages of 256: 59 of them, 15,104.
    assert "--max-seq-len 5000 --cache-size 15104 --max-batch-size 3" in line
    assert "--cache-mode 8,8" in line
    assert "--draft-mode ngram --draft-num-tokens 4" in line


def test_macs_by_ethernet_are_not_told_to_use_thunderbolt() -> None:
    for network, over, way in (
        ("Thunderbolt 5", "thunderbolt", "jaccl"),
        ("10GbE", "ethernet", "ring"),
    ):
        nouns = Request(
            model="GLM-5", format="Q8_0", gpu="M3 Ultra 512GB", machines=2, network=network
        ).nouns()
        (resident,) = compare(nouns.model, nouns.machine, nouns.work, runtimes=[MLX])
        assert f"--backend {way} --over {over} " in resident.command
