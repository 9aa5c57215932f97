"""Measurement: the record that probes return and calibration stores."""

from dataclasses import dataclass

UNSTEADY = 0.25
"""Half the range of the repeats over their median, from which other programs were at work."""


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """One point of the curve behind a figure.

    Attributes:
        threads: that read at once; for a drive its queue depth.
        block: bytes of one read or copy, 0 where blocks play no part [B].
        value: median of the repeats, in the unit of the figure.
        best: fastest repeat, in the same unit.
    """

    threads: int
    block: int
    value: float
    best: float


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One measured value with unit, spread, time and curve.

    Attributes:
        name: `ram_read`, `disk_read_direct`, `disk_read_mmap`, `h2d_pinned`, ...
        value: in `unit`.
        unit: SI, "B/s" for rates, "B" for sizes; a PCIe link has a "generation" and "lanes".
        spread: half the range of the repeats over their median, 0.03 for 3 %.
        threads: threads that read at the best value.
        when: ISO time in UTC.
        note: what was read, how often, what to know about it.
        curve: every point that was measured, in the order they are drawn.
    """

    name: str
    value: float
    unit: str
    spread: float
    threads: int
    when: str
    note: str = ""
    curve: tuple[CurvePoint, ...] = ()
