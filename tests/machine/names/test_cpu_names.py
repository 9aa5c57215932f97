"""Processors by the names that systems and people use."""

import random
import re

import pytest
from hardware_names import sample

from advisor.cli.names import machine_answer
from advisor.errors import UnknownName
from advisor.machine.catalog import GPUS, HOSTS, cpu_generations, cpu_models
from advisor.machine.identify import Identified

CASES = sample("processors.csv")
FOUND = sample("processors_found.csv")


def meaning(typed: str) -> str:
    """Row that a name is read as; empty where it is refused."""
    try:
        return HOSTS.named(typed).row.name
    except UnknownName:
        return ""


def test_a_name_means_the_processor_that_a_person_means_or_is_refused() -> None:
    assert {c["typed"]: meaning(c["typed"]) for c in CASES} == {
        c["typed"]: c["name"] for c in CASES
    }


def test_a_processor_has_the_memory_and_cores_of_its_datasheet() -> None:
    for case in CASES:
        stated = {key: float(case[key]) for key in ("cores", "channels", "mts") if case[key]}
        if stated:
            row = HOSTS.named(case["typed"]).row
            own = {"cores": row.cores, "channels": row.memory_channels, "mts": row.memory_mts}
            assert {key: own[key] for key in stated} == stated, case["typed"]


def test_names_that_other_people_wrote_have_their_figures() -> None:
    """Read on 2026-11-22 and 23, answers written before the first run."""
    for case in FOUND:
        if not case["name"]:
            with pytest.raises(UnknownName):
                Identified.of(case["typed"])
            continue
        stated = {key: case[key] for key in ("cores", "channels", "mts") if case[key]}
        answer = machine_answer(Identified.of(case["typed"]), case["typed"])
        assert answer["cpu"] == case["name"], case["typed"]
        assert {key: float(answer[key]) for key in stated} == {
            key: float(value) for key, value in stated.items()
        }, case["typed"]


def test_every_row_is_found_by_its_own_name() -> None:
    for row in HOSTS.rows().values():
        assert HOSTS.named(row.name).row == row
        assert HOSTS.named(row.name.upper()).row == row


def test_every_listed_model_belongs_to_a_generation_and_resolves() -> None:
    names = {model.name for model in cpu_models().values()}
    for model in cpu_models().values():
        if model.name.replace("Xeon ", "Xeon Gold ", 1) in names - {model.name}:
            continue  # the number of 2006 is printed as "Xeon CPU 5120"
        row = HOSTS.named(model.name).row
        assert row.name == model.name
        assert row.cores == model.cores


def test_a_generation_agrees_with_the_rows_of_its_models() -> None:
    """Rows of data/hardware/hosts.csv were read from their makers' pages one by one."""
    for row in HOSTS.rows().values():
        generation = next(
            (g for g in cpu_generations() if re.fullmatch(g.pattern, row.name.casefold())), None
        )
        if generation is None or row.memory_mts is None:
            continue
        assert row.memory_channels == generation.memory_channels, row.name
        assert row.memory_mts == pytest.approx(generation.memory_mts, rel=0.4), row.name
        assert row.vendor == generation.vendor


@pytest.mark.parametrize(
    "typed", ["2x EPYC 7402", "dual EPYC 7402", "EPYC 7402 x2", "2P EPYC 7402"]
)
def test_two_sockets_double_cores_channels_and_rate(typed: str) -> None:
    row = HOSTS.named("EPYC 7402").row
    two = HOSTS.named(typed).row
    assert two.name == "2x EPYC 7402"
    assert two.sockets == 2
    assert two.cores == 2 * row.cores == 48
    assert two.bandwidth_gbs == 2 * 204.8  # eight channels of DDR4-3200 each


def test_assumptions_of_a_rule_are_reported() -> None:
    unlisted = HOSTS.named("EPYC 9385")
    assert "Turin" in unlisted.notes[0]
    assert any("assumed" in note for note in unlisted.notes)
    assert unlisted.row.bandwidth_gbs == 614.4  # twelve channels of DDR5-6400


def test_cores_in_the_name_count_for_a_model_that_is_not_listed() -> None:
    assert HOSTS.named("EPYC 9385 36c").row.cores == 36


def test_performance_and_efficiency_cores_as_a_system_counts_them() -> None:
    row = HOSTS.named("Apple M4 Pro 8P+4E").row
    assert (row.cores, row.performance_cores) == (12, 8)


@pytest.mark.parametrize(
    ("typed", "gpu"),
    [
        ("AMD Ryzen AI Max+ 395 w/ Radeon 8060S", "Radeon 8060S (Ryzen AI Max+ 395)"),
        ("Core Ultra 7 258V", "Arc 140V"),
        ("Ryzen 7 7840U", "Radeon 780M"),
    ],
)
def test_a_chip_brings_its_graphics(typed: str, gpu: str) -> None:
    assert HOSTS.named(typed).gpu == gpu


def test_graphics_of_generations_are_rows_of_the_catalogue() -> None:
    assert {row.gpu for row in cpu_generations()} - {""} <= set(GPUS.rows())


