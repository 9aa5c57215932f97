"""Every door gives the same verdict: command line, Python, address, report and file."""

import json
from dataclasses import replace

import pytest
from request_values import to_values

import advisor
from advisor.advice.advise import answer
from advisor.cli.main import main
from advisor.machine.machine import Form
from advisor.reports.comparison import changes, recomputed, request_of
from advisor.reports.from_advice import answer_document
from advisor.reports.scenarios import run, scenarios
from advisor.request.command_line import to_argv
from advisor.request.request import Request
from advisor.request.texts import from_texts, to_texts

REQUESTS = (
    Request(
        model="Llama-3.1-70B",
        gpu="RTX 3090",
        ram_gb=64,
        ram_gbs=60.0,
        context=16_384,
        flash_attention=False,
        gpu_layers=20,
        runtime="llama.cpp",
    ),
    Request(
        model="Qwen3-30B-A3B",
        format="Q8_0",
        machine="Mac Studio M3 Ultra 512GB",
        users=2,
        kv_type="q8_0",
        currency="EUR",
        usd_rate=1.25,
        usd_per_kwh=0.4,
        own_price=(("RTX 5090", 2500.0),),
    ),
    Request(
        model="gpt-oss-120b",
        gpu="RTX 4090",
        gpu_count=2,
        cpu="EPYC 9355",
        cards_owned="nothing",
        vram_gb=48.0,
        machines=1,
        pcie_gbs=20.0,
        cpu_moe=10,
        runtime="llama.cpp",
    ),
    Request(
        model="Qwen3-14B",
        gpu="RTX 3090",
        ram_gb=64,
        known=("Qwen3-8B Q4_K_M 90", "gpt-oss-20b 2400 prompt 2048"),
    ),
)


@pytest.mark.parametrize("request_made", REQUESTS, ids=lambda request: request.model)
def test_every_door_gives_the_same_verdict(request_made, capsys):
    here = answer(request_made.nouns())
    assert advisor.advise(request_made).verdict == here.advice.verdict
    assert main(["advise", *to_argv(request_made), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    linked = answer(from_texts(to_texts(request_made)).nouns())
    assert printed["verdict"] == here.advice.verdict
    assert linked.advice.verdict == here.advice.verdict
    speeds = [float(each.decode.value) for each in here.advice.estimates if each.decode]
    assert [float(each.decode.value) for each in linked.advice.estimates if each.decode] == speeds
    told = [each["decode_tps"] for each in printed["estimates"] if each["decode_tps"] is not None]
    assert told == [
        float(each.decode.value) for each in here.advice.estimates if each.decode and each.fits
    ]
    report = answer_document(here)
    assert request_of(report) == request_made
    then_and_now = changes(report, recomputed(request_of(report)))
    assert [change for change in then_and_now if change.kind == "answer"] == []


def test_the_answer_is_of_the_placement_that_is_stated():
    here = Request(model="Llama-3.1-8B", gpu="RTX 3090", ram_gb=64, placement="cpu-offload")
    advice = answer(here.nouns()).advice
    assert advice.best is not None
    assert advice.best.strategy == "cpu-offload"
    fast = answer(replace(here, placement=None).nouns()).advice.best
    assert fast is not None
    assert fast.decode.value > advice.best.decode.value
    assert (
        answer(replace(here, model="Llama-3.1-70B", placement="gpu-resident").nouns()).advice.best
        is None
    )


def test_a_file_answers_as_the_command_line(capsys):
    asking = REQUESTS[0]
    values = to_values(asking)
    data = {"models": [values.pop("model")], "machines": [values]}
    (result,) = run(scenarios(data))
    assert main(["estimate", *to_argv(asking), "--json"]) == 0
    fitting = [each for each in json.loads(capsys.readouterr().out) if each["fits"]]
    assert result.best is not None
    assert result.best.decode is not None
    assert float(result.best.decode.value) == max(each["decode_tps"] for each in fitting)


FORMS = {
    "i5-8250U 16gb laptop": Form.LAPTOP,
    "ThinkPad T480 i5-8350U 16GB": Form.LAPTOP,
    "i5-8250U 16gb": Form.LAPTOP,
    "NUC i7-1165G7 32GB": Form.MINI,
    "MacBook Air M1 16GB": Form.MAC,
    "RTX 4070 laptop 32gb": Form.LAPTOP,
}


def test_words_and_chip_of_a_machine_tell_a_laptop_from_a_mini() -> None:
    wrong = {}
    for name, form in FORMS.items():
        actual = Request(model="Qwen3-8B", machine=name).nouns().ownership.form
        if actual is not form:
            wrong[name] = actual
    assert not wrong
    stated = Request(model="Qwen3-8B", machine="i5-8250U 16gb laptop", form="mini")
    assert stated.nouns().ownership.form is Form.MINI
