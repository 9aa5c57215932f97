"""Machines of a search in engines with experts in tiers."""

import functools
from collections.abc import Sequence

import pytest

from advisor.advice.advise import findings_of
from advisor.advice.finder.combinations import Combinations, RunSetup, combinations
from advisor.advice.finder.search import MOST_NAMED, Findings
from advisor.advice.table.option import OptionKind
from advisor.machine.machine import Machine
from advisor.request.request import Request
from advisor.runtimes.compare import compare, decode_tps, usable
from advisor.runtimes.tiered import in_tiers, tiered_runtimes

MODEL = "Qwen3.8-Flash-Next"
TARGET = 25.0  # speed that a single card of 8 GB does not reach [tokens/s]


KEPT: list[Combinations] = []


def reaching(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
    """Common machines that reach the target, searched once for all requests of this file."""
    if not KEPT:
        KEPT.append(combinations(host, wanted))
    return KEPT[0]


@functools.cache
def findings(**more: object) -> Findings:
    words = {"model": MODEL, "min_tps": TARGET, "cards_owned": "nothing"}
    if not KEPT and more:
        findings()
    return findings_of(Request(**words | more).nouns(), reaching)  # type: ignore[arg-type]


def test_machines_in_tiers_reach_the_target_for_less_than_any_that_many_run() -> None:
    result = findings()
    assert 0 < len(result.in_tiers) <= MOST_NAMED
    usual = [
        hit.upfront
        for hit in result.best
        if hit.kind is not OptionKind.RENT and hit.machines == 1 and not result.oddities(hit)
        if hit.upfront is not None
    ]
    names = {engine.name for engine in tiered_runtimes()}
    for hit in result.in_tiers:
        assert hit.decode >= TARGET
        assert hit.speed.runtime in names
        assert hit.upfront is not None
        assert hit.upfront < min(usual)
        assert "set it up" in hit.price.note
        assert hit.monthly is not None


def test_their_speed_is_that_of_a_single_estimate() -> None:
    result = findings()
    hit = result.in_tiers[0]
    question = result.question
    engines = in_tiers(question.model, hit.machine)
    placed = compare(question.model, hit.machine, question.work, runtimes=engines)
    first = {}
    for each in placed:
        if bool(each.fits) and each.runtime.name not in first:
            first[each.runtime.name] = float(decode_tps(each))
    assert usable(placed)
    assert hit.decode == pytest.approx(max(first.values()))


def test_none_where_a_runtime_is_named() -> None:
    assert findings(runtime="llama.cpp").in_tiers == ()


def test_without_a_speed_they_reach_that_of_reading() -> None:
    result = findings(min_tps=0.0, reading_tps=TARGET)
    stated = findings()
    assert result.least_in_tiers == TARGET
    assert [hit.name for hit in result.in_tiers] == [hit.name for hit in stated.in_tiers]


def test_a_budget_holds_for_them_too() -> None:
    dearest = max(hit.upfront or 0.0 for hit in findings().in_tiers)
    cheap = findings(max_usd=dearest - 1)
    assert all((hit.upfront or 0.0) < dearest for hit in cheap.in_tiers)
