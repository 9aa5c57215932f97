"""Facts of a result or a server: used, never contradicted, and no two sentences that do."""

from dataclasses import replace

import pytest

from advisor import describe_machine, estimate
from advisor.advice.diagnosis.diagnose import Measured, Outcome, cause_rows, degrees, diagnose
from advisor.advice.diagnosis.facts import OF_FILE, OF_LAYERS, other_model
from advisor.advice.diagnosis.measured_run import measured_run
from advisor.advice.diagnosis.results import as_run
from advisor.advice.diagnosis.text import diagnosis_text, sentence
from advisor.advice.diagnosis.watching import Watched
from advisor.errors import InputError
from advisor.model import resolve
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.probes.server import ServerReading
from advisor.request.request import Request
from advisor.units import GIB

RIG = describe_machine(gpu="RTX 3090", cpu="Ryzen 9 7950X", ram_gb=64)
RESIDENT = estimate("Qwen3-8B", RIG, placement="gpu-resident")
FILE = EngineRun(
    tool="llama-bench",
    model="qwen3 8B Q4_K - Medium",
    runtime="llama.cpp",
    file_bytes=4.68 * GIB,
    backend="CUDA",
    gpu_layers=99,
    threads=16,
)
SLOW = 0.3
FAST = 3.0


def diagnosed(facts: EngineRun | None, decode: float, prompt: float | None = None):
    """Diagnosis of speeds, as factors of the predicted ones."""
    speeds = measured_run(RESIDENT).speeds(RESIDENT)
    measured = Measured(
        decode=decode * float(speeds.decode.value),
        prompt=None if prompt is None else prompt * float(speeds.prompt.value),
        facts=facts,
    )
    return diagnose(RESIDENT, measured)


@pytest.mark.parametrize("decode", [0.1, SLOW, 0.6, FAST])
def test_no_cause_contradicts_what_the_file_states(decode) -> None:
    keys = {cause.row.key for cause in diagnosed(FILE, decode).causes}
    assert not keys & {*OF_LAYERS, *OF_FILE, "cpu_alone", "other_backend", "many_threads"}
    assert {cause.row.key for cause in diagnosed(None, decode).causes} & {*OF_LAYERS, *OF_FILE}


def test_another_file_is_shown_as_the_cause() -> None:
    larger = replace(FILE, model="qwen3 8B Q8_0", file_bytes=8.1 * GIB)
    answer = diagnosed(larger, 0.6)
    assert "larger_file" in {cause.row.key for cause in answer.causes}
    assert "smaller_file" not in {cause.row.key for cause in answer.causes}
    assert "It ran a file of 8.1 GB (Q8_0), where Q4_K_M takes" in sentence(answer)


def test_a_build_without_the_gpu_is_shown_as_the_cause() -> None:
    answer = diagnosed(replace(FILE, backend="CPU", gpu_layers=0), 0.1)
    assert "cpu_alone" in {cause.row.key for cause in answer.causes}
    assert "has no backend for the GPU (CPU)" in sentence(answer)


