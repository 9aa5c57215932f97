"""data/diagnosis/causes.csv: a row for each cause, each with a test, a remedy and a public
source."""

import re

import pytest
from provenance import is_past, is_public

from advisor.advice.diagnosis.causes import FUNCTIONS
from advisor.advice.diagnosis.diagnose import cause_rows, degree_rows, row_for
from advisor.advice.diagnosis.measured_run import CONDITIONS
from advisor.machine.backends import OperatingSystem
from advisor.machine.catalog import GPUS

ROWS = cause_rows()
VENDORS = {row.vendor for row in GPUS.rows().values()}


def test_every_cause_that_is_worked_out_has_a_row_and_every_row_is_worked_out() -> None:
    tabled = {row.cause for row in degree_rows()}
    assert {row.key for row in ROWS} == tabled | set(FUNCTIONS)
    assert not tabled & set(FUNCTIONS)


def test_every_condition_is_known_and_the_same_in_all_rows_of_a_cause() -> None:
    needs = {row.key: row.needs for row in ROWS}
    named = {
        name.strip()
        for text in (*needs.values(), *(row.needs for row in degree_rows()))
        for name in text.split(";")
    }
    assert named == {*CONDITIONS, ""}
    assert all(row.needs == needs[row.key] for row in ROWS)


def test_every_row_states_test_remedy_and_a_public_source(subtests: pytest.Subtests) -> None:
    for row in ROWS:
        with subtests.test(f"{row.key} {row.vendor}".strip()):
            assert is_public(row.source)
            assert is_past(row.retrieved)
            assert not row.cause.endswith(".")
            for text in (row.test, row.fix):
                assert text[-1] in ".)"
                assert text.count("`") % 2 == 0
            assert "`" not in row.command


def test_every_row_is_plausible_to_a_degree_for_a_machine_that_there_is() -> None:
    doubted = [
        (row.key, row.prior, row.vendor, row.system)
        for row in ROWS
        if not 0 < row.prior <= 1
        or row.vendor not in VENDORS | {""}
        or row.system not in {*(system.label for system in OperatingSystem), ""}
    ]
    assert not doubted


def test_no_two_rows_are_for_the_same_machine() -> None:
    items = [(row.key, row.vendor, row.system) for row in ROWS]
    assert len(items) == len(set(items))


def test_commands_name_fields_of_nvidia_smi_that_drivers_still_know() -> None:
    # nvidia-smi --help-query-gpu of driver 580: gen.current and clocks_throttle_reasons are old.
    known = {
        "pcie.link.gen.gpucurrent", "pcie.link.gen.max", "pcie.link.width.current",
        "pcie.link.width.max", "pstate", "power.draw", "power.limit", "temperature.gpu",
        "clocks.mem", "clocks.max.mem", "clocks_event_reasons.sw_power_cap",
        "clocks_event_reasons.sw_thermal_slowdown", "clocks_event_reasons.hw_slowdown",
        "clocks.sm", "clocks.max.sm",
    }  # fmt: skip
    named = {
        (row.key, name)
        for row in ROWS
        for group in re.findall(r"--query-gpu=([\w.,]+)", row.command)
        for name in group.split(",")
    }
    assert named
    assert not {(key, name) for key, name in named if name not in known}


def test_commands_use_options_of_llama_cpp_of_today() -> None:
    # tools/server/README.md at 00dc8057 and tools/llama-bench/README.md, read 2026-11-21.
    options = {
        "llama-server": {"-m", "-lv", "--list-devices", "--version"},
        "llama-bench": {"-m", "-p", "-n", "-d", "-t", "-fa"},
    }
    lines = [(row.key, *row.command.split()) for row in ROWS if row.command]
    used = [
        (key, word)
        for key, program, *words in lines
        for word in words
        if word.startswith("-") and word not in options.get(program, words)
    ]
    assert {program for _, program, *_ in lines} >= set(options)
    assert not used


@pytest.mark.parametrize(
    ("vendor", "system", "text"),
    [
        ("NVIDIA", "Windows", "NVIDIA"),
        ("AMD", "Windows", ""),
        ("NVIDIA", "", "NVIDIA"),
        ("NVIDIA", "Linux", None),
        ("NVIDIA", "macOS", None),
    ],
)
def test_vram_spills_on_windows_alone_unless_nobody_knows(
    vendor: str, system: str, text: str | None
) -> None:
    row = row_for("spilled", vendor, system)
    assert (row and row.vendor) == text


def test_a_row_for_the_vendor_wins_over_one_for_all() -> None:
    nvidia = row_for("narrow_link", "NVIDIA", "")
    intel = row_for("narrow_link", "Intel", "")
    assert nvidia is not None
    assert intel is not None
    assert nvidia.command.startswith("nvidia-smi")
    assert intel.command == "sudo lspci -vv"
