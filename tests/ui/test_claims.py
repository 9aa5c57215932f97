"""The section on claims of articles, and its links to the Advise page."""

import re
from urllib.parse import parse_qsl, urlsplit

import pytest
from markupsafe import escape
from streamlit.testing.v1 import AppTest
from ui_app import app, page_text, run

from advisor.evidence.claims import Verdict, claims
from advisor.evidence.claims.scenarios import CASES
from advisor.request.texts import from_address
from advisor.ui.accuracy.claims import parameters


def section():
    from advisor.ui.accuracy.claims import claims_section

    claims_section()


def shown(text: str) -> str:
    """Text as the page shows it: escaped, memory in GB as it is sold."""
    return str(escape(text))


@pytest.fixture(scope="module")
def answers():
    return claims()


@pytest.fixture
def page():
    return run(AppTest.from_function(section, default_timeout=60))


def test_every_claim_is_there_with_its_verdict_in_words(page, answers):
    text = page_text(page)
    for claim in answers:
        head = f"{claim.row.number}. {claim.row.topic}"
        assert f"<span class='oa-name'>{escape(head)}</span>" in text
        assert shown(claim.row.claim) in text
        assert shown(claim.why) in text
    assert text.count("class='oa-badge ") == len(answers) == 23
    for verdict in Verdict:
        number = sum(claim.verdict is verdict for claim in answers)
        assert text.count(f"'>{verdict}</span>") == number


def test_a_condition_is_stated_before_the_figures(page, answers):
    text = page_text(page)
    for claim in answers:
        if claim.condition:
            assert f"<b>Holds only if</b> {shown(claim.condition)}." in text


def test_each_opens_its_cases_assumptions_and_what_it_would_take(page, answers):
    unfolded = re.findall(r"<details class='oa-more'>.*?</details>", page_text(page), re.DOTALL)
    assert len(unfolded) == len(answers)
    for text, claim in zip(unfolded, answers, strict=True):
        assert all(shown(finding.condition) in text for finding in claim.findings)
        assert all(shown(finding.words) in text for finding in claim.findings)
        assert shown(claim.row.assumed) in text
        assert ("What it would take" in text) is (claim.verdict is not Verdict.HOLDS)
        assert all(shown(need) in text for need in claim.needs)
        assert claim.row.source.split(";")[0] in text


def test_one_verdict_can_be_shown_alone(page, answers):
    page.segmented_control(key="claims_shown").select(Verdict.DOES_NOT.value)
    text = page_text(run(page))
    for claim in answers:
        there = f"{escape(claim.row.claim)}" in text
        assert there is (claim.verdict is Verdict.DOES_NOT)


def test_every_link_opens_without_complaint(answers):
    records = [parameters(item.scenario.inputs) for claim in answers for item in claim.findings]
    opened = [record for record in records if record]
    assert len(opened) > len(CASES) / 2
    for finding in opened:
        assert from_address(finding).problems == ()
        assert finding["gpu"]


def test_a_link_carries_the_scenario_to_advise(answers):
    case = answers[0].findings[0]
    record = parameters(case.scenario.inputs)
    assert record["model"] == "Llama-3.1-70B"
    assert record["gpu_layers"] == "40"
    test = app(**record)
    request = test.session_state["request"]
    assert request.gpu == "RTX 4090"
    assert request.cpu == case.scenario.inputs["cpu"]
    speed = re.escape(case.words.split()[0])
    assert re.search(rf">{speed}(</span> tokens a second| tokens/s<)", page_text(test))


def test_a_unified_machine_opens_with_one_pool_of_memory():
    record = {"model": "GLM-4.5-Air", "format": "Q4_K_M", "gpu": "Apple M4 Max 40c", "ram_gb": 64,
            "vram_gb": 48, "context": 8192}  # fmt: skip
    question = parameters(record)
    assert question["ram_gb"] == "64"
    assert "cpu" not in question


@pytest.mark.parametrize(
    "record",
    [
        {"gpu": "RTX 4090"},  # no model
        {"model": "Llama-3.1-8B", "format": "Q4_K_M", "colour": "red"},  # no such input there
    ],
)
def test_combinations_that_advise_cannot_show_have_no_link(record):
    assert parameters(record) == {}


def test_links_in_the_page_are_relative_and_escaped(page):
    text = page_text(page)
    hrefs = [part.split("'")[0] for part in text.split("href='")[1:]]
    own = [href for href in hrefs if not href.startswith("https://")]
    assert own
    for href in own:
        assert href.startswith("./?")
        keys = dict(parse_qsl(urlsplit(href.replace("&amp;", "&")).query))
        assert keys["model"]
