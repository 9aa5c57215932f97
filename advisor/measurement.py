"""One measured figure, as probes report it and calibration keeps it."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What a probe found.

    Attributes:
        name: `ram_read`, `disk_read_direct`, `disk_read_mmap`, `h2d_pinned`, ...
        value: in `unit`.
        unit: SI, "B/s" for rates.
        spread: half the range of the repeats over their median, 0.03 for 3 %.
        threads: threads that read at the best value.
        when: ISO time in UTC.
        note: what was read, how often, what to know about it.
    """

    name: str
    value: float
    unit: str
    spread: float
    threads: int
    when: str
    note: str = ""
