"""Texts of other people on a terminal: a report that was sent is shown, and does nothing."""

import json
from pathlib import Path

import pytest

from advisor.cli.main import main

ROOT = Path(__file__).parents[2]
WORDS = "\x1b]0;owned\x07\x1b[2J\x1b[8mhidden"


def test_a_report_of_somebody_else_commands_no_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    report = json.loads((ROOT / "tests/samples/report.json").read_text(encoding="utf-8"))
    report |= {"verdict": f"Verdict {WORDS}"}
    file = tmp_path / "report.json"
    file.write_text(json.dumps(report), encoding="utf-8")
    assert main(["report", "import", str(file)]) == 0
    for words in (["list"], ["show", "1"], ["delete", "1"], ["show", "1"]):
        main(["report", *words])
    printed = capsys.readouterr()
    assert "Verdict ?" in printed.out
    assert "\x1b" not in printed.out + printed.err
    assert "\x07" not in printed.out + printed.err
