"""MLX, ExLlamaV3 and llamafile: formats, machines, commands."""

import numpy as np
import pytest

from advisor.advice.advise import advise
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.evidence.published.reading import understood
from advisor.evidence.published.row import PublishedRow
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.packings import Packing
from advisor.runtimes import EXLLAMAV3, LLAMA_CPP, LLAMAFILE, MLX, OLLAMA_MLX, VLLM, runtime
from advisor.runtimes.compare import as_run, compare
from advisor.scripting import find_model

RESIDENT = PlacementStrategy.GPU_RESIDENT
MAC = machine(MachineSpec(gpu="Apple M4 Max 40c", ram_gb=128))
PC = machine(MachineSpec(gpu="RTX 4090"))


def answer(runtime: Runtime, where: Machine, form: str = "Q4_K_M", **fields: object) -> Estimate:
    model = as_run(catalog.model("Llama-3.1-8B", form), runtime, where)
    work = Workload(**fields)  # type: ignore[arg-type]
    return estimate(model, where, work, runtime, RESIDENT, Constants.fitted())


@pytest.mark.parametrize(
    "how", [MLX, OLLAMA_MLX, EXLLAMAV3, LLAMAFILE], ids=lambda option: option.name
)
def test_each_is_asked_for_by_its_name(how: Runtime) -> None:
    assert runtime(how.name.upper()) is how


@pytest.mark.parametrize("number", [3, 4, 5, 6, 8])
def test_so_many_bits_take_as_much_as_groups_of_64_with_scale_and_offset(number: int) -> None:
    # Two numbers of 16 bits for 64 weights are half a bit for each; 4 bits are 4.5.
    weights = catalog.model("Llama-3.1-8B", Packing.IN_GROUPS[number])
    bits = 8 * weights.file_bytes / weights.architecture.params
    assert bits == pytest.approx(number + 0.5, rel=0.13)


@pytest.mark.parametrize(
    ("form", "taken"),
    [("Q4_K_M", "Q4_0"), ("IQ4_XS", "Q4_0"), ("AWQ", "Q4_0"), ("Q8_0", "Q8_0"), ("FP8", "Q8_0"),
     ("Q6_K", "Q6_K"), ("BF16", "BF16")],
)  # fmt: skip
def test_a_format_becomes_as_many_bits(form: str, taken: str) -> None:
    assert MLX.loaded_format(form, MAC).format == taken
    assert EXLLAMAV3.loaded_format(form, PC).format == taken


def test_exllamav3_computes_experts_in_ram() -> None:
    """Qwen3.8-Flash-Next at 4.05 bits, 43 layers of experts in RAM, on an RTX 3090 beside a Ryzen 9
    5950X: 17.3 tokens/s, and a prompt of 2048 tokens at 408 (exllamav3 issue 326, 2026-09-06)."""
    where = machine(MachineSpec(gpu="RTX 3090", cpu="Ryzen 9 5950X", ram_gb=128))
    model = as_run(find_model("Qwen3.8-Flash-Next", "Q4_0"), EXLLAMAV3, where)
    settings = Settings(cpu_moe=43.0)
    answer = estimate(
        model,
        where,
        Workload(prompt=2048, output=64),
        EXLLAMAV3,
        PlacementStrategy.CPU_OFFLOAD,
        Constants.fitted(),
        settings,
    )
    assert "--cpu-moe-offload-layers 43" in answer.command
    assert answer.decode is not None
    assert answer.prefill is not None
    assert float(answer.decode.value) == pytest.approx(17.3, rel=0.2)
    assert float(answer.prefill.value) == pytest.approx(408, rel=0.2)


@pytest.mark.parametrize(("runtime", "where"), [(MLX, PC), (OLLAMA_MLX, PC), (EXLLAMAV3, MAC)])
def test_another_makers_chip_is_refused(runtime: Runtime, where: Machine) -> None:
    with pytest.raises(Refusal, match="this machine has none"):
        runtime.loaded_format("Q4_K_M", where)


def test_a_packed_cache_is_refused_by_mlx_with_a_way_out() -> None:
    assert "choose f16" in answer(MLX, MAC, kv_type="q8_0").refusal


@pytest.mark.parametrize(("kind", "told"), [("q8_0", True), ("q5_1", True), ("fp8", False)])
def test_a_cache_that_serving_engines_lack_is_told(kind: str, told: bool) -> None:
    served = answer(VLLM, PC, "AWQ", kv_type=kind)
    assert (f"no cache in {kind}: one in 8-bit floats" in served.format_note) is told
    assert "--kv-cache-dtype fp8" in served.command


def test_commands_say_bits_context_and_layers() -> None:
    packed = answer(MLX, MAC).command
    assert "mlx_lm.convert" in packed
    assert "--q-bits 4" in packed
    assert "mlx_lm.server --model" in packed
    assert "convert" not in answer(MLX, MAC, "BF16").command
    assert "-b 6" in answer(EXLLAMAV3, PC, "Q6_K").command
    assert "-ngl 999" in answer(LLAMAFILE, PC).command
    assert "-c 8192" in answer(LLAMAFILE, PC, context=8192).command


def test_old_kernels_are_slower() -> None:
    old, new = (answer(option, PC).decode for option in (LLAMAFILE, LLAMA_CPP))
    assert old is not None
    assert new is not None
    assert old.value < new.value


def test_constants_of_another_engine_widen_a_range() -> None:
    """ExLlamaV3 runs by llama.cpp's constants, which its cards miss by 0.2 in the logarithm beside
    what strangers' cards differ by anyway: independent, so squares add. Its 4 bits are fewer to
    read, so starting kernels, which differs more, takes a little more of its time."""
    own, borrowed = (answer(option, PC).decode for option in (LLAMA_CPP, EXLLAMAV3))
    assert own is not None
    assert borrowed is not None
    halves = [float(np.log(rate.high / rate.low)) / 2.0 for rate in (own, borrowed)]
    assert halves[1] == pytest.approx(np.hypot(halves[0], 0.2), rel=0.03)


def test_mlx_stands_beside_the_others_on_apples_chips_alone() -> None:
    model = catalog.model("Llama-3.1-8B", "Q4_K_M")
    for where, there in ((MAC, True), (PC, False)):
        names = {each.runtime.name for each in advise(model, where, Workload()).estimates}
        assert ("MLX" in names) == there
    assert "MLX" not in {each.runtime.name for each in compare(model, MAC, Workload())}


@pytest.mark.parametrize(
    ("quant", "form"),
    [("MLX 4bit", "Q4_0"), ("4bit (MLX)", "Q4_0"), ("q6", "Q6_K"), ("q8", "Q8_0")],
)
def test_published_runs_are_read_in_groups_of_64(quant: str, form: str) -> None:
    cells = {
        "category": "resident", "runtime": "mlx-lm 0.28", "gpu": "Apple M4 Pro 20c",
        "model": "Llama-3.1-8B", "quant": quant, "prompt_len": "512", "gen_len": "128",
    }  # fmt: skip
    case = understood(PublishedRow(cells))
    assert case.runtime is MLX
    assert case.model.format == form


@pytest.mark.parametrize("bits", [2.25, 3.0, 4.25, 4.65, 6.5])
def test_exllamav3_takes_as_many_bits_as_a_file_of_its_predecessor_has(bits: float) -> None:
    # Both take any mean number of bits (doc/convert.md of exllamav2 and of exllamav3).
    loaded = EXLLAMAV3.loaded_format(f"EXL2 {bits}bpw", PC)
    assert loaded.format == f"EXL3-{bits:g}bit-h6"
    assert loaded.reason
