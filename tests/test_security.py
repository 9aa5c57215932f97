"""SECURITY.md: every answer to a threat names what holds it, and that is there."""

import re
from pathlib import Path

import pytest

from benchmarks import removed_answers

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
ROWS = [
    row.strip("|").split(" | ")
    for row in TEXT.partition("## Threats and answers")[2].splitlines()
    if row.startswith("|") and not row.startswith(("| threat", "|---"))
]


def test_the_table_is_read() -> None:
    assert len(ROWS) > 20
    assert all(len(row) == 3 for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=[row[0].strip()[:40] for row in ROWS])
def test_an_answer_is_held_by_tests_that_are_there(row: list[str]) -> None:
    held_by = row[2]
    named = re.findall(r"`(tests/[\w/.]+)`", held_by)
    for path in named:
        assert (ROOT / path).exists(), path
    files = [ROOT / path for path in named] or [ROOT / "tests"]
    sources = "".join(
        file.read_text(encoding="utf-8")
        for place in files
        for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])
    )
    tests = re.findall(r"`(test_\w+)`", held_by)
    for test in tests:
        assert f"def {test}(" in sources or f"def {test}(" in _every_test(), test
    assert named or tests or "make soak" in held_by


def _every_test() -> str:
    return "".join(
        file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests").rglob("test_*.py"))
    )


def test_hostile_servers_are_as_many_as_is_told() -> None:
    from hostile_servers import HOSTILE

    assert f"{len(HOSTILE)} of them" in TEXT


def test_an_answer_to_every_threat_is_taken_out_and_stands_in_its_file_and_in_the_table() -> None:
    """`python -m benchmarks.removed_answers` takes each out and runs its tests."""
    threats = [row[0].strip() for row in ROWS]
    assert {row.threat for row in removed_answers.rows()} == set(threats)
    for row in removed_answers.rows():
        assert row.threat in threats
        assert row.answer in (ROOT / row.file).read_text(encoding="utf-8"), row
        assert row.answer != row.without
        for tests in row.tests.split():
            assert (ROOT / tests).exists(), tests
