"""Repeated readings of a rate, and the measurement made from them."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from advisor.probes import progress
from advisor.probes.measurement import CurvePoint, Measurement
from advisor.probes.progress import Watch
from advisor.units import GB, KIB, MIB

LEAST_REPEATS = 3


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Rates at one thread count and block size.

    Attributes:
        threads: reading threads.
        block: size of one read or copy; 0 where there are no blocks [B].
        rates: rate of each repeat, at least one [B/s].
    """

    threads: int = 1
    block: int = 0
    rates: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median of the repeats [B/s]."""
        return statistics.median(self.rates)

    @property
    def spread(self) -> float:
        """Half the range over the median; 0.03 for 3 %."""
        return (max(self.rates) - min(self.rates)) / (2 * self.median) if self.median else 0.0


def repeated(rate: Callable[[], float], seconds: float, watch: Watch) -> tuple[float, ...]:
    """Rates of repeated readings until the time is up, at least three [B/s].

    Args:
        rate: function that reads once and returns the rate [B/s].
        seconds: time for all repeats [s].
        watch: progress and stop button.

    Returns:
        One rate per repeat; empty when stopped.
    """
    started = progress.now()
    rates: list[float] = []
    while len(rates) < LEAST_REPEATS or progress.now() < started + seconds:
        if watch.stop((progress.now() - started) / seconds if seconds else 0.0):
            return ()
        rates.append(rate())
    return tuple(rates)


def measurement(name: str, curve: Sequence[Repeats], note: str) -> Measurement:
    """Measurement with the best median of a curve.

    The median and not the fastest repeat, because decoding has the same disturbances.

    Args:
        name: as `Measurement.name`.
        curve: points, at least one.
        note: method.
    """
    best = max(curve, key=lambda repeats: repeats.median)
    ordered = sorted(curve, key=lambda repeats: (repeats.block, repeats.threads))
    return Measurement(
        name=name,
        value=best.median,
        unit="B/s",
        spread=best.spread,
        threads=best.threads,
        when=moment(),
        note=f"{note} {_curve_words(ordered)}; best repeat {max(best.rates) / GB:.3g}.",
        curve=tuple(
            CurvePoint(
                threads=point.threads, block=point.block, value=point.median, best=max(point.rates)
            )
            for point in ordered
        ),
    )


def moment() -> str:
    """Current time as ISO 8601 text in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def size(block: int) -> str:
    """Size of a block in words: 256 KiB, 4 MiB."""
    return f"{block / MIB:.0f} MiB" if block >= MIB else f"{block / KIB:.0f} KiB"


def _curve_words(ordered: Sequence[Repeats]) -> str:
    """The curve in words, by what differs along it."""
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
