"""Runtimes: placements, refusals and commands."""

import json
import lzma
import math
import re
import shlex
from types import SimpleNamespace

import numpy as np
import pytest
from placing import WORK, command, place

from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal, UnknownName
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.architecture import Group
from advisor.model.by_name.hub_list import FILE
from advisor.runtimes import ACCELERATE, DEEPSPEED, FLEXGEN, LLAMA_CPP, RUNTIMES, VLLM, runtime
from advisor.runtimes.compare import compare, usable
from advisor.units import GIB


@pytest.fixture(scope="module")
def rig() -> Machine:
    return machine(MachineSpec(gpu="RTX 3090", ram_gb=64))


def test_vllm_keeps_the_whole_cache_on_the_gpu_and_streams_the_last_layers(rig: Machine) -> None:
    placement = place(VLLM, rig, PlacementStrategy.CPU_OFFLOAD, form="AWQ")
    assert set(placement.kv) == {Location.vram(0)}
    assert placement.weights[Location.RAM][Group.ATTENTION][-1] == 1.0
    assert placement.weights[Location.vram(0)][Group.ATTENTION][0] == 1.0


def held(placement: Placement, where: Location) -> float:
    return float(placement.weight_bytes(catalog.model("Llama-3.1-70B", "BF16"), where))


def test_accelerate_fills_the_gpu_then_ram_and_leaves_the_rest_on_the_drive(rig: Machine) -> None:
    # 141 GB: 24 GiB of GPU and 64 GiB of RAM hold some 20 and 60 GB of layers of 1.7 GB.
    placement = place(ACCELERATE, rig, PlacementStrategy.NVME_OFFLOAD, form="BF16")
    model = catalog.model("Llama-3.1-70B", "BF16")
    parts = [held(placement, where) for where in (Location.vram(0), Location.RAM, Location.DISK)]
    assert sum(parts) == pytest.approx(model.file_bytes)
    assert 55e9 < parts[1] < 0.9 * 64 * GIB
    layers = [
        placement.weights[where][Group.ATTENTION]
        for where in (Location.vram(0), Location.RAM, Location.DISK)
    ]
    assert all(set(layer) <= {0.0, 1.0} for layer in layers), "whole layers"
    assert layers[0][0] == layers[2][-1] == 1.0, "in their order"


def test_where_ram_could_hold_the_rest_the_drive_alone_is_shown() -> None:
    large = machine(MachineSpec(gpu="RTX 3090", ram_gb=256))
    placement = place(ACCELERATE, large, PlacementStrategy.NVME_OFFLOAD, form="BF16")
    assert held(placement, Location.RAM) == 0.0


def test_published_shares_of_three_tiers_are_taken_as_given(rig: Machine) -> None:
    settings = Settings(gpu_layers=20.0, disk_layers=32.0)  # of 80: a quarter, two fifths
    for entry in (ACCELERATE, FLEXGEN):
        placement = place(
            entry, rig, PlacementStrategy.NVME_OFFLOAD, form="BF16", settings=settings
        )
        shares = [
            float(np.sum(placement.weights[where][Group.ATTENTION]))
            for where in (Location.vram(0), Location.RAM, Location.DISK)
        ]
        assert shares == pytest.approx([20.0, 28.0, 32.0])


def test_several_gpus_hold_layers_in_turn_under_accelerate_and_share_them_in_vllm() -> None:
    two = machine(MachineSpec(gpu="RTX 3090", gpu_count=2, ram_gb=256))
    turn = place(
        ACCELERATE,
        two,
        PlacementStrategy.CPU_OFFLOAD,
        form="BF16",
        settings=Settings(gpu_layers=20),
    )
    assert float(turn.weights[Location.vram(0)][Group.NORMS].sum()) == 10.0
    shared = place(VLLM, two, PlacementStrategy.GPU_RESIDENT, form="AWQ")
    assert set(shared.weights[Location.vram(1)][Group.NORMS]) == {0.5}
    assert float(np.asarray(shared.output[Location.vram(1)])) == 0.5


