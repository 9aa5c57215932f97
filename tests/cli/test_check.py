"""`check`: promises of a scenario file as a Markdown table, and what moved."""

import json
import re
from pathlib import Path

import pytest
import yaml

from advisor.cli import mcp
from advisor.cli.main import main

ROOT = Path(__file__).parents[2]
FILE = """
models: [Llama-3.1-8B]
machines:
  - {name: "work|station", gpu: RTX 3090, ram_gb: 64}
promises: {decode_tps: ">= 20", fits: true, monthly_usd: "<= 100"}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "promises.yaml"
    path.write_text(FILE, encoding="utf-8")
    return path


def checked(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    code = main(["check", *map(str, words)])
    return code, capsys.readouterr().out


def test_kept_promises_are_a_table_and_code_0(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = checked(capsys, file)
    headings, line, row, _, total = text.splitlines()
    assert code == 0
    assert headings.count("|") == line.count("|") == row.replace("\\|", "").count("|")
    assert "work\\|station" in row
    assert row.endswith("| kept |")
    assert total == "1 of 1 keep their promises."


def test_a_broken_promise_is_code_1(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(FILE.replace(">= 20", ">= 1e6"), encoding="utf-8")
    code, text = checked(capsys, file)
    assert code == 1
    assert "tokens/s, less than 1,000,000" in text
    assert "0 of 1 keep their promises." in text


def test_what_moved_since_an_earlier_answer_is_said(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = checked(capsys, file, "--json")
    earlier = json.loads(text)
    assert (code, earlier["holds"]) == (0, True)
    before = tmp_path / "before.json"
    before.write_text(text, encoding="utf-8")
    assert "was" not in checked(capsys, file, "--since", before)[1]
    figures = earlier["results"][0]["figures"]
    figures |= {"decode_tps": figures["decode_tps"] / 2, "ttft_s": None}
    before.write_text(json.dumps(earlier), encoding="utf-8")
    _, text = checked(capsys, file, "--since", before)
    assert re.search(r"\| \d+ \(was [\d.]+\) \| [\d.]+ ms \(was -\) \| \$", text), text


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"results": [1]}', "[" * 100_000])
def test_another_file_is_refused_in_a_sentence(
    content: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / "before.json"
    before.write_text(content, encoding="utf-8")
    assert main(["check", str(file), "--since", str(before)]) == 2
    assert "is no answer of `check --json`" in capsys.readouterr().err


def test_the_action_runs_the_command_that_there_is() -> None:
    action = yaml.safe_load((ROOT / ".github/actions/check/action.yml").read_text("utf-8"))
    steps = action["runs"]["steps"]
    assert set(action["inputs"]) == {"file", "since"}
    assert "offload-advisor check" in steps[-1]["run"]
    # texts of a caller reach the shell as variables alone
    assert not any("${{" in step["run"] for step in steps)


def test_what_a_model_was_taken_for_stands_below_the_table(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(FILE.replace("Llama-3.1-8B", "NoSuchModel-9000B"), encoding="utf-8")
    _, text = checked(capsys, file)
    assert "NoSuchModel-9000B is not known" in text
    _, text = checked(capsys, file, "--json")
    assert "is not known" in " ".join(json.loads(text)["results"][0]["notes"])


def test_answers_a_day_can_be_promised(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # 41 answers of 256 tokens at 100 tokens a second take a few minutes of the day
    file.write_text(FILE.replace("fits: true", "keeps_up: true"), encoding="utf-8")
    code, _ = checked(capsys, file)
    assert code == 0
    many = FILE.replace("fits: true", "keeps_up: true") + "request: {replies_per_day: 1000000}"
    file.write_text(many, encoding="utf-8")
    code, text = checked(capsys, file)
    assert code == 1
    assert "cannot keep up with 1,000,000 answers a day" in text


MANY = "1000000"  # answers a day: each takes seconds, and a day has 86,400


def test_more_answers_than_a_machine_can_write_are_said_at_every_door(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(FILE + f"request: {{replies_per_day: {MANY}}}", encoding="utf-8")
    assert "it cannot keep up" in checked(capsys, file)[1]
    main(["report", "run", str(file)])
    assert "it cannot keep up" in capsys.readouterr().err
    parts = ("--gpu", "RTX 3090", "--ram-gb", "64", "--replies", MANY)
    main(["estimate", "--model", "Llama-3.1-8B", "--runtime", "llama.cpp", *parts])
    assert "it cannot keep up" in capsys.readouterr().err
    _, record = mcp.answer(
        "estimate",
        {"model": "Llama-3.1-8B", "gpu": "RTX 3090", "ram_gb": 64, "replies_per_day": int(MANY)},
        allow_files=False,
    )
    assert record["estimates"]
    main(["find", *parts])
    assert "0 of " in capsys.readouterr().err


def test_few_answers_are_counted_too(capsys: pytest.CaptureFixture[str]) -> None:
    # 512 tokens read in 0.1 s and 256 written at about 113 tokens/s: 2.4 s, 36 of them 86 s
    words = ["estimate", "--model", "Llama-3.1-8B", "--gpu", "RTX 3090", "--ram-gb", "64"]
    main([*words, "--replies", "36", "--runtime", "llama.cpp"])
    told = capsys.readouterr().err
    assert re.search(r"36 answers are 0\.02\d+ hours of work a day, one after another", told), told
