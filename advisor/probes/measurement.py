"""Measurements, the record that probes return, from repeated readings of a rate."""

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from advisor.catalog.csv_tables import texts
from advisor.failures import ProbeError
from advisor.units import GB, KIB, MIB

# Measurement: the record that probes return and calibration stores.

UNSTEADY = 0.25  # spread from which other programs probably disturbed a measurement
USELESS = 0.5  # spread from which a measurement says nothing of a machine, and is not saved


@dataclass(frozen=True, kw_only=True)
class CurvePoint:
    """Point of a measured curve."""

    threads: int  # reading threads; for a drive the queue depth
    block: int  # size of one read or copy; 0 where there are no blocks [B]
    value: float  # median of the repeats, in the measurement's unit
    best: float  # fastest repeat, in the same unit


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Measured value with unit, spread, time and curve."""

    name: str  # `ram_read`, `disk_read_direct`, `disk_read_mmap`, `h2d_pinned`, ..
    value: float  # measured value in `unit`
    unit: str  # SI unit, "B/s" for rates, "B" for sizes; "generation" and "lanes" of a PCIe link
    spread: float  # half the range of the repeats over their median, 0.03 for 3 %
    threads: int  # threads at the best value
    when: str  # ISO 8601 time in UTC
    note: str = ""  # method, number of repeats and remarks
    curve: tuple[CurvePoint, ...] = ()  # all measured points, in drawing order


# Progress and cancellation of probes.
#
# Every probe is called as `measure(seconds, progress, cancelled)`. Between repeats it reports a
# `ProbeStep` and checks for cancellation; unfinished measurements are not returned.


@dataclass(frozen=True, kw_only=True)
class ProbeStep:
    """Progress of a probe."""

    share: float  # finished share, 0 to 1
    seconds_left: float  # estimated remaining time [s]
    doing: str = ""  # current activity in a few words; may be empty


Progress: TypeAlias = Callable[[ProbeStep], None]  # receiver of a probe's progress
Cancelled: TypeAlias = Callable[[], bool]  # check between repeats; true stops the probe


def now() -> float:
    """Monotonic clock of all probes [s]."""
    return time.perf_counter()


@dataclass(frozen=True, kw_only=True)
class Watch:
    """Stretch of a probe's progress bar, with its stop button."""

    progress: Progress | None = None  # receiver of the progress; None for none
    cancelled: Cancelled | None = None  # check for cancellation; None for none
    seconds: float = 0.0  # planned time of the whole probe [s]
    start: float = 0.0  # start of this stretch, 0 to 1
    end: float = 1.0  # end of this stretch, 0 to 1
    doing: str = ""  # activity in this stretch
    began: float = field(default_factory=lambda: now())  # start time of the whole probe [s]

    def stop(self, share: float) -> bool:
        """Report the finished share of this stretch, and return whether to stop."""
        if self.progress is not None:
            done = self.start + (self.end - self.start) * min(1.0, share)
            self.progress(ProbeStep(share=done, seconds_left=self._left(done), doing=self.doing))
        return self.cancelled is not None and self.cancelled()

    def stretch(self, part: int, parts: int, doing: str = "") -> "Watch":
        """Watch over one of several equal parts of the work."""
        return self.between(part / parts, (part + 1) / parts, doing)

    def between(self, low: float, high: float, doing: str = "") -> "Watch":
        """Watch over the work between two shares of it."""
        size = self.end - self.start
        return replace(
            self,
            start=self.start + low * size,
            end=self.start + high * size,
            doing=doing or self.doing,
        )

    def _left(self, done: float) -> float:
        """Remaining share of the planned time, or of the elapsed time where that is longer [s]."""
        return (1 - done) * max(self.seconds, now() - self.began)


