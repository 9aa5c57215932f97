"""Machines by the names of what people own and rent."""

import pytest
from hardware_names import sample

from advisor.errors import UnknownName
from advisor.machine import from_spec
from advisor.machine.catalog import machine_named, machine_rows

CASES = sample("machines.csv")


@pytest.mark.parametrize("case", [case for case in CASES if case["gpu"]], ids=lambda c: c["typed"])
def test_a_name_means_the_parts_that_a_person_means(case: dict[str, str]) -> None:
    spec = machine_named(case["typed"]).spec
    assert (spec.gpu, spec.gpu_count * spec.machines) == (case["gpu"], int(case["count"]))
    assert (spec.cpu or "") == case["cpu"]
    assert spec.ram_gb == (float(case["ram_gib"]) if case["ram_gib"] else None)


@pytest.mark.parametrize(
    "case", [case for case in CASES if not case["gpu"]], ids=lambda c: c["typed"]
)
def test_what_holds_an_unknown_part_is_refused(case: dict[str, str]) -> None:
    with pytest.raises(UnknownName):
        machine_named(case["typed"])


@pytest.mark.parametrize("row", machine_rows().values(), ids=lambda row: row.name)
def test_every_preset_is_found_by_its_names_and_can_be_built(row) -> None:
    for spelling in (row.name, *filter(None, row.aliases.split("; "))):
        assert machine_named(spelling).name == row.name
    machine = from_spec.machine(machine_named(row.name).spec)
    assert len(machine.gpus) == row.gpu_count


def test_memory_that_a_machine_is_not_sold_with_is_taken_and_said() -> None:
    machine = machine_named("Mac Studio M3 Ultra 384GB")
    assert machine.spec.ram_gb == 384
    assert "96, 256 or 512" in " ".join(machine.notes)


def test_memory_that_the_page_does_not_say_is_asked_for() -> None:
    machine = machine_named("RunPod A100 PCIe 80GB")
    assert machine.spec.ram_gb is None
    assert "type it" in machine.notes[-1]
