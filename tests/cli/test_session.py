"""A session on the command line: every line of docs/sessions.md, its JSON, its words."""

import json
import re
import shlex
from pathlib import Path

import pytest

from advisor import Request, task
from advisor.cli import mcp
from advisor.cli.main import main
from advisor.request import command_line

PAGE = Path(__file__).parents[2] / "docs" / "sessions.md"
LINES = re.findall(r"^python -m advisor (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
CARD = ("--model", "Qwen3.6-35B-A3B", "--gpu", "RTX 3090", "--session", "swe-bench")


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, object]]:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)  # type: ignore[no-any-return]


def test_every_line_of_the_page_answers(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(LINES) == 10
    for line in LINES:
        assert main(shlex.split(line)) == 0, line
        text = capsys.readouterr().out
        if not line.endswith("--json"):
            assert "reading again what went before" in text, line
            continue
        record = json.loads(text)
        if isinstance(record, list):
            rows = record
        else:
            rows = [record]
        fitting = [row for row in rows if row["task_s"] is not None]
        assert fitting, line
        for row in fitting:
            assert row["task_s_low"] < row["task_s"] < row["task_s_high"], line
            assert row["turns"] == 36, line
            assert 0 <= row["reread_share"] < 1, line
            assert len(row["saves"]) <= 3, line


def test_python_and_an_assistant_read_the_same_digits(capsys: pytest.CaptureFixture[str]) -> None:
    words = {"model": "Llama-3.1-8B", "gpu": "RTX 4090", "session": "pinchbench", "turns": 20}
    typed = command_line.to_argv(Request(**words))  # type: ignore[arg-type]
    record: dict[str, object] = _json(capsys, "advise", *typed)  # type: ignore[assignment]
    work = task(Request(**words))  # type: ignore[arg-type]
    assert work is not None
    assert (record["task_s"], record["reread_share"]) == (work.seconds, work.reread_share)
    saved = [each.seconds for each in work.saves]
    assert [row["saves_s"] for row in record["saves"]] == saved  # type: ignore[attr-defined]
    # An assistant's answer is short unless it asks for all.
    _, rows = mcp.answer("estimate", words | {"detail": "all"}, allow_files=False)
    assert work.seconds in [row.get("task_s") for row in rows["estimates"]]


def test_a_row_that_does_not_fit_has_no_time(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _json(capsys, "estimate", *CARD, "--turns", "2000", "--runtime", "llama.cpp")
    resident = next(row for row in rows if row["placement"] == "gpu-resident")
    assert not resident["fits"]
    assert (resident["task_s"], resident["reread_share"], resident["saves"]) == (None, None, [])


def test_without_a_session_its_keys_are_absent(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _json(capsys, "estimate", *CARD[:4], "--runtime", "llama.cpp")
    assert not any("task_s" in row or "saves" in row for row in rows)


def test_a_kept_conversation_is_faster_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", *CARD, "--runtime", "llama.cpp"]) == 0
    text = capsys.readouterr().out
    assert "--reasoning-preserve" in text
    assert "a reply is the middle turn of a session" in text
    lost, kept = (
        _json(capsys, "estimate", *CARD, "--runtime", "llama.cpp", *more)[0]["task_s"]
        for more in ((), ("--cached-share", "1"))
    )
    assert isinstance(kept, float)
    assert isinstance(lost, float)
    assert kept < lost


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--session", "chess"), "swe-bench, pinchbench, coding-session, swe-bench-pro"),
        (("--turns", "5"), "--turn-tokens"),
        (("--slots", "2"), "--slots belongs to a session"),
        (("--turns", "0"), "Turns (--turns)"),
    ],
)
def test_a_session_that_cannot_be_is_a_sentence(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    assert main(["estimate", *CARD[:4], *words]) != 0
    assert sentence in capsys.readouterr().err
