"""Verdicts on claims, and the changes that would make them hold, follow from the figures."""

import json
from dataclasses import replace

import numpy as np
import pytest

from advisor.cli.main import main
from advisor.errors import DataError
from advisor.evidence.claims import Claim, Finding, Verdict, claims
from advisor.evidence.claims.findings import MEASURES, answered, finding, measured, needs, shared
from advisor.evidence.claims.scenarios import (
    CASES,
    CLAIMS,
    Claimed,
    Scenario,
    exact,
    holds,
)
from advisor.units import GB

ROWS = {row.number: row for row in CLAIMS}
LLAMA = {"model": "Llama-3.1-70B", "format": "Q4_K_M", "context": 4096, "runtime": "llama.cpp",
         "placement": "cpu-offload", "gpu": "RTX 4090", "ram_gb": 256,
         "cpu": "Server 8-channel DDR4-3200 (typical)"}  # fmt: skip


def scenario(**fields) -> Scenario:
    return Scenario(inputs={**LLAMA, **fields})


@pytest.fixture(scope="module")
def claims_by_number() -> dict[int, Claim]:
    return {claim.row.number: claim for claim in claims()}


def cases_of(number: int):
    return [case for case in CASES if case.claim == number]


def finding_of(holding: bool, *conditions: str, unit: str = "tokens/s") -> Finding:
    range_claimed = {"low": 2, "high": None, "unit": unit, "figure": ""}
    case = replace(CASES[0], condition="; ".join(conditions), beside=False, **range_claimed)
    figure = exact(2.0 if holding else 1.0)
    return Finding(case=case, scenario=Scenario(inputs={}), figure=figure)


def beside_it(finding: Finding) -> Finding:
    return replace(finding, case=replace(finding.case, beside=True))


def claim_of(*findings: Finding) -> Claim:
    return Claim(row=ROWS[1], findings=findings)


def test_the_condition_covers_holding_cases_and_no_failing_one() -> None:
    cases = [
        finding_of(True, "in place", "DDR4"),
        finding_of(True, "in place", "DDR5"),
        finding_of(False, "streamed", "DDR5"),
    ]
    assert shared(cases) == "in place"
    assert claim_of(*cases).answer == "holds only if in place"


def test_cases_that_share_no_clause_are_named_one_by_one() -> None:
    cases = [
        finding_of(True, "a", "x"),
        finding_of(True, "b", "y"),
        finding_of(False, "a", "y"),
        finding_of(False, "b", "x"),
    ]
    assert shared(cases) == "a, x or b, y"


def test_a_claim_of_two_things_needs_both() -> None:
    first = [finding_of(True, "fast"), finding_of(False, "slow")]
    both = claim_of(
        *first, finding_of(True, "large", unit="times"), finding_of(False, "small", unit="times")
    )
    assert both.answer == "holds only if fast and large"
    assert claim_of(*first, finding_of(False, "large", unit="times")).verdict is Verdict.DOES_NOT
    assert (
        claim_of(finding_of(True, "fast"), finding_of(True, "large", unit="times")).verdict
        is Verdict.HOLDS
    )


def test_cases_beside_it_decide_nothing() -> None:
    beside = beside_it(finding_of(False, "another machine"))
    assert claim_of(finding_of(True, "fast"), beside).verdict is Verdict.HOLDS
    helpful = beside_it(finding_of(True, "another machine"))
    failing = claim_of(finding_of(False, "fast"), helpful)
    assert failing.verdict is Verdict.DOES_NOT
    assert failing.needs == ("another machine: 2.0 tokens/s",)


def test_another_range_turns_the_verdict(subtests: pytest.Subtests) -> None:
    for low, high, verdict in [(0.0, 1e15, Verdict.HOLDS), (1e15, 2e15, Verdict.DOES_NOT)]:
        for number in ROWS:
            with subtests.test(f"{low} {high} {verdict} {number}"):
                row = replace(ROWS[number], low=low, high=high, vary="")
                deciding = (case for case in cases_of(number) if not case.beside)
                figures = ((case, finding(ROWS[number], case).figure.value) for case in deciding)
                cases = [
                    replace(case, low=low, high=high, vary="none")
                    for case, figure in figures
                    if np.isfinite(figure)
                ]
                assert answered(row, cases).verdict is verdict


def test_another_machine_turns_the_verdict() -> None:
    case = next(finding for finding in cases_of(1) if "vLLM" in finding.condition)
    wide = replace(case, inputs=f"{case.inputs}; pcie_gbs=100")
    assert not finding(ROWS[1], case).holds
    assert finding(ROWS[1], wide).holds


