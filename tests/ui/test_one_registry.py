"""Page, links, copied commands and the command line describe one comparison alike."""

import shlex
from urllib.parse import parse_qsl, urlsplit

import pytest

from advisor.catalog.inputs import BY_NAME
from advisor.cli.main import parser
from advisor.request.command_line import command, from_args
from advisor.request.request import Request
from advisor.request.texts import from_address, from_texts, to_texts
from advisor.ui.sidebar.choices import Choices
from advisor.ui.sidebar.field_kinds import Amount, Pick, Size
from advisor.ui.sidebar.fields import fields
from advisor.ui.sidebar.option_words import ANOTHER, BY_USER, NVLINK, WHOLE
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


def read_back(chosen: Choices) -> Request:
    """Request of the command that the page copies."""
    words = shlex.split(command(chosen.copied))
    assert words[:4] == ["python", "-m", "advisor", "advise"]
    return from_args(parser("advise").parse_args(words[3:]))


@pytest.mark.parametrize("changes", CHANGES, ids=lambda changes: "+".join(changes) or "first")
def test_a_copied_command_and_the_address_ask_what_the_page_does(
    changes: dict[str, object],
) -> None:
    chosen = choices(**changes)
    assert read_back(chosen) == chosen.request
    assert from_texts(to_texts(chosen.request)) == chosen.request
    address = dict(parse_qsl(urlsplit(chosen.permalink("")).query))
    assert from_address(address).request.nouns().machine == chosen.request.nouns().machine
    nouns = chosen.request.nouns()
    assert nouns.work.prompt == chosen.prompt
    assert nouns.work.users == chosen.users
    assert nouns.settings.gpu_layers == chosen.layers
    assert nouns.load.user_tps == chosen.eachtps
    assert nouns.money.purchase_months == chosen.months
    assert chosen.request.paying == chosen.paying


def test_values_typed_over_this_machine_are_in_the_command() -> None:
    chosen = choices(machine="This machine", gpu=None, cpu=None, ram=None, drive=None, ramspeed=30)
    read = read_back(chosen)
    assert (read.machine, read.ram_gbs) == ("this", 30)


def test_a_machine_by_name_is_named_in_the_command() -> None:
    chosen = choices(
        machine="By name", owned="Mac Studio M3 Ultra 512GB", gpu=None, cpu=None, ram=None,
        drive=None,
    )  # fmt: skip
    nouns = read_back(chosen).nouns()
    assert nouns.request.machine == "Mac Studio M3 Ultra 512GB"
    assert nouns.machine.host.memory.value == 512 * GIB


def test_the_form_has_the_limits_of_the_registry() -> None:
    named = {"ram": "ram_gb", "users": "users", "prompt": "prompt", "kwh": "usd_per_kwh"}
    for key, name in named.items():
        field = fields()[key]
        assert isinstance(field, Amount | Size)
        assert (field.low, field.high) == BY_NAME[name].limits
    assert all(isinstance(field, Amount | Pick | Size) for field in fields().values())