def test_a_model_has_the_memory_of_its_own_page_where_that_of_its_generation_differs() -> None:
    """https://ark.intel.com: Xeon E5-2620 v4 up to DDR4-2133, Xeon Gold 6330 up to DDR4-2933."""
    slow = HOSTS.named("Xeon E5-2620 v4")
    usual = HOSTS.named("Xeon E5-2699 v4")
    assert (slow.row.memory_mts, usual.row.memory_mts) == (2133, 2400)
    assert slow.row.bandwidth_gbs == pytest.approx(4 * 8 * 2.133)
    assert "maker" in slow.notes[0]
    assert HOSTS.named("Xeon Gold 6330").row.memory_mts == 2933


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("EPYC 7742 x16", "No board has 16 sockets"),
        ("20x EPYC 7742", "No board has 20 sockets"),
        ("3x Ryzen 9 7950X", "up to one socket"),
        ("8x 3090 + EPYC 7742 x16", "No board has 16 sockets"),
        ("Neoverse-N1", "Ampere Altra"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Name the rented machine"),
        ("AMD64 Family 25 Model 33 Stepping 2, AuthenticAMD", "Task Manager"),
        ("Ryzen 7", "Type the model's number"),
        ("i7-9900K", "There is a Core i9-9900K"),
        ("Threadripper PRO 5955WX or 5975WX", "take one of them"),
        ("Intel Pentium M 1500MHz", "before 2007"),
    ],
)
def test_a_name_of_no_single_processor_is_refused_with_the_reason(typed: str, reason: str) -> None:
    with pytest.raises(UnknownName, match=reason):
        Identified.of(typed)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Intel® Core™ i7-8550U CPU @ 1.80GHz \N{MULTIPLICATION SIGN} 8", "Core i7-8550U"),
        ("AMD® Ryzen 7 5800x 8-core processor \N{MULTIPLICATION SIGN} 16", "Ryzen 7 5800X"),
        ("EPYC 7402P \N{MULTIPLICATION SIGN} 48", "EPYC 7402P"),
    ],
)
def test_a_count_of_threads_as_desktops_show_it_is_not_one_of_sockets(
    typed: str, name: str
) -> None:
    row = HOSTS.named(typed).row
    assert (row.name, row.sockets) == (name, 1)


def test_chinese_words_of_sockets_and_lines() -> None:
    assert HOSTS.named("双路xeon 6330").row.name == "2x Xeon Gold 6330"
    assert HOSTS.named("英特尔® 至强® Gold 5512U 处理器").row.name == "Xeon Gold 5512U"


@pytest.mark.parametrize(
    ("typed", "name", "note"),
    [
        ("Ryzen 9 9800X3D", "Ryzen 7 9800X3D", "no Ryzen 9 of that number"),
        ("Core Ultra 5 285K", "Core Ultra 9 285K", "no Ultra 5 of that number"),
        ("EPYC 9654P", "EPYC 9654", "9654P has the cores and the memory of EPYC 9654"),
        ("i5-12400F", "Core i5-12400", "12400F has the cores"),
        ("2x EPYC 7443P", "2x EPYC 7443", "a single socket only"),
        ("EPYC 9334QS", "EPYC 9334", "engineering sample"),
        ("EPYC 7261+", "EPYC 7261", "no 7261+"),
        ("Xeon Gold 8256", "Xeon Platinum 8256", "no Xeon Gold of that number"),
        ("Xeon Gold 6248 (48 cores, 24 GB)", "Xeon Gold 6248", "The name says 48 cores"),
    ],
)
def test_what_a_name_says_otherwise_than_its_processor_is_noted(
    typed: str, name: str, note: str
) -> None:
    taken = HOSTS.named(typed)
    assert taken.row.name == name
    assert any(note in text for text in taken.notes)


@pytest.mark.parametrize("typed", ["Ampere eMAG 8180", "Opteron 9654", "Phytium 7950X"])
def test_a_number_of_another_brand_is_refused(typed: str) -> None:
    with pytest.raises(UnknownName, match="The number is that of"):
        HOSTS.named(typed)


def test_a_number_without_its_metal_is_a_xeon_scalable_unless_systems_print_it() -> None:
    assert HOSTS.named("xeon 5120").row.name == "Xeon Gold 5120"
    assert HOSTS.named("Intel(R) Xeon(R) CPU 5120 @ 1.86GHz").row.name == "Xeon 5120"


@pytest.mark.parametrize(
    ("typed", "cores", "channels"),
    [("48 vCPU (AMD EPYC 7R13)", 24, 4), ("32 cores of an EPYC 7763", 32, 4)],
)
def test_a_part_of_a_processor_has_its_share_of_the_channels(
    typed: str, cores: int, channels: int
) -> None:
    """24 of 48 and 32 of 64 cores: half of eight channels."""
    part = Identified.of(typed)
    assert (part.kind, part.cores, part.channels) == ("machine", cores, channels)


MODEL_NUMBER = re.compile(r"\d[0-9a-z]*")
FIRST_OF_ALL = re.compile(r" v[01]\b| x\d\b|\bcore \d (?=quad|duo)")
"""Words that say no more than the number: the first version, the cores of a Phenom, Core 2."""


def test_a_changed_digit_is_never_another_model_without_a_word() -> None:
    """One digit of 150 listed names, each replaced by another."""
    chance = random.Random(5)
    for model in chance.sample(tuple(cpu_models().values()), 150):
        place = chance.choice([i for i, letter in enumerate(model.name) if letter.isdigit()])
        other = chance.choice([digit for digit in "0123456789" if digit != model.name[place]])
        typed = f"{model.name[:place]}{other}{model.name[place + 1 :]}"
        try:
            taken = HOSTS.named(typed)
        except UnknownName:
            continue
        numbers = set(MODEL_NUMBER.findall(FIRST_OF_ALL.sub("", typed.casefold())))
        same = numbers <= set(MODEL_NUMBER.findall(taken.row.name.casefold()))
        assert same or any("is taken" in note for note in taken.notes), typed
