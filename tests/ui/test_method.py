"""How we know, at how it works: routes with the machine's speeds, formulas, constants, limits."""

import re
from functools import cache

import pytest
from markupsafe import escape
from streamlit.testing.v1 import AppTest
from ui_app import ROOT, app, page_text

from advisor.catalog.constants import Constants
from advisor.cost_model.schedule import Route
from advisor.machine.backends import SoftwareEffect
from advisor.ui.accuracy.method import RANGES, TEXTS, sections


def opened(**parameters: str) -> AppTest:
    return app("method", **parameters)


@cache
def desktop() -> str:
    return page_text(
        opened(machine="Another machine", gpu="RTX 3090", ram="64", ramspeed="70", drivespeed="5")
    )


@cache
def workshop() -> str:
    return page_text(opened(knowledge="Workshop", bench="Constants"))


def equations() -> list[str]:
    return [part for _, parts in sections() for part in parts if part.startswith("$$")]


def routes_of(text: str) -> list[str]:
    return re.split(r"<div class='oa-route'>", text)[1:]


def test_each_route_is_drawn_with_the_speeds_of_the_machine() -> None:
    # RTX 3090: 936 GB/s (NVIDIA's datasheet); RAM and drive as typed.
    resident, in_place, streamed, paged, staged = (
        re.findall(r"([\d.]+) GB/s</abbr>", route) for route in routes_of(desktop())
    )
    assert resident == ["936"]
    assert in_place == ["70"]
    assert streamed[1:] == ["936"]
    assert paged == ["5.0", "70"]
    assert (staged[0], staged[1], staged[2]) == ("5.0", streamed[0], "936")


def test_every_route_of_the_cost_model_has_words() -> None:
    assert set(TEXTS) == set(Route)
    assert all(len(text.steps.split("; ")) % 2 for text in TEXTS.values())  # places, parts between


def test_runtimes_of_a_route_are_those_that_take_it() -> None:
    _, in_place, streamed, paged, staged = routes_of(desktop())
    assert "llama.cpp" in in_place
    assert "vLLM" not in in_place
    assert "vLLM" in streamed
    assert "llama.cpp" in paged
    assert "DeepSpeed" in staged


def test_machine_without_gpu_has_no_speed_of_one() -> None:
    resident, in_place, *_ = routes_of(page_text(opened(machine="Another machine", gpu="No GPU")))
    assert "no GPU memory here" in resident
    assert "No runtime takes it" in resident
    assert "no GPU memory here" not in in_place


def test_unified_memory_has_no_link() -> None:
    page = opened(machine="By name", owned="Mac Studio M3 Ultra 512GB")
    _, _, streamed, _, _ = routes_of(page_text(page))
    assert "no link here" in streamed


def test_formulas_are_set_with_the_file_that_computes_them() -> None:
    page = opened()
    assert [shown.value.strip("$\n ") for shown in page.latex] == [
        part.strip("$ ") for part in equations()
    ]
    modules = re.findall(r"title='Computed in (.*?)[.]'", page_text(page))
    assert len(modules) == len(sections()) - 1
    assert all((ROOT / module).exists() for module in modules)


def test_every_constant_but_the_widths_of_ranges_has_a_row() -> None:
    constants = [name for name in Constants.fitted().rows if not name.startswith(RANGES)]
    table = workshop().split("aria-label='Constants'")[1].split("</table>")[0]
    assert table.count("<tr>") == len(constants) + 1


def test_limits_are_listed() -> None:
    title, limits = sections()[-1]
    assert title == "Limits"
    assert desktop().count("<li class=''>") == len(limits) > 3


@pytest.mark.parametrize("part", [{"gpu": "Toaster 9000"}, {"model": "no-such-model-7x"}])
def test_unknown_name_gets_a_message_and_the_formulas_stay(part: dict[str, str]) -> None:
    page = opened(machine="Another machine", **part)
    text = page_text(page)
    assert "oa-error" in text
    assert not routes_of(text)
    assert len(page.latex) == len(equations()) > 7


def test_software_that_can_be_stated_has_its_comparisons() -> None:
    text = workshop()
    assert "graphics driver Mesa before 25.0" in text
    for row in SoftwareEffect.rows():
        assert escape(row.note) in text
        assert row.source in text
