"""Measurement: the record that probes return and calibration stores."""

from dataclasses import dataclass

UNSTEADY = 0.25
"""Spread from which other programs probably disturbed a measurement."""


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """One point of a measured curve."""

    threads: int  # reading threads; for a drive the queue depth
    block: int  # size of one read or copy; 0 where there are no blocks [B]
    value: float  # median of the repeats, in the measurement's unit
    best: float  # fastest repeat, in the same unit


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One measured value with unit, spread, time and curve."""

    name: str  # `ram_read`, `disk_read_direct`, `disk_read_mmap`, `h2d_pinned`, ..
    value: float  # measured value in `unit`
    unit: str  # SI unit, "B/s" for rates, "B" for sizes; "generation" and "lanes" of a PCIe link
    spread: float  # half the range of the repeats over their median, 0.03 for 3 %
    threads: int  # threads at the best value
    when: str  # ISO 8601 time in UTC
    note: str = ""  # method, number of repeats and remarks
    curve: tuple[CurvePoint, ...] = ()  # all measured points, in drawing order
