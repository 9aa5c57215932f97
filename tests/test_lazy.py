"""Lazy attributes: computed once, and by no object while another waits."""

import threading
from dataclasses import FrozenInstanceError, dataclass

import pytest

from advisor.lazy import lazy


@dataclass(frozen=True)
class Slow:
    """An object whose value waits for what it is given."""

    go: threading.Event
    asked_for: list[str]

    @lazy
    def value(self) -> int:
        """A number, once it may be computed."""
        self.asked_for.append("value")
        assert self.go.wait(60)
        return 3


def test_a_value_is_computed_once() -> None:
    slow = Slow(threading.Event(), [])
    slow.go.set()
    assert (slow.value, slow.value, slow.asked_for) == (3, 3, ["value"])
    assert isinstance(Slow.value, lazy)
    with pytest.raises(FrozenInstanceError):
        slow.go = threading.Event()  # type: ignore[misc]  # what is tested


def test_no_object_waits_for_another() -> None:
    hanging = Slow(threading.Event(), [])
    quick = Slow(threading.Event(), [])
    quick.go.set()
    waiting = threading.Thread(target=lambda: hanging.value)
    waiting.start()
    while not hanging.asked_for:
        pass
    assert quick.value == 3  # with a lock of the class this would wait for the other
    hanging.go.set()
    waiting.join()


def test_an_error_is_not_kept() -> None:
    @dataclass
    class Failing:
        tries: int = 0

        @lazy
        def value(self) -> int:
            self.tries += 1
            if self.tries == 1:
                raise KeyError
            return self.tries

    failing = Failing()
    with pytest.raises(KeyError):
        _ = failing.value
    assert failing.value == 2