@pytest.mark.parametrize("prompt", [None, SLOW, 1.0, FAST])
@pytest.mark.parametrize("decode", [SLOW, 1.0, FAST])
def test_each_speed_is_called_what_it_is(decode, prompt) -> None:
    def outcome(factor: float) -> Outcome:
        if factor == 1.0:
            return Outcome.AS_PREDICTED
        return Outcome.SLOWER if factor < 1.0 else Outcome.FASTER

    answer = diagnosed(None, decode, prompt)
    told = sentence(answer)
    assert answer.outcomes == tuple(outcome(each) for each in (decode, prompt) if each is not None)
    if prompt is None or outcome(decode) is outcome(prompt):
        assert str(outcome(decode)).capitalize() in told
    else:
        assert f"Generation is {outcome(decode)}, the prompt {outcome(prompt)}." in told
    # a fault is slowness: causes are of the slower speed where both are out of their ranges
    if prompt and {outcome(decode), outcome(prompt)} == {Outcome.SLOWER, Outcome.FASTER}:
        assert answer.outcome is Outcome.SLOWER
    text = diagnosis_text(answer)
    for words in ("Slower than predicted.", "Faster than predicted.", "As predicted:"):
        others = {"Slower than predicted.", "Faster than predicted.", "As predicted:"} - {words}
        assert not (words in text and any(other in text for other in others))


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.7, 0.8, 0.9, 1.0, 1.2])
@pytest.mark.parametrize(
    "model", ["", "Qwen3-8B-Q4_K_M.gguf", "Qwen3-8B-Q8_0.gguf", "llama3.1:70b"]
)
def test_a_server_is_sound_only_where_nothing_else_is_told(model, share) -> None:
    speed = float(RESIDENT.decode_tps) * share
    reading = ServerReading(
        server="llama.cpp", model=model, tokens=4000, token_seconds=4000 / speed
    )
    seen = Watched(reading=reading, estimate=RESIDENT)
    slower = seen.diagnosis is not None and Outcome.SLOWER in seen.diagnosis.outcomes
    assert not (seen.sound and (seen.alarm or seen.signs or slower or seen.other_model))
    assert bool(seen.other_model) is (model == "llama3.1:70b")
    if seen.other_model:
        assert seen.alarm
        assert seen.diagnosis is None
        assert "expected, so its speed is not judged" in seen.signs[0]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Qwen3-32B-Q4_K_M.gguf", "Qwen3-32B"),
        ("/models/Llama-3.1-70B-Instruct-Q4_K_M.gguf", "Llama-3.1-70B"),
        ("llama3.1:8b", "Llama-3.1-8B"),  # as large, with 32 layers for 36
        ("Qwen/Qwen3-8B-AWQ", ""),
        ("qwen3 8B Q4_K - Medium", ""),
        ("default", ""),
        ("gpt-4", ""),
        ("model.gguf", ""),
        ("", ""),
    ],
)
def test_a_served_name_is_another_model_only_where_it_surely_is(name, other) -> None:
    assert other_model(name, resolve.find("Qwen3-8B").model) == other


def test_what_a_result_states_fills_what_the_request_leaves_open() -> None:
    request = Request(model="Qwen3-8B", gpu="RTX 3090", ram_gb=64)
    run, told = as_run(request, replace(FILE, engine="build 6715 (0a319bb7)", kv_type="q8_0"))
    assert (run.format, run.runtime, run.placement) == ("Q4_K_M", "llama.cpp", "gpu-resident")
    assert (run.bench, run.build, run.kv_type) == (True, "b6715", "q8_0")
    assert "Q4_K_M" in told[0]
    stated = replace(request, format="Q8_0", runtime="Ollama", placement="cpu-offload")
    kept, _ = as_run(stated, FILE)
    assert (kept.format, kept.runtime, kept.placement) == ("Q8_0", "Ollama", "cpu-offload")
    few, _ = as_run(request, replace(FILE, gpu_layers=20))
    assert (few.gpu_layers, few.placement) == (20, "cpu-offload")


def test_results_of_another_model_are_refused_and_of_another_runtime_told() -> None:
    request = Request(model="Llama-3.1-70B", gpu="RTX 3090", ram_gb=64)
    with pytest.raises(InputError, match=r"are of 'qwen3 8B Q4_K - Medium' \(Qwen3-8B\)"):
        as_run(request, FILE)
    run, told = as_run(
        Request(model="Qwen3-8B", gpu="RTX 3090", ram_gb=64),
        EngineRun(tool="mlx_lm", model="", runtime="MLX", decode=30.0),
    )
    assert run.runtime is None
    assert "mlx_lm measured MLX" in told[-1]


@pytest.mark.parametrize("runtime", ["llama.cpp", "vLLM", "SGLang", "TensorRT-LLM", "Accelerate"])
def test_what_slows_a_gpu_slows_every_runtime_that_computes_on_it(runtime) -> None:
    resident = estimate("Qwen3-8B", RIG, runtime=runtime, placement="gpu-resident")
    run = measured_run(resident)
    usual = float(run.speeds(run).decode.value)
    for key in ("gpu_limits", "stuck_clock", "other_load"):
        slowed = [float(speeds.decode.value) / usual for _, speeds in degrees(run, key)]
        assert slowed, key
        assert min(slowed) < 0.7, (runtime, key)
        assert max(slowed) <= 1.0 + 1e-9


def test_causes_name_what_people_met() -> None:
    """A stuck clock, a desktop, a missing library and a limit of power, each by its word."""
    words = " ".join(row.cause for row in cause_rows())
    for met in ("clocks are stuck", "desktop", "library", "power limit"):
        assert met in words
