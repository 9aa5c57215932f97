"""data/claims/claims.csv and data/claims/claim_cases.csv: every claim sourced, every case can be
computed."""

import pytest
from provenance import is_past, is_public

from advisor.catalog.records import like
from advisor.evidence.claims import scenarios
from advisor.evidence.claims.findings import MEASURES, VARIED
from advisor.evidence.claims.scenarios import CASES, UNITS, Claimed, Scenario, inputs

CLAIMS = {row.number: row for row in scenarios.CLAIMS}


def name(case) -> str:
    return f"{case.claim}: {case.condition}"


def test_all_23_are_there_in_order() -> None:
    assert list(CLAIMS) == list(range(1, 24))


def test_every_case_has_its_claim_and_every_claim_a_case_that_decides() -> None:
    assert {case.claim for case in CASES if not case.beside} == set(CLAIMS)
    assert {case.claim for case in CASES} == set(CLAIMS)


def test_facts_have_public_sources_and_no_date_to_come() -> None:
    for row in (*CLAIMS.values(), *(case for case in CASES if case.source)):
        assert all(is_public(source.strip()) for source in row.source.split(";"))
        assert not row.source_date or is_past(row.source_date)


@pytest.mark.parametrize("row", CLAIMS.values(), ids=lambda row: row.topic)
def test_a_claim_is_reported_in_sentences_of_its_own(row) -> None:
    for text in (row.claim, row.assumed, row.mechanism):
        assert text.endswith(".")
        assert ".." not in text


def test_every_case_names_a_measure_a_unit_and_inputs_that_there_are(
    subtests: pytest.Subtests,
) -> None:
    for case in CASES:
        with subtests.test(str(name(case))):
            case = case.of(CLAIMS[case.claim])
            assert case.measure in MEASURES
            assert case.unit in UNITS
            assert set(filter(None, case.vary.replace(" ", "").split(";"))) <= set(VARIED)
            Scenario(inputs={}).changed(inputs(case.inputs)).changed(inputs(case.against))


def test_deciding_cases_have_a_range_with_its_ends_in_order(subtests: pytest.Subtests) -> None:
    for case in [case for case in CASES if not case.beside]:
        with subtests.test(str(name(case))):
            claimed = like(Claimed, case.of(CLAIMS[case.claim]))
            assert not claimed.open
            assert claimed.low is None or claimed.high is None or 0 <= claimed.low < claimed.high


def test_a_range_of_its_own_comes_with_its_unit() -> None:
    for case in CASES:
        assert case.unit or (case.low is None and case.high is None)


def test_a_figure_of_others_has_its_source() -> None:
    for case in CASES:
        assert bool(case.source) is (case.measure == "cited")


def test_cases_of_a_claim_can_be_distinguished() -> None:
    names = [name(case) for case in CASES]
    assert len(names) == len(set(names))
