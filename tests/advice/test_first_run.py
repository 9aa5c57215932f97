"""Lines that a person copies, for three systems; each is checked up to the download."""

import re
import shlex
from collections.abc import Iterator

import pytest
from flags import flags, listed

from advisor.advice.first_run import System, first_run, installers, systems
from advisor.advice.powershell import powershell
from advisor.cost_model.estimate import Estimate
from advisor.model.catalog import Download
from advisor.request.request import Request
from advisor.runtimes.compare import compare
from advisor.ui.question.presets import MACHINES

SHORT = {"llama.cpp", "Ollama", "LM Studio"}
LAPTOP = Request(model="Qwen3.6-27B", machine="laptop 4060 16gb")


def fitting(request: Request) -> Iterator[Estimate]:
    nouns = request.nouns()
    for estimate in compare(nouns.model, nouns.machine, nouns.work, settings=nouns.settings):
        if bool(estimate.fits):
            yield estimate


def of(request: Request, runtime: str, system: System):
    estimate = next(each for each in fitting(request) if each.runtime.name == runtime)
    assert system in systems(estimate)
    return first_run(estimate, system)


def test_windows_with_ollama() -> None:
    lines = of(LAPTOP, "Ollama", System.WINDOWS)
    assert lines.install == "winget install Ollama.Ollama"
    run, context = lines.run.splitlines()
    assert run == "ollama run qwen3.6:27b-q4_K_M"
    assert context == "/set parameter num_ctx 8192"
    assert "$env:OLLAMA_CONTEXT_LENGTH = '8192'; ollama serve" in lines.exact.splitlines()
    assert "printf" not in lines.exact


def test_mac_with_lm_studio() -> None:
    request = Request(model="Gemma-3-27B", machine="Mac mini M4 Pro 64GB")
    lines = of(request, "LM Studio", System.MAC)
    assert lines.install == "brew install --cask lm-studio"
    get, load, serve = lines.run.splitlines()
    assert get == "lms get https://huggingface.co/unsloth/gemma-3-27b-it-GGUF@Q4_K_M"
    assert load == "lms load gemma-3-27b-it --context-length 8192"
    assert serve == "lms server start"


def test_linux_with_llama_cpp() -> None:
    lines = of(LAPTOP, "llama.cpp", System.LINUX)
    assert lines.run == "llama-server -hf unsloth/Qwen3.6-27B-GGUF:Q4_K_M -c 8192"
    assert flags(shlex.split(lines.exact)) <= listed("llama_server")


@pytest.mark.parametrize(
    ("stated", "option"),
    [
        ({"swa_full": True}, "--swa-full"),
        ({"flash_attention": False}, "-fa off"),
        ({"ubatch": 128}, "-ub 128"),
        ({"ubatch": 4096}, "-b 4096 -ub 4096"),
        ({"threads": 3}, "-t 3"),
        ({"numa": "numactl"}, "--numa numactl"),
        ({"backend": "cpu"}, "-dev none"),
        ({"backend": "vulkan"}, "-dev Vulkan0"),
    ],
)
def test_the_first_line_passes_stated_settings(stated, option) -> None:
    request = Request(model="gemma-3-12b", machine="RTX 3090, 64 GB", **stated)
    lines = of(request, "llama.cpp", System.LINUX)
    assert option in lines.run
    assert lines.run == lines.exact


def test_the_first_lines_of_ollama_pass_a_stated_micro_batch() -> None:
    request = Request(model="gemma-3-12b", machine="RTX 3090, 64 GB", ubatch=128)
    assert "num_batch 128" in of(request, "Ollama", System.LINUX).run


def values(line: str, option: str) -> list[str]:
    """What stands behind an option of a command."""
    words = shlex.split(line)
    return [words[place + 1] for place, word in enumerate(words) if word == option]


@pytest.mark.parametrize(
    ("stated", "runtime", "words"),
    [
        ({"gpu_layers": 20}, "llama.cpp", "-ngl 20"),
        ({"gpu_layers": 20}, "Ollama", "num_gpu 20"),
        ({"gpu_layers": 20}, "LM Studio", "--gpu 0.297"),  # 19 of 64 layers beside the head
        ({"cpu_ffn": 60}, "llama.cpp", "-ncffn 60"),
        ({"gpu_layers": 20, "load_mode": "none"}, "llama.cpp", "-lm none"),
    ],
)
def test_the_first_lines_of_a_stated_split_pass_it(stated, runtime: str, words: str) -> None:
    lines = of(Request(model="Qwen3-32B", machine="RTX 4070 96gb", **stated), runtime, System.LINUX)
    assert words in lines.run


def test_the_first_lines_keep_stated_experts_in_ram() -> None:
    request = Request(model="gpt-oss-120b", machine="RTX 4090 96gb", cpu_moe=30)
    assert "-ncmoe 30" in of(request, "llama.cpp", System.LINUX).run
    assert "numCpuExpertLayersRatio" in of(request, "LM Studio", System.WINDOWS).run


