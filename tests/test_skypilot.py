"""The task file for a rented GPU: fields that SkyPilot knows, the command that was predicted."""

import re
from dataclasses import replace

import pytest

from advisor import catalog, skypilot
from advisor.advice import Upgrade, advise
from advisor.assemble import MachineInputs, machine
from advisor.errors import Refusal
from advisor.estimate import estimate
from advisor.placement import Strategy
from advisor.runtimes import LLAMA_CPP, VLLM
from advisor.units import GIB
from advisor.workload import Workload

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

FOUND = advise(
    catalog.model("Llama-3.1-70B", "Q4_K_M"),
    machine(MachineInputs(gpu="RTX 3090", ram_gb=64)),
    Workload(),
).upgrades
RENTED = [one for one in FOUND if one.offer is not None and one.offer.kind == "rent"]


def upgrade(**changes: object) -> Upgrade:
    return replace(RENTED[0], **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("one", RENTED, ids=lambda one: one.name)
def test_every_rented_gpu_has_a_file_with_the_fields_that_tasks_have(one: Upgrade) -> None:
    read = yaml.safe_load(skypilot.task(one))
    assert set(read) == {"name", "resources", "envs", "setup", "run"}
    assert set(read["resources"]) <= {"accelerators", "disk_size", "memory"}
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", read["name"])
    asked = read["resources"]["accelerators"]
    for name in [asked] if isinstance(asked, str) else list(asked):
        assert name.endswith(f":{one.count}")


def test_the_disk_holds_the_model_and_the_system() -> None:
    one = upgrade()
    size = yaml.safe_load(skypilot.task(one))["resources"]["disk_size"]
    assert size - 100 - 1 < one.estimate.model.file_bytes / GIB <= size - 100


def test_it_runs_the_options_that_were_predicted() -> None:
    one = upgrade()
    run = yaml.safe_load(skypilot.task(one))["run"].strip()
    predicted = one.estimate.command.partition(".gguf ")[2]
    assert run.endswith(predicted)
    assert '-hf "$GGUF_REPOSITORY:Q4_K_M"' in run


def test_several_gpus_of_several_names_are_a_set_to_choose_from() -> None:
    several = upgrade(gpu="RTX 6000 Ada", count=2)
    read = yaml.safe_load(skypilot.task(several))
    assert set(read["resources"]["accelerators"]) == {"RTX6000-Ada:2", "RTX6000Ada:2"}


def test_a_part_in_ram_asks_for_that_ram() -> None:
    part = estimate(
        catalog.model("Llama-3.1-70B", "Q4_K_M"),
        machine(MachineInputs(gpu="RTX 4090", ram_gb=64)),
        Workload(), LLAMA_CPP, Strategy.CPU_OFFLOAD, catalog.efficiency(),
    )  # fmt: skip
    read = yaml.safe_load(skypilot.task(upgrade(estimate=part, holds_all=False)))
    wanted = read["resources"]["memory"]
    # 39.6 GiB of weights, 20 and a little less of them on a card of 24 GiB
    assert re.fullmatch(r"\d+\+", wanted)
    assert 39 - 24 + 8 < int(wanted[:-1]) < 39 + 8


def test_a_gpu_without_a_name_there_is_refused() -> None:
    with pytest.raises(Refusal, match="no name on record for RTX 3060"):
        skypilot.task(upgrade(gpu="RTX 3060 12GB"))


def test_another_runtime_is_refused() -> None:
    other = replace(RENTED[0].estimate, how=VLLM)
    with pytest.raises(Refusal, match=r"llama\.cpp alone"):
        skypilot.task(upgrade(estimate=other))
