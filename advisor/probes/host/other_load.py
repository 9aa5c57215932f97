"""How much of the processor other programs took while something was measured."""

import os

import psutil

from advisor.probes.system import operating_system


class Neighbours:
    """Watches from its making on; the program itself and processes it ended do not count."""

    def __init__(self) -> None:
        self._all, self._idle, self._own = _times()

    def share(self) -> float:
        """Part of all processors' time that others took, stolen time of virtual ones with it.

        0 where the system does not tell what ended processes used.
        """
        if operating_system() == "win32":
            return 0.0
        everything, idle, own = _times()
        taken = (everything - self._all) - (idle - self._idle) - (own - self._own)
        return min(max(taken / max(everything - self._all, 1e-9), 0.0), 1.0)

    def note(self, least: float) -> str:
        """A sentence where others took more than `least`, else nothing."""
        share = self.share()
        if share <= least:
            return ""
        return f"Other programs took {share:.0%} of the processor meanwhile; repeat it at rest."


def _times() -> tuple[float, float, float]:
    """Seconds of all processors: in all, idle, and of this program with its ended processes."""
    seen, own = psutil.cpu_times(), os.times()
    # Time of guests is counted in `user` and `nice` already.
    everything = sum(seen) - getattr(seen, "guest", 0.0) - getattr(seen, "guest_nice", 0.0)
    idle = seen.idle + getattr(seen, "iowait", 0.0)
    used = own.user + own.system + own.children_user + own.children_system
    return everything, idle, used
