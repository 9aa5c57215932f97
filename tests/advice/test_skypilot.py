"""The task file for a rented GPU: fields that SkyPilot knows, the command that was predicted."""

import os
import re
import shlex
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from advisor.advice import start_files
from advisor.advice.advise import advise
from advisor.advice.prices.rows import skypilot_names
from advisor.advice.table.option import OptionKind
from advisor.catalog.constants import Constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.model.catalog import Download
from advisor.runtimes import LLAMA_CPP, OLLAMA, RUNTIMES, SGLANG, VLLM
from advisor.units import GIB

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

SERVERS = (LLAMA_CPP, OLLAMA, VLLM, SGLANG)


@cache
def rented(runtime: Runtime, form: str = "Q4_K_M") -> tuple[Estimate, ...]:
    advice = advise(
        catalog.model("Llama-3.1-70B", form),
        machine(MachineSpec(gpu="RTX 3090", ram_gb=64)),
        Workload(),
        chosen=runtime,
    )
    speeds = {
        option.name: option.speed.decode
        for option in advice.options
        if option.kind is OptionKind.RENT and option.speed
    }
    estimates = start_files.rented_estimates(advice.question, advice.options)
    for name, each in estimates.items():
        assert bool(each.fits)
        assert float(each.decode_tps) == pytest.approx(speeds[name], rel=1e-9)
    return tuple(each for each in estimates.values() if gpus(each)[0] in skypilot_names())


def gpus(rented: Estimate) -> tuple[str, int]:
    return rented.machine.gpus[0].name, len(rented.machine.gpus)


@pytest.mark.parametrize("runtime", SERVERS, ids=lambda runtime: runtime.key)
def test_every_rented_gpu_has_a_file_with_the_fields_that_tasks_have(runtime: Runtime) -> None:
    assert rented(runtime)
    for each in rented(runtime):
        read = yaml.safe_load(start_files.skypilot_task(each))
        assert set(read) == {"name", "resources", "envs", "setup", "run"}
        assert set(read["resources"]) <= {"accelerators", "disk_size", "memory"}
        assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", read["name"])
        accelerators = read["resources"]["accelerators"]
        for name in [accelerators] if isinstance(accelerators, str) else list(accelerators):
            assert name.endswith(f":{gpus(each)[1]}")


@pytest.mark.parametrize("runtime", SERVERS, ids=lambda runtime: runtime.key)
@pytest.mark.parametrize("form", ["Q4_K_M", "BF16"])
def test_skypilot_itself_takes_the_files(runtime: Runtime, form: str) -> None:
    sky = pytest.importorskip(
        "sky",
        reason="SkyPilot is not installed (requirements-oracles.txt)",
        exc_type=ImportError,
    )
    for each in rented(runtime, form):
        read = yaml.safe_load(start_files.skypilot_task(each))
        given = [(name, "owner/name") for name in read["envs"]]
        task = sky.Task.from_yaml_config(read, env_overrides=given)
        assert task.run.strip() == yaml.safe_load(start_files.skypilot_task(each))["run"].strip()


@pytest.mark.parametrize("runtime", SERVERS, ids=lambda runtime: runtime.key)
def test_the_shell_can_parse_set_up_and_start(runtime: Runtime) -> None:
    for each in (rented(runtime)[0], rented(runtime, "BF16")[-1]):
        read = yaml.safe_load(start_files.skypilot_task(each))
        for part in ("setup", "run"):
            done = subprocess.run(["bash", "-n"], input=read[part], text=True, check=False)
            assert done.returncode == 0


def ran(script: str, **variables: str) -> str:
    """What the programs of a script are called with, by stand-ins that say it."""
    named = ("ollama", "vllm", "python", "curl", "until", "sleep")
    text = "; ".join(f'{name}() {{ printf "%s|" {name} "$@"; echo; }}' for name in named[:3])
    script = script.replace(". ~/serving/bin/activate", "")
    done = subprocess.run(
        ["bash", "-c", f"{text}\n{script}"],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
        cwd=variables["HERE"],
    )
    return done.stdout