LEAST_REPEATS = 3


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Rates at one thread count and block size."""

    threads: int = 1  # reading threads
    block: int = 0  # size of one read or copy; 0 where there are no blocks [B]
    rates: tuple[float, ...]  # rate of each repeat, at least one [B/s]

    @property
    def median(self) -> float:
        """Median of the repeats [B/s]."""
        return statistics.median(self.rates)

    @property
    def spread(self) -> float:
        """Half the range over the median; 0.03 for 3 %."""
        if self.median:
            return (max(self.rates) - min(self.rates)) / (2 * self.median)
        return 0.0


def repeated(rate: Callable[[], float], seconds: float, watch: Watch) -> tuple[float, ...]:
    """Rates of repeated readings until the time is up, at least three; empty when stopped [B/s]."""
    started = now()
    rates: list[float] = []
    while len(rates) < LEAST_REPEATS or now() < started + seconds:
        if watch.stop((now() - started) / seconds if seconds else 0.0):
            return ()
        rates.append(rate())
    return tuple(rates)


class Series(NamedTuple):
    """Rate to measure at several points."""

    name: str  # as `Measurement.name`
    note: str  # how it is measured, a sentence
    share: float  # of the probe's time, beside those of the other series
    points: Sequence[tuple[int, int]]  # block sizes [B] and thread counts, most important first
    reader: Callable[[int, int, float], AbstractContextManager[Callable[[], float]]]
    """Reads once at a point and tells the rate [B/s]; the third value is the time for all repeats
    there [s]."""
    doing: str  # words for the progress bar, with {block} and {threads}


def measured(series: Iterable[Series], seconds: float, watch: Watch) -> tuple[Measurement, ...]:
    """Measurements of all series that this machine allows, and problems; empty when stopped."""
    measurements: list[Measurement] = []
    troubles: list[str] = []
    every = list(series)
    done = 0.0
    for each in every:
        share = each.share / sum(other.share for other in every)
        part = watch.between(done, done + share)
        done += share
        try:
            curve = _curve(each, seconds * share, part)
        except ProbeError as error:
            troubles.append(str(error))
            continue
        if not curve:
            return ()
        measurements.append(measurement(each.name, curve, each.note))
    watch.stop(1.0)
    return with_troubles(measurements, troubles)


def _curve(series: Series, seconds: float, watch: Watch) -> list[Repeats]:
    """Repeats at as many points as the time allows, at least the first; empty when stopped."""
    until = now() + seconds
    curve: list[Repeats] = []
    for part, (block, threads) in enumerate(series.points):
        left = max(until - now(), 0.0)
        if curve and not left:
            break
        share = left / (len(series.points) - part)
        doing = series.doing.format(block=size(block), threads=threads)
        with series.reader(block, threads, share) as rate:
            rates = repeated(rate, share, watch.stretch(part, len(series.points), doing))
        if not rates:
            return []
        curve.append(Repeats(threads=threads, block=block, rates=rates))
    return curve


def within_free(
    need: str, free: float, share: float, least: int, wanted: float, kind: str = "memory"
) -> int:
    """Size of the memory to use: the wanted one, at most a share of what is free [B]; raises
    ProbeError below `least`.
    """
    most = int(free * share)
    if most < least:
        raise ProbeError(
            f"{need} {least / share / MIB:.0f} MB of free {kind} and {free / MIB:.0f} MB is "
            "free; close other programs and try again."
        )
    return int(min(most, wanted))


def measurement(name: str, curve: Sequence[Repeats], note: str) -> Measurement:
    """Measurement with the best median of a curve.

    The median and not the fastest repeat, because decoding has the same disturbances.
    """
    best = max(curve, key=lambda repeats: repeats.median)
    ordered = sorted(curve, key=lambda repeats: (repeats.block, repeats.threads))
    repeats = sum(len(point.rates) for point in curve)
    fastest = max(best.rates)
    return Measurement(
        name=name,
        value=best.median,
        unit="B/s",
        spread=best.spread,
        threads=best.threads,
        when=moment(),
        note=f"{note} {_curve_words(ordered)}; best of {repeats} repeats {fastest / GB:.3g}.",
        curve=tuple(
            CurvePoint(
                threads=point.threads, block=point.block, value=point.median, best=max(point.rates)
            )
            for point in ordered
        ),
    )


def setting(name: str, value: float, unit: str, note: str) -> Measurement:
    """Measurement of a figure that the system states, such as the lanes of a link."""
    when = moment()
    return Measurement(
        name=name, value=float(value), unit=unit, spread=0.0, threads=1, when=when, note=note
    )


def with_troubles(
    measurements: Sequence[Measurement], troubles: Sequence[str]
) -> tuple[Measurement, ...]:
    """Measurements, the first with a note on what failed; raises ProbeError where there is none."""
    if not measurements:
        raise ProbeError(" ".join(dict.fromkeys(troubles)))
    first, *others = measurements
    return (replace(first, note=" ".join((first.note, *troubles))), *others)


def moment() -> str:
    """Current time as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def size(block: int) -> str:
    """Size of a block in words: 256 KB, 4 MB."""
    if block >= MIB:
        return f"{block / MIB:.0f} MB"
    return f"{block / KIB:.0f} KB"


def _curve_words(ordered: Sequence[Repeats]) -> str:
    """Curve in words, by what differs along it."""
    if len(ordered) == 1:
        return f"Median {ordered[0].median / GB:.3g} GB/s"
    by_block = len({repeats.block for repeats in ordered}) > 1
    by_threads = len({repeats.threads for repeats in ordered}) > 1
    what = " x ".join(["block"] * by_block + ["threads"] * by_threads)
    medians = ", ".join(
        " x ".join([size(repeats.block)] * by_block + [str(repeats.threads)] * by_threads)
        + f": {repeats.median / GB:.3g}"
        for repeats in ordered
    )
    return f"Median by {what}: {medians} GB/s"


# Display names.

ENGINE = "engine_"  # beginning of the figures of llama.cpp
ENGINE_NAMES = {"read": "{} weights", "plain": "{} as stored", "prompt": "prompt in {}"}
"""Figures of llama.cpp for one storage type or format."""


def title(name: str) -> str:
    """Display name of a measured figure."""
    titles = texts("pages/measured_figures.csv", "figure", "title")
    base, _, index = name.partition("_gpu")
    if index.isdigit() and base in titles:
        return f"{titles[base]} {int(index) + 1}"
    if name.startswith("ram_read_node"):
        return f"RAM of node {name.removeprefix('ram_read_node')}"
    if name.startswith(ENGINE):
        return f"llama.cpp, {_engine(name.removeprefix(ENGINE))}"
    return titles.get(name, name.replace("_", " "))


def _engine(name: str) -> str:
    """Display name of a llama.cpp figure, with storage types as files spell them."""
    what, _, kind = name.partition("_")
    if what in ENGINE_NAMES and kind:
        return ENGINE_NAMES[what].format(kind.upper())
    if what == "attention" and kind:
        size, _, sharing = kind.partition("_")
        return f"attention, heads of {size}, {sharing} to a key"
    if name.endswith("layer"):
        return f"each {name.replace('_', ' ')}"
    return name.replace("_", " ")