def test_every_claim_is_answered_with_its_figures(claims_by_number) -> None:
    assert list(claims_by_number) == list(range(1, 24))
    for claim in claims_by_number.values():
        assert bool(claim.condition) is (claim.verdict is Verdict.ONLY_IF)
        assert claim.why.endswith(".")
        assert "nan" not in claim.why
        assert "claimed:" in claim.why


def test_mistakes_of_the_articles(claims_by_number) -> None:
    """By facts that no fit can move; each from the measurements that its row cites."""
    by_name = {
        f"{claim.row.number} {case.condition}": case
        for claim in claims_by_number.values()
        for case in claim.findings
    }
    for name, held in {
        "1 streamed to the GPU, in 4 bits by vLLM": False,  # 20 GB over 24 GB/s
        "2 the link is PCIe 3, copies are pinned": False,  # 12 GB/s
        "2 weights are computed in place": False,
        "3 half of it lies on the drive and nothing is cached": False,  # 2.9 s a token
        "5 half of it lies in the GPU, computed in place": False,
        "9 20 layers against 10": False,  # 70 of 80 layers take at most 7/6 of the time of 60
        "13 the RAM is 12-channel, DDR5 beside an RTX 4090": False,  # twice
        "16 float16": False,  # 13.5 GB
        "16 quantized to 4 bits": True,
        "17 heads are grouped, 128k tokens": True,  # 43 GB
        "21 it has 128 GB, experts in 4 bits on an M4 Max": False,
        "22 weights are computed in place": False,
    }.items():
        assert by_name[name].holds is held, name
    assert claims_by_number[15].verdict is Verdict.DOES_NOT
    assert claims_by_number[12].verdict is Verdict.HOLDS


def test_the_smallest_change_that_is_enough_is_named() -> None:
    claimed = Claimed(low=100, high=200, unit="GB")
    measure = lambda entry: exact(np.asarray(entry.inputs["ram_gb"]) * GB)  # noqa: E731
    (text,) = needs(scenario(ram_gb=64), measure, claimed, "ram_gb")
    size = float(text.split()[0])
    assert 90 <= size <= 100  # a tenth to spare
    assert text.endswith("GB of RAM")
    (text,) = needs(scenario(ram_gb=1024), measure, claimed, "ram_gb")
    assert 200 <= float(text.split()[0]) <= 220


def test_an_input_that_is_never_enough_is_reported() -> None:
    claimed = Claimed(low=2, high=None, unit="times")
    assert needs(scenario(), lambda _: exact(1.0), claimed, "users") == (
        "no number of users alone is enough",
    )


def test_the_link_that_is_named_makes_streaming_fast_enough(claims_by_number) -> None:
    case = next(finding for finding in claims_by_number[1].findings if "vLLM" in finding.condition)
    (text,) = case.needs
    faster = Scenario(inputs={**case.scenario.inputs, "pcie_gbs": float(text.split()[-2])})
    assert holds(MEASURES["decode"](faster), case.claimed)


def test_an_option_that_does_not_fit_states_the_missing_memory(claims_by_number) -> None:
    case = claims_by_number[8].findings[0]
    assert case.outcome == "no figure"
    assert case.words.startswith("does not fit, ")
    assert case.words.endswith(" short")
    assert not case.holds


def test_a_pair_that_cannot_be_leaves_the_other_cases() -> None:
    row = replace(ROWS[1], scenario=ROWS[1].scenario.replace("gpu=RTX 4090", "gpu=none"))
    answer = answered(row, cases_of(1))
    streamed = [finding for finding in answer.findings if "vLLM" in finding.condition]
    assert all(finding.words.startswith("not possible: ") for finding in streamed)
    assert all(finding.fits for finding in answer.findings if "in place" in finding.condition)


def test_a_scenario_is_stated_in_words() -> None:
    text = scenario(gpu_layers=40).words
    assert text.startswith("Llama-3.1-70B, Q4_K_M, llama.cpp, the rest in RAM, RTX 4090")
    assert "40 layers on the GPU, 4,096 tokens of context" in text


def test_rows_that_break_the_rules_are_reported() -> None:
    with pytest.raises(DataError, match="no input is called colour"):
        Scenario(inputs={"colour": "red"})
    with pytest.raises(DataError, match="no measure is called 'beauty'"):
        measured("beauty", "")
    with pytest.raises(DataError, match="'colour' cannot be varied"):
        needs(scenario(), MEASURES["decode"], Claimed(low=1, high=2, unit="GB"), "colour")


def test_the_command_line_says_the_same(capsys, claims_by_number) -> None:
    assert main(["claims", "--json"]) == 0
    answers = json.loads(capsys.readouterr().out)
    assert [answer["verdict"] for answer in answers] == [
        claim.verdict.value for claim in claims_by_number.values()
    ]
    assert main(["claims"]) == 0
    text = capsys.readouterr().out
    assert all(claim.answer in text and claim.why in text for claim in claims_by_number.values())
