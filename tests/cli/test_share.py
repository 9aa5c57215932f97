"""`runs share`: a newcomer's run, from what Ollama printed to the row that is proposed."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from sent_reports import issue

from advisor.cli.main import main
from advisor.evidence.published.run_form import form_fields, form_values
from lab.intake.__main__ import main as take_in

ROOT = Path(__file__).parents[2]
PRINTED = """>>> why is the sky blue?
The sky is blue because of Rayleigh scattering.

total duration:       9.1s
load duration:        41ms
prompt eval count:    611 token(s)
prompt eval duration: 350ms
prompt eval rate:     1745.71 tokens/s
eval count:           402 token(s)
eval duration:        9.5s
eval rate:            42.10 tokens/s
"""
MACHINE = ("--gpu", "RTX 3060", "--cpu", "Ryzen 7 5800X", "--ram-gb", "32")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_DATA_DIR", str(tmp_path / "kept"))


def test_a_newcomer_sends_a_run_and_it_is_proposed_with_the_prediction_made_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What is printed goes to the command, as `ollama run --verbose qwen3:8b | ... runs share -`.
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PRINTED.encode())))
    assert main(["runs", "share", "-", "--model", "qwen3:8b", *MACHINE]) == 0
    sent = capsys.readouterr()
    assert "Nothing was sent." in sent.err
    assert "Rayleigh" not in sent.out
    values = form_values(sent.out)
    assert values["gpu"] == "RTX 3060 12GB"
    assert (values["model"], values["quant"]) == ("Qwen3-8B", "Q4_K_M")
    assert (values["tg_tps"], values["pp_tps"]) == ("42.1", "1746")
    promised = re.fullmatch(
        r"(?P<speed>\d+) tokens/s \(.*\), release \S+, constants [0-9a-f]{8}", values["prediction"]
    )
    assert promised

    # The text goes into the first box of the issue form, and the last box is checked.
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/run.yml").read_text(encoding="utf-8"))
    first, *_, last = (part for part in form["body"] if part["type"] != "markdown")
    parts = [f"### {first['attributes']['label']}\n\n```text\n{sent.out}\n```"]
    parts += [f"### {row.label}\n\n_No response_" for row in list(form_fields().values())[1:-1]]
    agreed = last["attributes"]["options"][0]["label"]
    parts.append(f"### {last['attributes']['label']}\n\n- [X] {agreed}")
    issues = tmp_path / "issues.json"
    issues.write_text(json.dumps([issue(7, "\n\n".join(parts), "newcomer")]))

    assert take_in([str(issues), "--to", str(tmp_path)]) == 0
    proposed = capsys.readouterr().out
    row = next(line for line in proposed.splitlines() if "`newcomer`" in line)
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[1:4] == ["`RTX 3060 12GB`", "`Qwen3-8B`", "`Q4_K_M`"]
    assert cells[5] == "42.1"
    before = float(cells[6])
    release = float(cells[10])
    assert release == float(promised["speed"])
    assert before == pytest.approx(release, rel=0.03)  # the row says all that the sender's run did
    assert "- Senders: `newcomer`" in proposed
    kept = (tmp_path / "llama_cpp_sent.csv").read_text(encoding="utf-8").splitlines()
    assert len(kept) == 2
    assert "newcomer" in kept[1]


def test_the_record_holds_the_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "run.txt"
    file.write_text(PRINTED)
    words = ["runs", "share", str(file), "--model", "qwen3:8b", *MACHINE, "--agree", "--json"]
    assert main(words) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["agree"] == "yes"
    assert record["ram_gb"] == "32"
    assert record.keys() <= form_fields().keys()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no finished run"),
        (b"\xff\x00\xff", "is no text"),
        (b"\xff\xfe\x00", "is no text"),
        (b"hello", "no JSON"),
    ],
)
def test_what_is_no_result_is_refused_with_a_sentence(
    content: bytes, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.txt"
    file.write_bytes(content)
    assert main(["runs", "share", str(file), "--model", "qwen3:8b", *MACHINE]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "Traceback" not in told


def test_what_windows_powershell_wrote_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.txt"
    file.write_bytes(PRINTED.encode("utf-16"))  # `ollama run qwen3:8b --verbose > run.txt`
    assert main(["runs", "share", str(file), "--model", "qwen3:8b", *MACHINE]) == 0
    assert form_values(capsys.readouterr().out)["tg_tps"] == "42.1"


def test_results_of_another_model_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run.json"
    file.write_text(
        json.dumps(
            {"model": "llama3.1:70b", "done": True, "eval_count": 100, "eval_duration": 10**10}
        )
    )
    assert main(["runs", "share", str(file), "--model", "qwen3:8b", *MACHINE]) == 2
    assert "results are of" in capsys.readouterr().err


# A speed that a person knows, without what the tool printed.


def test_a_known_speed_is_sent_beside_its_prediction_and_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["runs", "share", "--model", "Qwen3-8B", "--known", "Qwen3-8B Q4_K_M 41.5", *MACHINE]
    assert main([*words, "--agree"]) == 0
    sent = capsys.readouterr()
    assert "A typed speed alone counts for little" in sent.err
    values = form_values(sent.out)
    assert values["output"] == "41.5 tokens/s"
    assert (values["model"], values["quant"]) == ("Qwen3-8B", "Q4_K_M")
    assert values["tg_tps"] == "41.5"
    issues = tmp_path / "issues.json"
    issues.write_text(json.dumps([issue(8, sent.out, "somebody")]))
    assert take_in([str(issues), "--to", str(tmp_path)]) == 0
    proposed = capsys.readouterr().out
    assert "`somebody`" in proposed
    assert "no output of a tool stands behind it" in proposed


@pytest.mark.parametrize(
    "known",
    [
        ["--known", "Qwen3-8B Q4_K_M 1900 prompt"],
        ["--known", "Qwen3-8B Q4_K_M 41", "--known", "Qwen3-4B 70"],
    ],
    ids=("of a prompt", "two"),
)
def test_a_report_is_of_one_known_speed_of_tokens(
    known: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "share", "--model", "Qwen3-8B", *known, *MACHINE]) == 2
    assert "a report is of one" in capsys.readouterr().err


def test_nothing_to_share_says_what_may_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs", "share", "--model", "Qwen3-8B", *MACHINE]) == 2
    assert "or a speed that you know (--known" in capsys.readouterr().err