def test_zero_inference_keeps_no_weights_on_the_gpu(rig: Machine) -> None:
    placement = place(DEEPSPEED, rig, PlacementStrategy.CPU_OFFLOAD, form="BF16")
    assert held(placement, Location.RAM) == pytest.approx(
        catalog.model("Llama-3.1-70B", "BF16").file_bytes
    )
    assert set(placement.kv) == {Location.vram(0)}
    with pytest.raises(Refusal, match="no weights on the GPU"):
        place(DEEPSPEED, rig, PlacementStrategy.GPU_RESIDENT, form="BF16")


@pytest.mark.parametrize("runtime", [DEEPSPEED, FLEXGEN])
def test_a_cache_that_vram_does_not_hold_goes_to_ram(rig: Machine, runtime: Runtime) -> None:
    # 320 KiB a token: 64 users of 4096 take 86 GB.
    work = Workload(context=4096, users=64)
    placement = place(runtime, rig, PlacementStrategy.CPU_OFFLOAD, form="BF16", work=work)
    assert float(placement.kv[Location.RAM].sum()) == 80
    assert float(placement.kv[Location.vram(0)].sum()) == 0


def test_flexgen_puts_a_cache_on_the_drive_that_neither_memory_holds(rig: Machine) -> None:
    work = Workload(context=4096, users=64)
    placement = place(FLEXGEN, rig, PlacementStrategy.NVME_OFFLOAD, form="BF16", work=work)
    assert float(placement.kv[Location.DISK].sum()) == 80


def test_vllm_has_no_tier_on_the_drive(rig: Machine) -> None:
    with pytest.raises(Refusal, match="no weights on a drive"):
        place(VLLM, rig, PlacementStrategy.NVME_OFFLOAD, form="AWQ")


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_nothing_is_resident_without_a_gpu(runtime: Runtime) -> None:
    bare = machine(MachineSpec(gpu="none", ram_gb=64))
    with pytest.raises(Refusal, match="GPU"):
        place(runtime, bare, PlacementStrategy.GPU_RESIDENT, form="BF16")


@pytest.mark.parametrize(
    ("runtime", "form", "loaded"),
    [
        (LLAMA_CPP, "Q4_K_M", "Q4_K_M"),
        (LLAMA_CPP, "AWQ", "Q4_K_M"),
        (LLAMA_CPP, "FP8", "Q8_0"),
        (VLLM, "Q4_K_M", "AWQ"),
        (VLLM, "IQ2_XXS", "AWQ"),
        (VLLM, "Q8_0", "FP8"),
        (VLLM, "F16", "BF16"),
        (VLLM, "AWQ", "AWQ"),
        (LLAMA_CPP, "MXFP4-hf", "MXFP4"),
        (LLAMA_CPP, "BF16-hf", "BF16"),
        (VLLM, "MXFP4-hf", "MXFP4-hf"),
        (ACCELERATE, "Q4_K_M", "BF16"),
        (ACCELERATE, "BF16", "BF16"),
        (DEEPSPEED, "BF16", "BF16"),
        (DEEPSPEED, "Q4_K_M", "AWQ"),
        (DEEPSPEED, "Q8_0", "BF16"),
        (FLEXGEN, "AWQ", "AWQ"),
        (FLEXGEN, "IQ2_XXS", "AWQ"),
        (FLEXGEN, "FP8", "BF16"),
    ],
)
def test_a_format_becomes_one_that_the_runtime_loads(
    rig: Machine, runtime: Runtime, form: str, loaded: str
) -> None:
    result = runtime.loaded_format(form, rig)
    assert result.format == loaded
    assert bool(result.reason) == (form != loaded)


def test_vllm_refuses_gpus_without_its_kernels() -> None:
    old = machine(MachineSpec(gpu="GTX 1080 Ti", ram_gb=64))
    estimates = compare(catalog.model("Llama-3.1-8B", "Q4_K_M"), old, WORK, runtimes=(VLLM,))
    assert all("compute capability 7.5" in estimate.refusal for estimate in estimates)


def test_usable_are_those_that_fit_usual_runtimes_first_and_fastest_first(rig: Machine) -> None:
    estimates = usable(compare(catalog.model("Llama-3.1-70B", "Q4_K_M"), rig, WORK))
    kinds = [estimate.runtime.mainstream for estimate in estimates]
    assert kinds == sorted(kinds, reverse=True)
    for kind in (True, False):
        speeds = [
            float(estimate.decode.value)
            for estimate in estimates
            if estimate.decode and estimate.runtime.mainstream is kind
        ]
        assert speeds == sorted(speeds, reverse=True)
    assert all(bool(estimate.fits) for estimate in estimates)


