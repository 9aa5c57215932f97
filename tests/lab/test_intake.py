"""Intake: a hundred drawn reports, thirty of them hostile, become rows or are refused."""

import csv
import json
import re
from pathlib import Path

import pytest
from sent_reports import HOSTILE, SOUND, TOOLS, Expected, form, issue, reports, sound, taken_of

from advisor.evidence.published.predict import answer
from advisor.evidence.published.row import PublishedRow
from lab.intake import pull_request
from lab.intake.__main__ import main
from lab.intake.sent import reports_in
from lab.intake.taken import Intake, take

SEED = 48


@pytest.fixture(scope="module")
def drawn() -> list[Expected]:
    return reports(SEED)


@pytest.fixture(scope="module")
def file(drawn: list[Expected], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("intake") / "issues.json"
    path.write_text(json.dumps([each.issue for each in drawn]))
    return path


@pytest.fixture(scope="module")
def intake(file: Path) -> Intake:
    return take(reports_in(file))


def name_of(expected: Expected) -> str:
    return f"issue {expected.issue['number']}"


def test_a_hundred_reports_of_which_thirty_are_hostile(drawn: list[Expected]) -> None:
    assert len(drawn) == 100
    assert sum(bool(each.reason) for each in drawn) == len(HOSTILE) == 30
    assert {each.kind for each in drawn} == {*TOOLS, *HOSTILE}


def test_each_honest_report_is_a_row_with_what_was_measured(
    drawn: list[Expected], intake: Intake, subtests: pytest.Subtests
) -> None:
    taken = {run.sent.report.name: run for run in intake.taken}
    reasons = {each.report.name: each.reason for each in intake.refused}
    for expected in drawn:
        if expected.reason:
            continue
        with subtests.test(f"{name_of(expected)}: {expected.kind}"):
            assert name_of(expected) not in reasons, reasons[name_of(expected)]
            run = taken[name_of(expected)]
            assert run.measured == pytest.approx(expected.speeds[0], rel=1e-3)
            assert run.case.machine.cards == (expected.card,)
            assert run.case.model.name.rpartition("/")[2] == expected.model
            assert not run.doubts
            assert run.low < run.predicted < run.high
    assert len(intake.taken) == 70


def test_each_hostile_report_is_refused_for_its_reason(
    drawn: list[Expected], intake: Intake, subtests: pytest.Subtests
) -> None:
    reasons = {each.report.name: each.reason for each in intake.refused}
    for expected in drawn:
        if expected.reason:
            with subtests.test(expected.kind):
                assert expected.reason in reasons.get(name_of(expected), "taken")
    assert len(reasons) == 30


def test_the_pull_request_holds_rows_with_the_predictions_made_before(
    file: Path, intake: Intake, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(file), "--to", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "70 rows of 70 senders" in text
    assert "## Refused: 30" in text
    assert "spam.example" not in re.sub(r"`[^`]*`", "", text)
    rows = []
    for path in sorted(tmp_path.glob("*_sent.csv")):
        with path.open(encoding="utf-8", newline="") as lines:
            rows += list(csv.DictReader(lines))
    assert len(rows) == 70
    assert len({row["id"] for row in rows}) == 70
    row = next(row for row in rows if row["runtime"] == "Ollama 0.30.1")
    again = answer(PublishedRow(row))  # a row of the file is predicted as it was when it came
    assert float(row["predicted_tps"]) == pytest.approx(float(str(again["tg_tps"])), rel=1e-4)
    assert row["publisher"].startswith("sender")
    main([str(file), "--to", str(tmp_path)])  # later rows go behind earlier ones
    with (tmp_path / "llama_cpp_sent.csv").open(encoding="utf-8", newline="") as lines:
        ids = [row["id"] for row in csv.DictReader(lines)]
    assert len(ids) == len(set(ids))


def intake_of(*bodies: str, senders: tuple[str, ...] = ()) -> Intake:
    pairs = zip(bodies, senders or ("",) * len(bodies), strict=True)
    return taken_of(*(issue(place, body, sender) for place, (body, sender) in enumerate(pairs)))


def test_the_same_run_is_taken_once_whoever_sends_it() -> None:
    intake = intake_of(form(**SOUND), form(**SOUND), form(**{**SOUND, "gpu": "RTX 4090"}))
    assert len(intake.taken) == 1
    assert [each.reason for each in intake.refused] == ["It is the same run as issue 0."] * 2


def test_a_published_run_is_not_taken_again() -> None:
    # lc0001 of data/measurements/llama_cpp.csv
    row = {
        "model_type": "llama 8B Q4_K - Medium",
        "backends": "CUDA",
        "n_gpu_layers": 99,
        "n_depth": 0,
        "test_time": "2026-11-18T11:58:51Z",
        "n_threads": 8,
    }
    output = [
        {**row, "n_prompt": 512, "n_gen": 0, "avg_ts": 2402.51, "samples_ts": [2402.51]},
        {**row, "n_prompt": 0, "n_gen": 512, "avg_ts": 72.79, "samples_ts": [72.79]},
    ]
    values = {"gpu": "RTX 3070 8GB", "model": "Llama-3-8B", "quant": "Q4_K_M"}
    intake = intake_of(form(output=json.dumps(output), **values))
    assert [each.reason for each in intake.refused] == ["The run stands in the ledger as lc0001."]


def ollama(*, rate: float, count: int = 400) -> str:
    return f"eval count:           {count} token(s)\neval rate:            {rate} tokens/s"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"output": ollama(rate=2.1)}, "slower than a twentieth"),
        ({"output": ollama(rate=117.0, count=5)}, "only 5 tokens"),
        ({"output": "117 tokens/s"}, "no output of a tool"),
        (
            {
                "output": ollama(rate=1.2),
                "model": "llama3.1:70b",
                "ram_gb": "8",
                "cpu": "AMD Ryzen 7 7800X3D",
            },
            "read from a drive",
        ),
    ],
)
def test_a_doubtful_run_is_marked_and_not_refused(values: dict[str, str], words: str) -> None:
    base = {"gpu": "RTX 3090", "model": "qwen3:8b", "runtime": "Ollama"}
    intake = intake_of(form(**{**base, **values}))
    assert not intake.refused
    (run,) = intake.taken
    assert words in "; ".join(run.doubts)
    assert "## Doubtful, not for scoring: 1" in pull_request.body(intake, [])


