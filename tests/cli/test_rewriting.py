"""Commands that write the generated tables anew."""

import pytest

from advisor.cli.main import main


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """Fitting and scoring take minutes: what they would write is given."""
    fitted, scored = tmp_path / "efficiency.csv", tmp_path / "coverage.csv"
    monkeypatch.setattr("advisor.evidence.fitting.__main__.refitted", lambda: {fitted: "fitted\n"})
    monkeypatch.setattr("advisor.evidence.accuracy.__main__.ledger", lambda: None)
    monkeypatch.setattr("advisor.evidence.accuracy.__main__.tables", lambda _: {scored: "scored\n"})
    return fitted, scored


def test_constants_are_fitted_anew(tables, capsys):
    assert main(["refit"]) == 0
    assert tables[0].read_text() == "fitted\n"
    assert capsys.readouterr().out == "efficiency.csv: written.\n"


def test_coverage_is_written_anew(tables, capsys):
    assert main(["accuracy", "--write"]) == 0
    assert tables[1].read_text() == "scored\n"
    assert capsys.readouterr().out == "coverage.csv: written.\n"


def test_a_table_that_cannot_be_written_is_reported(monkeypatch, tmp_path, capsys):
    nowhere = tmp_path / "missing" / "efficiency.csv"
    monkeypatch.setattr("advisor.evidence.fitting.__main__.refitted", lambda: {nowhere: ""})
    assert main(["refit"]) == 2
    assert "cannot be written" in capsys.readouterr().err
