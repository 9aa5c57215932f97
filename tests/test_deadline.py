"""Deadline: what does not end in time is left, and errors are those of the action."""

import threading

import pytest

from advisor import deadline
from advisor.deadline import Late, within
from advisor.permission import Permission, narrowed, permitted


def test_the_value_or_the_error_of_the_action_is_given() -> None:
    assert within(60, lambda: 3) == 3

    def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        within(60, fails)


def test_what_does_not_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    with pytest.raises(Late):
        within(0.01, ended.wait)
    ended.set()


def test_the_wait_is_as_long_as_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []

    class Noting(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            return super().wait(0)

    ended = threading.Event()
    with monkeypatch.context() as patched:
        patched.setattr(deadline.threading, "Event", Noting)
        with pytest.raises(Late):
            within(3600, ended.wait)
    ended.set()
    assert 3600 in waits


def test_few_are_waited_for_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that nobody waits for any more count, so that a server that hangs takes few threads."""
    monkeypatch.setattr(deadline, "_FREE", threading.BoundedSemaphore(2))
    ended = threading.Event()
    before = threading.active_count()
    for _ in range(10):
        with pytest.raises(Late):
            within(0.01, ended.wait)
    assert threading.active_count() <= before + 2
    ended.set()


def test_the_context_of_the_caller_holds() -> None:
    with narrowed(Permission(files=False)):
        assert not within(60, permitted).files
