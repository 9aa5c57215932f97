"""Measurement: the record that probes return and calibration stores."""

from dataclasses import dataclass

UNSTEADY = 0.25
"""Spread from which other programs probably disturbed a measurement."""


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """One point of a measured curve.

    Attributes:
        threads: reading threads; for a drive the queue depth.
        block: size of one read or copy; 0 where there are no blocks [B].
        value: median of the repeats, in the measurement's unit.
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
        value: measured value in `unit`.
        unit: SI unit, "B/s" for rates, "B" for sizes; "generation" and "lanes" of a PCIe link.
        spread: half the range of the repeats over their median, 0.03 for 3 %.
        threads: threads at the best value.
        when: ISO 8601 time in UTC.
        note: method, number of repeats and remarks.
        curve: all measured points, in drawing order.
    """

    name: str
    value: float
    unit: str
    spread: float
    threads: int
    when: str
    note: str = ""
    curve: tuple[CurvePoint, ...] = ()
