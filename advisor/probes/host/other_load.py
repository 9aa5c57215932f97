"""Processor time taken by other programs during a measurement."""

import os

import psutil

from advisor.probes.system import operating_system


class Neighbours:
    """Processor time of other programs since this object was created.

    The program itself and its ended child processes do not count.
    """

    def __init__(self) -> None:
        self._all, self._idle, self._own = _times()

    def share(self) -> float:
        """Share of all processors' time taken by others, stolen time of virtual machines included.

        0 on Windows, which does not report the time of ended processes.
        """
        if operating_system() == "win32":
            return 0.0
        everything, idle, own = _times()
        taken = (everything - self._all) - (idle - self._idle) - (own - self._own)
        return min(max(taken / max(everything - self._all, 1e-9), 0.0), 1.0)

    def note(self, least: float) -> str:
        """A warning where others took more than the share `least`; else empty."""
        share = self.share()
        if share <= least:
            return ""
        return f"Other programs took {share:.0%} of the processor meanwhile; repeat it at rest."


def _times() -> tuple[float, float, float]:
    """Processor times: total, idle, and own with ended child processes [s]."""
    seen, own = psutil.cpu_times(), os.times()
    # Time of guests is counted in `user` and `nice` already.
    everything = sum(seen) - getattr(seen, "guest", 0.0) - getattr(seen, "guest_nice", 0.0)
    idle = seen.idle + getattr(seen, "iowait", 0.0)
    used = own.user + own.system + own.children_user + own.children_system
    return everything, idle, used
