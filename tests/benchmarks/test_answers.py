"""The gate that shows which answers a change moves."""

import shlex
from pathlib import Path

import pytest

from advisor import permission
from benchmarks import answers
from benchmarks.questions import Draw

COMMANDS = {
    "advise",
    "diagnose",
    "estimate",
    "find",
    "machine",
    "model",
    "page",
    "predict",
    "report",
}
A = "machine 3090 --json"
B = "machine 4090 --json"


def test_questions_of_every_command_are_kept() -> None:
    kept = answers.kept()
    assert {shlex.split(question)[0] for question in kept} == COMMANDS
    assert {shlex.split(question)[1] for question in kept if question.startswith("report")} == {
        "compare",
        "run",
    }
    assert answers.KEPT.stat().st_size < 1e6


def test_every_kept_answer_came_and_read_the_files_of_its_question() -> None:
    lines = [line for lines in answers.kept().values() for line in lines]
    assert not [line for line in lines if answers.TRACEBACK in line]
    assert not [line for line in lines if "files of this computer are not read" in line]


def test_an_answer_that_never_came_is_not_kept(kept, monkeypatch: pytest.MonkeyPatch) -> None:
    before = kept.read_text()

    def broken(question: str) -> dict[str, str]:
        return {}[question]

    monkeypatch.setattr(answers, "answer", broken)
    with pytest.raises(SystemExit, match="Not kept"):
        answers.renew([A, B])
    assert kept.read_text() == before


def test_a_page_decides_nothing_for_the_commands_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    decide = permission._OF_PROCESS[0]
    try:
        permission.decided_by(lambda: permission.Permission(files=False))
        answered = answers.answer('report run \'{"models": ["Llama-3.1-8B"], "machines": []}\'')
    finally:
        permission.decided_by(decide)
    assert "files of this computer" not in str(answered)


def test_a_seed_draws_the_same_questions_and_another_seed_others() -> None:
    first, again, other = (Draw(seed).questions() for seed in (7, 7, 8))
    assert first == again != other
    assert {shlex.split(question)[0] for question in first} == COMMANDS


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kept file of two questions, whose answers are their texts."""
    file = tmp_path / "answers.tsv"
    file.write_text("")
    monkeypatch.setattr(answers, "KEPT", file)
    monkeypatch.setattr(answers, "answer", lambda question: {"name": question, "decode_tps": 5.0})
    answers.renew([A, B])
    return file


def test_a_moved_answer_is_named_with_its_headline_before_and_after(kept, monkeypatch, capsys):
    assert answers.compare(every=1) == 0
    monkeypatch.setattr(answers, "answer", lambda question: {"name": A, "decode_tps": 5.00001})
    capsys.readouterr()
    assert answers.compare(every=1) == 2
    shown = capsys.readouterr().out
    assert f"{B}\n  was " in shown
    assert "name machine 3090 --json; decode_tps 5" in shown
    answers.renew([A, B])
    assert answers.compare(every=1) == 0


def test_last_digits_do_not_count(kept, monkeypatch) -> None:
    monkeypatch.setattr(
        answers, "answer", lambda question: {"name": question, "decode_tps": 5.0 + 1e-9}
    )
    assert answers.compare(every=1) == 0


def test_after_a_merge_either_line_holds(kept, monkeypatch) -> None:
    text = kept.read_text()
    other = text.replace(answers.kept()[A].pop().split("\t")[1], "0" * 12)
    kept.write_text(f"<<<<<<< one\n{text}=======\n{other}>>>>>>> other\n")
    assert answers.compare(every=1) == 0


def test_paths_of_values_that_differ() -> None:
    before = {"a": [1, {"b": 2.0}], "c": 1}
    now = {"a": [1, {"b": 3.0}, 4], "c": 1}
    assert list(answers.differences(before, now)) == [
        (".a: number of entries", 2, 3),
        (".a[1].b", 2.0, 3.0),
    ]
