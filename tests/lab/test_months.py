"""Accuracy watched: scores by engine, family and month, and the alarm between two commits."""

import math
from pathlib import Path

import pytest

from advisor.catalog.accuracy_points import AccuracyPoint, accuracy_points
from advisor.catalog.csv_tables import read
from advisor.evidence.accuracy import months as watched
from advisor.evidence.accuracy.months import MonthScore, alarms, kept_scores, month_scores
from lab import months

GROUP = ("llama.cpp", "In the GPU", "2026-11")


def score(**values: object) -> MonthScore:
    base = {
        "commit": "aaaaaaaa",
        "day": "2026-11-01",
        "constants": "",
        "engine": GROUP[0],
        "family": GROUP[1],
        "month": GROUP[2],
        "rows": 20,
        "error": 0.10,
        "held": 0.8,
        "width": 2.0,
    }
    return MonthScore(**{**base, **values})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"error": 0.119}, ""),  # 1.9 points
        ({"error": 0.121}, "error 10.0 % to 12.1 %"),
        ({"held": 0.79}, ""),
        ({"held": 0.73}, ""),  # 7 points, of 80 % less than a tenth
        ({"held": 0.71}, "in range 80 % to 71 %"),
        ({"rows": 19}, "19 of 20 figures are predicted"),
        ({"rows": 25, "error": 0.05}, ""),
    ],
)
def test_an_alarm_needs_two_points_and_a_tenth_or_lost_figures(
    change: dict[str, object], words: str
) -> None:
    worse = list(alarms({GROUP: score()}, {GROUP: score(**change)}))
    assert [alarm.words for alarm in worse] == ([words] if words else [])


def test_a_large_error_may_rise_by_less_than_its_tenth() -> None:
    assert not list(alarms({GROUP: score(error=0.5)}, {GROUP: score(error=0.54)}))
    assert list(alarms({GROUP: score(error=0.5)}, {GROUP: score(error=0.56)}))


def test_a_group_that_is_gone_is_an_alarm_and_a_small_one_is_not_judged() -> None:
    (alarm,) = alarms({GROUP: score()}, {})
    assert alarm.sentence == (
        "llama.cpp, In the GPU, 2026-11: none of its 20 figures is predicted any more."
    )
    few = score(rows=4)
    assert not list(alarms({GROUP: few}, {GROUP: score(rows=4, error=0.9, held=0.0)}))


def point(**values: object) -> AccuracyPoint:
    base = {
        "id": "1",
        "regime": "resident, dense",
        "group": "a on x",
        "gpu": "",
        "cpu": "",
        "model": "",
        "runtime": "llama.cpp CUDA b1",
        "date": "2026-11-03",
        "measured": 10.0,
        "predicted": 11.0,
        "below": math.log(2) / 2,
        "above": math.log(2) / 2,
        "source": "",
    }
    return AccuracyPoint(**{**base, **values})


def test_a_score_by_hand() -> None:
    # Errors of 10, 30 and 50 %; the last lies outside 3.5 to 7.1 tokens/s.
    points = [point(), point(predicted=13.0), point(predicted=5.0), point(scored=False)]
    other = [point(runtime="vLLM 0.27.0", date="2026"), point(date="", runtime="a new one")]
    first, *others = month_scores([*points, *other], commit="c", day="d", constants="k")
    assert first.group == (watched.OTHER, "In the GPU", watched.UNDATED)
    by_group = {each.group: each for each in others}
    of_llama_cpp = by_group[GROUP]
    assert of_llama_cpp.rows == 3
    assert of_llama_cpp.error == pytest.approx(0.3)
    assert of_llama_cpp.held == pytest.approx(2 / 3, abs=1e-3)
    assert of_llama_cpp.width == pytest.approx(2.0, rel=1e-3)
    assert by_group["vLLM", "In the GPU", "2026"].rows == 1


def test_kept_scores_count_the_figures_of_the_ledger() -> None:
    last = list(watched.by_commit(kept_scores()).values())[-1]
    scored = sum(point.scored for point in accuracy_points())
    assert sum(each.rows for each in last.values()) == pytest.approx(scored, rel=0.1)
    assert len(watched.by_commit(kept_scores())) <= months.KEPT


def test_the_exit_code_is_the_alarm(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "month_scores.csv"
    monkeypatch.setattr(months, "TABLE", table)
    now = [score(commit="bbbbbbbb", error=0.1)]
    monkeypatch.setattr(months, "present", lambda *_: iter(now))
    table.write_text(months.table([score(error=0.1)]))
    assert months.main([]) == 0
    assert "No group got worse." in capsys.readouterr().out
    table.write_text(months.table([score(error=0.05)]))
    assert months.main(["--write"]) == 1
    told = capsys.readouterr().out
    assert "- llama.cpp, In the GPU, 2026-11: error 5.0 % to 10.0 %." in told
    assert "| llama.cpp | In the GPU | 2026-11 | 20 | 5.0 % | 10.0 % | 80 % to 80 % |" in told
    kept = watched.by_commit(read(table, MonthScore))
    assert list(kept) == ["aaaaaaaa", "bbbbbbbb"]
    assert months.main([]) == 1  # it stays an alarm until the figures are better


def test_a_commit_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert months.main(["no-such-commit"]) == 2
    assert "git log" in capsys.readouterr().err
