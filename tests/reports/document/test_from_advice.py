"""From an answer to a report: nothing lost, nothing that can hurt a reader."""

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from saved_reports import RESULT, csv, html, markdown, saved

from advisor.advice.advise import advise
from advisor.advice.advise import answer as answer_to
from advisor.advice.table.option import split
from advisor.advice.words.verdict import Advice
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.machine.from_spec import machine
from advisor.machine.spec import MachineSpec
from advisor.model import catalog
from advisor.reports.document import PLACEMENTS, ReportDocument, from_json, to_json
from advisor.reports.from_advice import answer_document, document, memory_use
from advisor.reports.store.saved import read_report, report_json
from advisor.reports.store.store import ReportStore, open_store
from advisor.request.money import MoneyInputs
from advisor.request.request import Request
from advisor.runtimes import KTRANSFORMERS, VLLM
from advisor.runtimes.compare import decode_tps

HOSTILE = '<script>alert("1")</script> =cmd|"/C calc"!A0 | `rm` \u202e'
SITUATIONS = {
    "fits": ("Llama-3.1-8B", {"gpu": "RTX 4090", "ram_gb": 64}),
    "offloads": ("Llama-3.1-70B", {"gpu": "RTX 4090", "ram_gb": 64}),
    "has no GPU": ("Llama-3.1-8B", {"ram_gb": 32}),
    "is unified": ("gpt-oss-120b", {"gpu": "GB10", "ram_gb": 128}),
    "runs nothing": ("Llama-3.1-70B", {"ram_gb": 2}),
}
IN_EACH = pytest.mark.parametrize("situation", SITUATIONS)


@cache
def answer(situation: str, name: str = "") -> tuple[Advice, ReportDocument]:
    model, text = SITUATIONS[situation]
    chosen = catalog.model(model, "Q4_K_M")
    if name:
        chosen = replace(chosen, name=name)
    here = machine(MachineSpec(**text))
    work = Workload()
    money = MoneyInputs()
    advice = advise(chosen, here, work, money=money)
    report = document(advice, here, {"model": model}, command="python -m advisor")
    return advice, report


def test_what_the_verdict_depends_on_is_kept_the_widest_first() -> None:
    advice, report = answer("offloads")
    assert report.turns_on in {option.name for option in advice.options}
    swings = [abs(row.gain_high_usd - row.gain_low_usd) for row in report.sensitivity]
    assert swings == sorted(swings, reverse=True)
    assert len(swings) >= 3
    _, nothing = answer("runs nothing")
    assert not nothing.sensitivity


def test_what_changes_the_verdict_is_said_of_the_option_that_it_depends_on() -> None:
    _, report = answer("offloads")
    told, _, of_it = report.what_changes.partition(" pays. ")
    named = f"If it must be Llama-3.1-70B: {report.turns_on} for "
    assert re.fullmatch(rf"{re.escape(named)}\$[\d,]+", told)
    assert of_it.startswith("It would not if what you have gave more than ")
    assert " answers a day" in of_it


@IN_EACH
def test_it_survives_json(situation: str) -> None:
    _, report = answer(situation)
    assert from_json(json.loads(json.dumps(to_json(report), allow_nan=False))) == report


@IN_EACH
def test_a_whole_report_is_exported_and_imported_without_loss(
    situation: str, file_store: ReportStore, tmp_path: Path
) -> None:
    _, report = answer(situation)
    caveats = ("X-70B-GGUF is taken as X-70B.",)
    kept = file_store.save(
        replace(report, caveats=caveats),
        "n",
        "two\nlines",
        tags=["a", "b"],
        author="Kim",
        results=[RESULT],
    )
    exported = report_json(kept)
    file = read_report(json.loads(json.dumps(exported)))
    empty = open_store(f"sqlite:///{tmp_path / 'empty.sqlite'}")
    stores = [(empty, 1), (file_store, kept.id)]  # where it is already, it stays one report
    for store, number in stores:
        again = store.save(
            file.document,
            file.name,
            file.notes,
            tags=file.tags,
            author=file.author,
            results=file.results,
        )
        assert again.id == number
        second = report_json(store.load(again.id))
        assert {**second, "saved": None} == {**exported, "saved": None}
    empty.close()
    assert caveats[0] in html(kept)
    assert caveats[0] in markdown(kept)


@IN_EACH
def test_it_states_the_same_as_the_advice(situation: str) -> None:
    advice, report = answer(situation)
    assert (report.title, report.verdict) == (advice.title, advice.verdict)
    assert len(report.placements) == len(advice.estimates)
    assert len(report.options) == len(split(advice.options, advice.named)[0])
    assert report.inputs == {"model": SITUATIONS[situation][0]}
    for card, estimate in zip(report.placements, advice.estimates, strict=True):
        assert (card.runtime, card.placement, card.fits) == (
            estimate.runtime.name,
            estimate.strategy.value,
            bool(estimate.fits),
        )
        assert card.decode_tps == (decode_tps(estimate) if estimate.fits else None)
        assert card.fits or card.missing_bytes or card.explanation


@IN_EACH
def test_parts_of_a_token_add_up_to_its_time(situation: str) -> None:
    advice, report = answer(situation)
    for strategy in PlacementStrategy:
        shown = advice.card(strategy)
        if shown is not None and shown.step is not None and shown.fits:
            parts = [part.seconds for part in report.token_time if part.placement == strategy.value]
            assert sum(parts) == pytest.approx(float(shown.step.total))


