"""Commands of the lab that write the kept tables anew."""

from pathlib import Path

import pytest

import lab.__main__
import lab.ledger


@pytest.mark.parametrize(
    ("module", "makes"), [(lab.__main__, "refitted"), (lab.ledger, "ledger")], ids=["fit", "ledger"]
)
def test_tables_are_written_anew(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    module: object,
    makes: str,
) -> None:
    # Fitting and scoring take minutes: what they would write is given.
    table = tmp_path / "coverage.csv"
    monkeypatch.setattr(module, makes, lambda: {table: "fitted\n"})
    monkeypatch.setattr(lab.ledger, "tables", lambda known: known)
    monkeypatch.setattr(lab.ledger.scoring, "HISTORY", table)
    monkeypatch.setattr(lab.ledger, "history_table", lambda known: known[table])
    monkeypatch.setattr(lab.ledger, "of_commit", lambda _: {})
    assert module.main() == 0  # type: ignore[attr-defined]  # either module
    assert table.read_text() == "fitted\n"
    assert capsys.readouterr().out == "coverage.csv: written.\n"
