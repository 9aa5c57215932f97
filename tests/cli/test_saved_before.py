"""What the program of 2026-11-23 saved, opened by today's."""

import json
import shutil
from pathlib import Path

import pytest

from advisor.cli.main import main

SAMPLES = Path(__file__).parents[1] / "samples"
SPLIT = {"model": "Qwen3-30B-A3B", "gpu": "RTX 3090"}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path))
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> object:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_its_store_of_reports_opens(data: Path, capsys) -> None:
    shutil.copy(SAMPLES / "reports-2026-11-23.sqlite", data / "reports.sqlite")
    listed = printed(capsys, "report", "list")
    assert [report["name"] for report in listed] == ["Laptop", "Team server", "Split experts"]
    for number in ("1", "2", "3"):
        for form in ("html", "csv", "md", "json", "pdf"):
            out = data / f"{number}.{form}"
            assert main(["report", "export", number, "--format", form, "-o", str(out)]) == 0
            assert out.stat().st_size > 1000
    sides = printed(capsys, "report", "compare", "1", "2", "3")
    assert [report["name"] for report in sides["reports"]] == [
        "Split experts",
        "Team server",
        "Laptop",
    ]


def test_each_of_its_reports_is_answered_again_today(data: Path, capsys) -> None:
    shutil.copy(SAMPLES / "reports-2026-11-23.sqlite", data / "reports.sqlite")
    for number, name in (("1", "Split experts"), ("2", "Team server"), ("3", "Laptop")):
        assert main(["report", "compare", number, "--today"]) == 0
        text = capsys.readouterr().out
        assert f"{name}: Changed answers" in text
        assert "Now: " in text


def test_its_exported_report_is_imported(capsys) -> None:
    printed(capsys, "report", "import", str(SAMPLES / "report-2026-11-23.json"))
    (report,) = printed(capsys, "report", "list")
    assert {key: report[key] for key in SPLIT} == SPLIT


def test_its_calibration_is_imported_and_used(capsys) -> None:
    path = SAMPLES / "calibration-2026-11-23.json"
    assert main(["calibration", "import", str(path), "--name", "server"]) == 0
    capsys.readouterr()
    machine = ("--machine", "server", "--model", "Llama-3.1-70B", "--runtime", "llama.cpp")
    estimates = printed(capsys, "estimate", *machine)
    ram = {
        figure["value"]: figure["kind"]
        for estimate in estimates
        for figure in estimate["assumptions"]
        if "RAM" in figure["what"]
    }
    assert ram[150e9] == "measured"


def test_its_report_says_that_value_tied_up_no_longer_counts(data: Path, capsys) -> None:
    printed(capsys, "report", "import", str(SAMPLES / "report-2026-11-23.json"))
    out = data / "old.md"
    assert main(["report", "export", "1", "--format", "md", "-o", str(out)]) == 0
    assert "Its sums count the value tied up" in out.read_text()
    words = ["--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--ram-gb", "64", "--save", "Today"]
    for number, further in (("2", []), ("3", ["--resale-counts"])):
        assert main(["advise", *words, *further]) == 0
        assert main(["report", "export", number, "--format", "md", "-o", str(out)]) == 0
        assert "Its sums count the value tied up" not in out.read_text()