@IN_EACH
def test_memory_adds_up_to_the_parts_held(situation: str) -> None:
    advice, report = answer(situation)
    for strategy in PlacementStrategy:
        shown = advice.card(strategy)
        if shown is None:
            continue
        wanted: dict[str, float] = {}
        for tier, held in shown.held.items():
            shared = shown.machine.unified and tier.value == "VRAM"  # one tier with the RAM
            name = "RAM" if shared else tier.value
            wanted[name] = wanted.get(name, 0.0) + float(sum(held))
        for name, size in wanted.items():
            parts = [
                use.bytes
                for use in report.memory
                if (use.placement, use.tier) == (strategy.value, name)
            ]
            assert sum(parts) == pytest.approx(size)


def test_the_card_of_a_placement_is_the_fastest_that_fits_else_the_first_possible() -> None:
    advice, _ = answer("offloads")
    ram, vram = (
        advice.card(CPU_OFFLOAD)
        for CPU_OFFLOAD in (PlacementStrategy.CPU_OFFLOAD, PlacementStrategy.GPU_RESIDENT)
    )
    assert ram is advice.best
    assert vram is not None
    assert not vram.fits
    assert vram.runtime.name == "llama.cpp"


def test_every_input_is_listed_once_with_its_origin() -> None:
    _, report = answer("offloads")
    assert len(set(report.assumptions)) == len(report.assumptions) > 10
    assert all(assumption.source and assumption.kind for assumption in report.assumptions)


def test_without_a_gpu_there_is_no_layer_chart() -> None:
    assert answer("has no GPU")[1].layer_sweep is None
    assert answer("offloads")[1].layer_sweep is not None


@pytest.mark.parametrize("situation", ["offloads", "runs nothing"])
def test_a_hostile_model_name_is_only_text(situation: str) -> None:
    _, report = answer(situation, HOSTILE)
    assert HOSTILE in report.title
    assert from_json(json.loads(json.dumps(to_json(report)))) == report
    assert "<script>alert" not in html(saved(report))
    prose = markdown(saved(report)).split("```")[::2]  # between fences a command is code
    assert not any("<script>alert" in text for text in prose)
    assert not any(
        line.startswith(("=", "+", "-", "@")) for line in csv(saved(report)).splitlines()
    )


@pytest.mark.parametrize("runtime", [VLLM, KTRANSFORMERS], ids=lambda runtime: runtime.key)
def test_a_report_is_of_the_chosen_runtime(runtime: Runtime) -> None:
    """Its cards, charts and upgrades; a dense model leaves KTransformers with none of them."""
    model = catalog.model("Llama-3.1-70B", "Q4_K_M")
    here = machine(MachineSpec(gpu="RTX 3090", ram_gb=64))
    advice = advise(model, here, Workload(), chosen=runtime)
    made = document(advice, here, {})
    assert made.runtime == runtime.name
    assert made.layer_sweep is None, "it is not told a number of layers"
    assert bool(made.memory) == bool(made.token_time) == (runtime is VLLM)
    assert len({card.runtime for card in made.placements}) > 5, "the others stay to compare with"
    assert from_json(json.loads(json.dumps(to_json(made)))) == made
    assert runtime.name in html(saved(made))


def test_a_placement_has_the_same_words_everywhere() -> None:
    assert {strategy.value: strategy.heading for strategy in PlacementStrategy} == PLACEMENTS


@IN_EACH
def test_one_card_of_each_placement_is_marked(situation: str) -> None:
    advice, report = answer(situation)
    marked = [(card.runtime, card.placement) for card in report.placements if card.shown]
    shown = [card for strategy in PlacementStrategy if (card := advice.card(strategy)) is not None]
    assert sorted(marked) == sorted((card.runtime.name, card.strategy.value) for card in shown)


def test_the_request_is_in_words() -> None:
    _, report = answer("offloads")
    assert (report.model, report.gpu) == ("Llama-3.1-70B", "RTX 4090")
    assert report.request["RAM"] == "64.0 GB"
    assert report.request["context"] == "8,192 tokens"
    assert answer("has no GPU")[1].gpu == "no GPU"


def test_a_session_has_a_section_with_its_speeds_and_what_saves() -> None:
    nouns = Request(model="Qwen3.6-35B-A3B", gpu="RTX 3090", session="swe-bench").nouns()
    answered = answer_to(nouns)
    report = answer_document(answered)
    session = report.session
    task = answered.advice.task
    assert session is not None
    assert task is not None
    assert (session.turns, session.task_s) == (36, task.seconds)
    assert session.task_s_low < session.task_s < session.task_s_high
    assert [row.saves_s for row in session.saves] == [each.seconds for each in task.saves]
    assert [len(line.x) for line in session.speeds] == [36, 36]
    assert from_json(json.loads(json.dumps(to_json(report)))) == report
    text = markdown(saved(report))
    assert "A session of an agent" in text
    assert session.saves[0].change in text
    page = html(saved(report))
    assert "Speed over the turns of the session" in page
    assert "A session of an agent" not in markdown(saved(answer("fits")[1]))


def test_shared_memory_is_one_bar() -> None:
    made = answer_to(Request(model="Qwen3-30B-A3B", machine="Mac mini M4 Pro 64GB").nouns())
    uses = memory_use(made.advice, made.nouns.machine)
    whole = [use for use in uses if use.placement == "gpu-resident"]
    assert {use.tier for use in whole} == {"RAM"}
    assert {use.capacity_bytes for use in whole} == {64 * 2**30}
    weights = sum(use.bytes for use in whole if use.part == "weights")
    # all weights, and the token table that llama.cpp keeps in RAM beside the GPU's head
    assert weights >= made.nouns.model.file_bytes * 0.999