@pytest.mark.parametrize("runtime", [VLLM, SGLANG], ids=lambda runtime: runtime.key)
def test_servers_of_checkpoints_are_called_with_the_words_of_the_command(
    runtime: Runtime, tmp_path: Path
) -> None:
    each = rented(runtime)[0]
    read = yaml.safe_load(start_files.skypilot_task(each))
    text = ran(read["run"], MODEL_REPOSITORY="owner/name", HERE=str(tmp_path)).strip("|\n")
    words = shlex.split(each.command)
    words[words.index(Download.UNKNOWN)] = "owner/name"
    assert text.split("|") == words
    assert "--env MODEL_REPOSITORY=OWNER/NAME" in start_files.skypilot_task(each)


def test_an_unquantized_checkpoint_is_known() -> None:
    each = rented(VLLM, "BF16")[0]
    read = yaml.safe_load(start_files.skypilot_task(each))
    assert read["envs"] == {"MODEL_REPOSITORY": "meta-llama/Llama-3.1-70B"}
    assert "OWNER/NAME" not in start_files.skypilot_task(each)


def test_ollama_pulls_the_model_and_gives_it_the_options_that_were_predicted(
    tmp_path: Path,
) -> None:
    each = rented(OLLAMA)[0]
    read = yaml.safe_load(start_files.skypilot_task(each))
    text = ran(read["run"], GGUF_REPOSITORY="owner/name", HERE=str(tmp_path))
    assert "ollama|pull|hf.co/owner/name:Q4_K_M|" in text
    assert "ollama|create|llama-3.1-70b-q4_k_m|-f|Modelfile|" in text
    assert (tmp_path / "Modelfile").read_text().splitlines() == [
        "FROM hf.co/owner/name:Q4_K_M",
        "PARAMETER num_ctx 8192",
        "PARAMETER num_gpu 81",
    ]


def test_the_disk_holds_the_model_and_the_system() -> None:
    item = rented(LLAMA_CPP)[0]
    size = yaml.safe_load(start_files.skypilot_task(item))["resources"]["disk_size"]
    assert size - 100 - 1 < item.model.file_bytes / GIB <= size - 100


def test_it_runs_the_options_that_were_predicted() -> None:
    item = rented(LLAMA_CPP)[0]
    run = yaml.safe_load(start_files.skypilot_task(item))["run"].strip()
    predicted = item.command.partition(".gguf ")[2]
    assert run.endswith(predicted)
    assert '-hf "$GGUF_REPOSITORY:Q4_K_M"' in run


def test_several_gpus_of_several_names_are_a_set_to_choose_from() -> None:
    several = yaml.safe_load(start_files.accelerators("RTX 6000 Ada", 2))
    assert set(several) == {"RTX6000-Ada:2", "RTX6000Ada:2"}


def test_a_part_in_ram_asks_for_that_ram() -> None:
    part = estimate(
        catalog.model("Llama-3.1-70B", "Q4_K_M"),
        machine(MachineSpec(gpu="RTX 4090", ram_gb=64)),
        Workload(),
        LLAMA_CPP,
        PlacementStrategy.CPU_OFFLOAD,
        Constants.fitted(),
    )
    read = yaml.safe_load(start_files.skypilot_task(part))
    wanted = read["resources"]["memory"]
    # 39.6 GiB of weights, 20 and a little less of them on a card of 24 GiB
    assert re.fullmatch(r"\d+\+", wanted)
    assert 39 - 24 + 8 < int(wanted[:-1]) < 39 + 8


def test_a_gpu_without_a_name_there_is_refused() -> None:
    with pytest.raises(Refusal, match="no name on record for RTX 3070"):
        start_files.accelerators("RTX 3070", 1)


@pytest.mark.parametrize(
    "other",
    [runtime for runtime in RUNTIMES if runtime not in SERVERS],
    ids=lambda other: other.name,
)
def test_a_runtime_without_a_file_is_refused_and_says_what_to_do(other: Runtime) -> None:
    elsewhere = replace(rented(LLAMA_CPP)[0], runtime=other)
    with pytest.raises(Refusal, match=f"For {re.escape(other.name)}, rent the GPU and type"):
        start_files.skypilot_task(elsewhere)
