"""Deadline of an exchange with another computer, which ends in time even without an answer.

Time limits of sockets are for each piece, so that one who sends a byte now and then is waited for
without end, and looking up a name has none at all. Here the caller stops waiting at the deadline;
the exchange goes on in a thread of its own, of which there are few, until its socket ends it.
"""

import contextvars
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
MOST = 32  # exchanges at a time, those included that nobody waits for any more
_FREE = threading.BoundedSemaphore(MOST)


class Late(Exception):
    """Error: the deadline passed, or too many exchanges wait already; callers say it in their own
    words.
    """


def within(seconds: float, act: Callable[[], T]) -> T:
    """Value of an action, which runs in a thread.

    Raises:
        Late: it has none after that time [s].
        Exception: whatever the action raises.
    """
    free = _FREE
    if not free.acquire(blocking=False):
        raise Late
    told: dict[str, Any] = {}
    done = threading.Event()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            told["value"] = context.run(act)
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            told["error"] = error
        finally:
            free.release()
            done.set()

    threading.Thread(target=run, daemon=True, name="exchange").start()
    if not done.wait(seconds):
        raise Late
    if "error" in told:
        raise told["error"]
    value: T = told["value"]
    return value
