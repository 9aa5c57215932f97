"""Page, links, copied commands and the command line describe one comparison alike."""

import shlex
from dataclasses import fields as attributes

import pytest

from advisor.catalog.inputs import (
    BY_NAME,
    CACHED_SHARE,
    CURRENCY,
    DRAFT,
    LOAD,
    MACHINE,
    MONEY,
    OWNERSHIP,
    PLACEMENT,
    REQUEST,
    TARGET,
)
from advisor.cli import described, many_users, money_options, options
from advisor.cli.currency import currency_of
from advisor.cli.main import parser
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.request.money import MoneyInputs
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.copied_command import command
from advisor.ui.sidebar.field_kinds import Amount, Pick, Size
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.option_words import ANOTHER, ANY, BY_USER, NVLINK, WHOLE
from advisor.units import GIB

CHANGES = [
    {},
    {"link": "PCIe 3 x4", "drive": "Samsung 990 PRO", "cache": 8.0},
    {"ramspeed": 40.0, "drivespeed": 3.5, "users": 4, "kv": "q8_0", "context": "32k"},
    {"layers": 20, "prompt": 4000, "output": 100, "ubatch": 1024, "runtime": "llama.cpp"},
    {"gpus": 2, "bridge": NVLINK},
    {"draft": "mtp"},
    {"prompt": 4000, "cached": 3500},
    {"prompt": 4000, "cachedshare": 0.9},
    {"users": 40, "eachtps": 30.0, "firstin": 1.5, "perhour": 900.0, "spread": 0.25},
    {"draft": "Qwen3-0.6B", "acceptance": 0.6, "drafted": 4},
    {"gpu2": "RTX 4090"},
    {"gpus": 4, "division": WHOLE},
    {"gpus": 4, "division": BY_USER},
    {"backend": "vulkan", "threads": 6},
    {"gpu": "Arc B580", "system": "windows", "build": "b6715"},
    {"gpu": "RTX 3090", "system": "windows", "screen": 1.25},
    {"gpu": "RX 7900 XTX", "driver": "mesa 24.2", "build": "2025-10"},
    {"gpu": "No GPU", "cpu": "2x EPYC 9654", "numa": "distribute"},
    {"gpu": "Apple M2 Ultra 76c", "pool": 128.0, "cpu": None, "ram": None},
    {"replies": 7.0, "hour": 12.5, "rentday": 3.0, "months": 12.0, "kwh": 0.3},
    {"rentgpu": "RTX 4090", "rentusd": 0.4, "days": 5.0, "within": 8.0},
    {"buygpu": "dock", "buyusd": 110.0, "currency": "EUR", "rate": 1.125, "kwh": 0.4},
    {"buygpu": "DGX Spark (GB10)", "buyusd": 3500.0, "currency": "EUR", "resale": 600.0},
    {"apiin": 0.1, "apiout": 0.4, "apispeed": 60.0, "currency": "CHF", "rate": 1.25},
    {"gpu": "No GPU", "cpu": "EPYC 9355", "ram": 384.0, "experts": 5},
]
"""Inputs that differ from the first visit's."""


def choices(**changes: object) -> Choices:
    shown = {
        name: getattr(field, "default", None)
        for name, field in fields().items()
        if name not in ("mygpu", "repack", "bridge", "pool", "rentusd")
    }
    return Choices(**{**shown, "machine": ANOTHER, "gpu2": None, **changes})


def parsed(command: str) -> options.argparse.Namespace:
    words = shlex.split(command)
    assert words[:3] == ["python", "-m", "advisor"]
    return parser().parse_args(words[3:])


@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: "+".join(changes) or "first")
def test_a_copied_command_describes_what_the_page_does(changes: dict[str, object]) -> None:
    chosen = choices(**changes)
    args = parsed(command(chosen))
    assert described.machine_of(args) == machine(chosen.machine_inputs())
    assert described.work_of(args) == chosen.workload()
    assert described.settings_of(args) == chosen.settings()
    assert many_users.question_of(args) == chosen.load()
    assert money_options.money_of(args) == chosen.money()
    assert currency_of(args) == chosen.paying()
    here = described.machine_of(args)
    assert money_options.ownership_of(args, here) == chosen.ownership(here)
    assert args.model == chosen.model
    assert args.quant == chosen.form
    assert args.runtime == (None if chosen.runtime == ANY else chosen.runtime)


def test_values_typed_over_this_machine_are_in_the_command() -> None:
    chosen = choices(machine="This machine", gpu=None, cpu=None, ram=None, drive=None, ramspeed=30)
    args = parsed(command(chosen))
    assert args.machine == "this"
    assert args.ram_gbs == 30


def test_a_machine_by_name_is_named_in_the_command() -> None:
    chosen = choices(
        machine="By name", owned="Mac Studio M3 Ultra 512GB", gpu=None, cpu=None, ram=None,
        drive=None,
    )  # fmt: skip
    args = parsed(command(chosen))
    assert args.machine == "Mac Studio M3 Ultra 512GB"
    assert described.machine_of(args).host.memory.value == 512 * GIB


@pytest.mark.parametrize(
    ("inputs", "noun"), [(MACHINE, MachineSpec), (REQUEST, Workload), (MONEY, MoneyInputs)]
)
def test_every_input_is_an_attribute_of_its_noun(inputs, noun) -> None:
    assert {entry.name for entry in inputs} <= {attribute.name for attribute in attributes(noun)}


def test_names_and_options_are_distinguished() -> None:
    priced = (*MONEY, CURRENCY, *OWNERSHIP, *TARGET)
    every = (*MACHINE, *REQUEST, CACHED_SHARE, *DRAFT, *LOAD, *PLACEMENT, *priced)
    assert len(BY_NAME) == len(every)
    assert len({entry.option for entry in every}) == len(every)


def test_the_form_has_the_limits_of_the_registry() -> None:
    named = {"ram": "ram_gb", "users": "users", "prompt": "prompt", "kwh": "usd_per_kwh"}
    for key, name in named.items():
        field = fields()[key]
        assert isinstance(field, Amount | Size)
        assert (field.low, field.high) == BY_NAME[name].limits
    assert all(isinstance(field, Amount | Pick | Size) for field in fields().values())
