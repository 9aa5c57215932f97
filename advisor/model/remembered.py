"""Answers of other computers, remembered so that they are not asked at each change; failures last a
minute.

An answer is looked up without waiting for anybody: only the dictionary has a lock, never the
question, so that a computer that hangs holds up those alone who ask it.
"""

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from advisor.errors import AdvisorError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer(Generic[T]):
    value: T | None  # answer; None for a failure
    error: AdvisorError | None  # failure; None for an answer
    until: float  # time of `time.monotonic` at which it is asked again [s]


class Remembered(Generic[T]):
    """Last answers, by their questions."""

    def __init__(self, most: int, seconds: float, seconds_of_failures: float) -> None:
        self.most = most
        self.seconds = seconds
        self.seconds_of_failures = seconds_of_failures
        self._answers: dict[Hashable, _Answer[T]] = {}
        self._lock = threading.Lock()

    def answer(self, key: Hashable, ask: Callable[[], T]) -> T:
        """Answer to a question, which is asked where no answer is remembered; raises what `ask`
        raises.
        """
        with self._lock:
            known = self._answers.get(key)
        if known is None or known.until < time.monotonic():
            known = self._asked(ask)
            with self._lock:
                self._answers.pop(key, None)
                self._answers[key] = known
                for oldest in list(self._answers)[: -self.most]:
                    del self._answers[oldest]
        if known.error is not None:
            raise known.error.with_traceback(None)
        return known.value  # type: ignore[return-value]  # an answer, as there is no failure

    def _asked(self, ask: Callable[[], T]) -> _Answer[T]:
        try:
            value = ask()
        except AdvisorError as error:
            until = time.monotonic() + self.seconds_of_failures
            return _Answer(value=None, error=error, until=until)
        return _Answer(value=value, error=None, until=time.monotonic() + self.seconds)

    def clear(self) -> None:
        """Drop all answers, so that each question is put again."""
        with self._lock:
            self._answers.clear()

    def forget(self, key: Hashable) -> None:
        """Drop an answer, so that its question is put again."""
        with self._lock:
            self._answers.pop(key, None)