@pytest.mark.parametrize(
    ("runtime", "option"),
    [("vLLM", "--tensor-parallel-size"), ("SGLang", "--tp-size"), ("TensorRT-LLM", "--tp_size")],
)
def test_the_first_line_of_a_server_uses_every_gpu_that_the_model_needs(
    runtime: str, option: str
) -> None:
    request = Request(model="Llama-3.3-70B", format="AWQ", machine="2x RTX 3090 64gb")
    lines = of(request, runtime, System.LINUX)
    assert values(lines.run, option) == ["2"]
    assert "8192" in lines.run


def test_the_first_line_of_a_server_leaves_in_ram_what_the_gpu_cannot_hold() -> None:
    request = Request(model="Qwen3-32B", format="BF16", machine="RTX 3090 64gb")
    assert "--offload-backend" in of(request, "vLLM", System.LINUX).run
    assert "--cpu-offload-gb" in of(request, "SGLang", System.LINUX).run


@pytest.mark.parametrize("stated", [{"users": 20}, {"kv_type": "q8_0"}])
def test_what_is_stated_stands_in_the_second_step_behind_the_first(stated) -> None:
    """A team, or a cache in 8 bits: the exact lines download the model, so they are the step."""
    request = Request(model="Qwen3-32B", machine="2x RTX 3090 128gb", **stated)
    for runtime in ("llama.cpp", "Ollama", "LM Studio", "vLLM", "SGLang"):
        lines = of(request, runtime, System.LINUX)
        assert lines.install
        assert lines.run == lines.exact


def test_a_known_file_of_a_program_that_downloads_none_is_linked() -> None:
    lines = of(Request(model="Qwen3-32B", machine="RTX 3090 64gb"), "ik_llama.cpp", System.LINUX)
    assert "-m Qwen3-32B-Q4_K_M.gguf" in lines.exact
    assert lines.files == "https://huggingface.co/unsloth/Qwen3-32B-GGUF/tree/main"
    assert lines.search == ""


def test_a_program_without_an_installer_for_windows_is_for_linux() -> None:
    for estimate in fitting(LAPTOP):
        if estimate.runtime.name == "vLLM":
            assert systems(estimate) == (System.LINUX,)


def test_a_repository_that_no_list_has_is_searched_for() -> None:
    request = Request(model="OPT-13B", machine="3090 64gb", runtime="llama.cpp")
    for estimate in fitting(request):
        if estimate.runtime.name == "llama.cpp":
            lines = first_run(estimate, System.LINUX)
            assert lines.run == ""
            assert lines.search.endswith("library=gguf&search=OPT-13B")
            assert "-m OPT-13B-" in lines.exact


def test_a_file_in_parts_is_not_for_ollama() -> None:
    request = Request(model="GLM-4.5-Air", machine="Mac Studio M3 Ultra 256GB")
    lines = of(request, "Ollama", System.MAC)
    assert lines.run == ""
    assert lines.search == ""
    assert "no file in parts" in lines.refused
    assert "hf.co" not in lines.exact
    assert of(request, "llama.cpp", System.MAC).run.startswith("llama-server -hf ")


def test_no_printed_name_is_made_up() -> None:
    known = {row.gguf for row in Download.rows().values()}
    tags = {row.ollama for row in Download.rows().values()}
    for model in ("Qwen3.6-27B", "gpt-oss-120b", "Llama-3.1-70B", "glm 4.6", "OPT-13B"):
        for estimate in fitting(Request(model=model, machine="3090 128gb")):
            if estimate.runtime.name not in SHORT:
                continue
            text = first_run(estimate, System.LINUX).run + estimate.command
            for name in re.findall(r"(?:-hf |hf\.co/|huggingface\.co/)([^\s:@\\]+)", text):
                assert name in known
            for name in re.findall(r"ollama run ([a-z0-9.-]+:\S+)", text):
                assert name in tags
            assert "OWNER" not in text


def test_lines_exist_for_every_preset() -> None:
    """Qwen3.6 27B on each machine of the page: lines that download it, in three programs."""
    for inputs in MACHINES.values():
        if inputs.get("machine") == "this":
            continue
        request = Request(model="Qwen3.6-27B", **inputs)
        for estimate in fitting(request):
            if estimate.runtime.name in SHORT:
                for system in systems(estimate):
                    lines = first_run(estimate, system)
                    assert lines.install
                    assert lines.run
                    assert "Qwen3.6-27B-Q4_K_M.gguf" not in lines.exact


def test_installers_are_public_and_for_known_systems() -> None:
    for (_, system), row in installers().items():
        assert system in {each.value for each in System}
        assert row.source.startswith("https://")


PAIRS = {
    "A=1 B=q8_0 serve --on": "$env:A = '1'; $env:B = 'q8_0'; serve --on",
    r"printf 'FROM a\nPARAMETER b 1\n' > Modelfile && ollama create c -f Modelfile":
        "'FROM a', 'PARAMETER b 1' | Set-Content Modelfile; ollama create c -f Modelfile",
    "llama-server -ot '^a$=CPU'": "llama-server -ot '^a$=CPU'",
    "# a remark": "# a remark",
}  # fmt: skip


@pytest.mark.parametrize(("posix", "expected"), PAIRS.items())
def test_a_line_for_powershell(posix: str, expected: str) -> None:
    assert powershell(posix) == expected