def test_no_run_is_left_out_for_being_far_from_its_prediction() -> None:
    # A third of what is predicted, and two thirds of what the card's memory allows.
    intake = intake_of(
        form(output=ollama(rate=35.0), gpu="RTX 3090", model="qwen3:8b", runtime="Ollama"),
        form(output=ollama(rate=170.0), gpu="RTX 3090", model="qwen3:8b", runtime="Ollama"),
    )
    assert len(intake.taken) == 2
    assert not any(run.doubts or run.held for run in intake.taken)


@pytest.mark.parametrize(
    ("draft", "refused"), [("", True), ("mtp,3", False), ("mtp", False), ("mtp,1", True)]
)
def test_drafted_tokens_may_be_faster_than_the_bytes_of_each(draft: str, refused: bool) -> None:
    # 936 GB/s and unstated RAM's at most 400 GB/s read 4.7 GB up to 285 times a second; with one
    # draft that is always right that is 570 tokens/s, 670 by what datasheets may be off.
    body = form(output=ollama(rate=800.0), gpu="RTX 3090", model="qwen3:8b", runtime="Ollama")
    if draft:
        body = body.replace("### Agreement", f"### Drafting\n\n{draft}\n\n### Agreement")
    intake = intake_of(body)
    assert bool(intake.refused) is refused
    if refused:
        assert "must say so" in intake.refused[0].reason


def test_numbers_are_read_as_people_write_them() -> None:
    body = form(
        output=ollama(rate=41.25),
        gpu="RTX 3060",
        model="qwen3:8b",
        runtime="Ollama",
        ram_gb="64 GB",
        tg_tps="41,25 tok/s",
        gpu_count="1x",
        prompt_len="1,234 tokens",
    )
    (run,) = intake_of(body).taken
    assert run.sent.row.ram_gb == 64
    assert "64 GB of RAM" in run.sent.row.source_note
    assert run.sent.row.prompt_len == 1234


def test_words_of_senders_make_no_markup() -> None:
    assert pull_request.quoted("a | [b](https://x) `c` @d\n<e>") == "`a b (https://x) c @d e`"
    assert pull_request.quoted("`") == ""


def test_a_result_alone_needs_who_published_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "result.json"
    path.write_text(str(TOOLS["llama_bench_json"](sound())["output"]))
    assert main([str(path)]) == 1
    assert "not agreed" in capsys.readouterr().out
    assert main([str(path), "--by", "ada", "--url", "https://example.org/ada"]) == 0
    assert "`ada`" in capsys.readouterr().out
    assert main([str(tmp_path / "none.json")]) == 2
    assert main([str(path), "--to", str(tmp_path / "none")]) == 2