@pytest.mark.parametrize("name", ["llama.cpp", "LLAMA.CPP", "vllm", "Accelerate"])
def test_runtimes_are_found_by_name(name: str) -> None:
    assert runtime(name).name.casefold() == name.casefold()


def test_an_unknown_runtime_is_named_with_close_ones() -> None:
    with pytest.raises(UnknownName, match=r"llama\.cpp"):
        runtime("llama.cp")


def test_vllm_gets_the_option_to_prefetch(rig: Machine) -> None:
    text = command(VLLM, rig, PlacementStrategy.CPU_OFFLOAD, "AWQ", WORK)
    assert "--offload-backend prefetch" in text
    assert "--swap-space" not in text


def test_vllm_gets_the_option_to_share_layers_over_gpus() -> None:
    four = machine(MachineSpec(gpu="RTX 3090", gpu_count=4, ram_gb=64))
    assert "--tensor-parallel-size 4" in command(
        VLLM, four, PlacementStrategy.GPU_RESIDENT, "AWQ", WORK
    )


def test_the_zero_inference_command_writes_its_json_and_a_script_that_is_python(
    rig: Machine,
) -> None:
    text = command(DEEPSPEED, rig, PlacementStrategy.NVME_OFFLOAD, "BF16", Workload(users=2))
    parts = re.findall(r"<<'END'\n(.*?)\nEND\n", text, re.DOTALL)
    config = json.loads(parts[0])
    offload = config["zero_optimization"]["offload_param"]
    assert offload["device"] == "nvme"
    # The largest matrix of a 70B is the embedding: 128,256 x 8192 = 1.05e9 values.
    assert offload["buffer_size"] >= 128_256 * 8192
    assert config["train_micro_batch_size_per_gpu"] == 2
    assert config["aio"]["overlap_events"] is True
    compile(parts[1], "zero.py", "exec")
    assert text.endswith("deepspeed --num_gpus 1 zero.py")


def test_zero_inference_compresses_weights_on_request(rig: Machine) -> None:
    text = command(DEEPSPEED, rig, PlacementStrategy.CPU_OFFLOAD, "AWQ", WORK)
    assert '"num_bits": 4' in text
    assert '"device": "cpu"' in text


def test_a_cache_in_ram_needs_deepspeeds_own_script(rig: Machine) -> None:
    # Options of run_model.py (DeepSpeedExamples at 45b4b71, 2026-03-29).
    work = Workload(context=4096, prompt=512, output=32, users=64)
    text = command(DEEPSPEED, rig, PlacementStrategy.CPU_OFFLOAD, "BF16", work)
    for option in (
        "--batch-size 64",
        "--prompt-len 512",
        "--gen-len 32",
        "--cpu-offload",
        "--pin-memory 1",
        "--kv-offload",
    ):
        assert option in text


@pytest.mark.parametrize("form", ["BF16", "bnb-nf4"])
@pytest.mark.parametrize(("users", "gpus"), [(1, 1), (3, 2), (1, 4)])
def test_the_printed_deepspeed_json_is_accepted_by_its_own_classes(
    form: str, users: int, gpus: int
) -> None:
    config = pytest.importorskip(
        "deepspeed.runtime.config", reason="DeepSpeed is not installed (requirements-oracles.txt)"
    )
    several = machine(MachineSpec(gpu="RTX 3090", gpu_count=gpus, ram_gb=64))
    for strategy in DEEPSPEED.strategies:
        text = command(DEEPSPEED, several, strategy, form, Workload(users=users))
        written = json.loads(text.split("END'\n")[1].split("\nEND")[0])
        world = SimpleNamespace(
            get_model_parallel_rank=lambda: 0,
            get_data_parallel_world_size=lambda: gpus,
            get_slice_parallel_world_size=lambda: 1,
        )
        read = config.DeepSpeedConfig(written, world)
        assert read.train_micro_batch_size_per_gpu == math.ceil(users / gpus)
        assert (
            read.zero_config.offload_param.device
            == written["zero_optimization"]["offload_param"]["device"]
        )
        if strategy is PlacementStrategy.NVME_OFFLOAD:
            assert read.aio_config == written["aio"]
        if form == "bnb-nf4":
            packed = read.weight_quantization_config.quantized_initialization
            assert packed["num_bits"] == 4


