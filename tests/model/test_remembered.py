"""Answers that are remembered: once, for a time, and by nobody who did not ask."""

import threading
import time

import pytest

from advisor.errors import Refusal
from advisor.failures import NetworkError
from advisor.model.remembered import Remembered


def test_an_answer_is_asked_once_until_it_is_forgotten() -> None:
    asked_for: list[str] = []
    kept = Remembered[int](most=2, seconds=60, seconds_of_failures=60)

    def ask() -> int:
        asked_for.append("x")
        return len(asked_for)

    assert [kept.answer("a", ask), kept.answer("a", ask)] == [1, 1]
    kept.forget("a")
    assert kept.answer("a", ask) == 2
    assert [kept.answer(key, ask) for key in ("b", "c")] == [3, 4]
    assert kept.answer("b", ask) == 3
    assert kept.answer("a", ask) == 5, "the oldest was dropped"


def test_a_failure_is_remembered_for_its_own_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    kept = Remembered[int](most=9, seconds=900, seconds_of_failures=60)
    tries: list[int] = []

    def fails() -> int:
        tries.append(1)
        raise NetworkError("it hangs")

    for now, expected in ((0.0, 1), (59.0, 1), (61.0, 2)):  # noqa: B007 - the clock's time
        with pytest.raises(NetworkError, match="it hangs"):
            kept.answer("a", fails)
        assert len(tries) == expected
    now = 200.0
    assert kept.answer("a", lambda: 7) == 7
    now = 1000.0
    assert kept.answer("a", fails) == 7
    now = 1101.0
    with pytest.raises(NetworkError):
        kept.answer("a", fails)


def test_nobody_waits_for_another_question() -> None:
    kept = Remembered[int](most=9, seconds=60, seconds_of_failures=60)
    begun = threading.Event()
    go = threading.Event()

    def hangs() -> int:
        begun.set()
        assert go.wait(60)
        raise Refusal("none")

    def refused() -> None:
        with pytest.raises(Refusal):
            kept.answer("a", hangs)

    waiting = threading.Thread(target=refused)
    waiting.start()
    assert begun.wait(60)
    assert kept.answer("b", lambda: 3) == 3
    go.set()
    waiting.join()