@pytest.mark.parametrize("users", [1, 64])
def test_the_deepspeed_launcher_accepts_the_printed_command(rig: Machine, users: int) -> None:
    runner = pytest.importorskip(
        "deepspeed.launcher.runner", reason="DeepSpeed is not installed (requirements-oracles.txt)"
    )
    text = command(DEEPSPEED, rig, PlacementStrategy.CPU_OFFLOAD, "BF16", Workload(users=users))
    words = shlex.split(text.splitlines()[-1], comments=True)
    read = runner.parse_args(words[1:])
    assert words[0] == "deepspeed"
    assert read.num_gpus == 1
    assert read.user_script.endswith(".py")


def test_flexgen_runs_opt_and_says_so_of_others(rig: Machine) -> None:
    # Its own suite for OPT-30B on a T4 and 1024 tokens: --percent 4 96 0 100 0 100, batches of 20
    # (bench_suite.py at 004ffef); options as in flex_opt.py there.
    server = machine(MachineSpec(gpu="T4", ram_gb=208))
    model = catalog.model("OPT-30B", "BF16")
    work = Workload(context=1056, prompt=1024, output=32, users=80)
    result = FLEXGEN.place(
        model, server, work, PlacementStrategy.CPU_OFFLOAD, Settings(gpu_layers=0.04 * model.layers)
    )
    words = FLEXGEN.command(model, result, server, work).split()
    at = words.index("--percent")
    assert words[at + 1 : at + 7] == ["4", "96", "0", "100", "0", "100"]
    size, count = (
        int(words[words.index(option) + 1]) for option in ("--gpu-batch-size", "--num-gpu-batches")
    )
    assert 10 <= size <= 40
    assert (count - 1) * size < 80 <= count * size
    assert "--cpu-cache-compute" in words
    assert words[:5] == ["python", "-m", "flexllmgen.flex_opt", "--model", "facebook/opt-30b"]
    other = command(FLEXGEN, rig, PlacementStrategy.CPU_OFFLOAD, "BF16", WORK)
    assert all(line.startswith("#") for line in other.splitlines())


def test_flexgen_compresses_weights_and_cache(rig: Machine) -> None:
    model = catalog.model("OPT-30B", "AWQ")
    work = Workload(context=544, prompt=512, output=32, users=144, kv_type="q4_0")
    result = FLEXGEN.place(model, rig, work, PlacementStrategy.NVME_OFFLOAD, Settings())
    text = FLEXGEN.command(model, result, rig, work)
    assert "--compress-weight --compress-cache" in text
    assert "--offload-dir offload" in text


def test_the_accelerate_snippet_is_python(rig: Machine) -> None:
    text = command(ACCELERATE, rig, PlacementStrategy.NVME_OFFLOAD, "BF16", WORK)
    compile(text, "snippet", "exec")
    assert 'device_map="auto"' in text
    assert "offload_folder" in text


def test_vllm_keeps_its_cache_in_pages_of_16_tokens(rig: Machine) -> None:
    # 1001 tokens take 63 pages, 1008 tokens, of 320 KiB each.
    placement = place(
        VLLM, rig, PlacementStrategy.CPU_OFFLOAD, form="AWQ", work=Workload(context=1001)
    )
    assert placement.cache is not None
    assert float(placement.cache.sum()) == 1008 * 327_680


def test_a_command_names_a_repository_that_exists_or_a_placeholder_that_says_so() -> None:
    rows = lzma.decompress(FILE.read_bytes()).decode().splitlines()
    listed = {row.partition(",")[0].casefold() for row in rows}
    for (name, form), repository in catalog.checkpoints().items():
        assert repository.casefold() in listed or repository == catalog.repository(name), (
            name,
            form,
            repository,
        )
    assert catalog.checkpoint("Qwen3-32B", "AWQ") == "Qwen/Qwen3-32B-AWQ"
    assert catalog.checkpoint("DeepSeek-V3", "FP8") == "deepseek-ai/DeepSeek-V3"
    assert catalog.checkpoint("OPT-13B", "AWQ") == catalog.Download.UNKNOWN
