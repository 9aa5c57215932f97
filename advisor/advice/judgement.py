"""Speed words: how a speed compares with reading."""

from enum import StrEnum

from advisor.advice.speeds import Speed
from advisor.advice.table.choice import FASTER
from advisor.cost_model.placement import PlacementStrategy
from advisor.runtimes import named

SLOWER = 1.0 / 3.0
LEAST = 0.5
"""Ends of the levels of speed: a share of reading speed, and the least for a chat [tokens/s]."""
IN_MINUTES = 2.0
"""Speed below which an answer of 250 tokens, some 180 words, takes more than two minutes, however
fast somebody reads [tokens/s]."""


MADE_FOR_DRIVES = frozenset(runtime.name for runtime in named() if runtime.in_tiers)
"""Engines that read experts from the drive by design, and were measured doing so."""


class Judgement(StrEnum):
    """Speed words, from the fastest."""

    FASTER = "faster than you read"
    KEEPS_UP = "keeps up with reading"
    SLOWER = "slower than you read"
    MINUTES = "minutes per answer"
    THINKS = "thinks for long first"
    DRIVE = "does not fit in memory"
    UNUSABLE = "not usable for chat"
    NOTHING = "does not run here"

    @property
    def enough(self) -> bool:
        """Whether a speed keeps up with a reader."""
        return self in (Judgement.FASTER, Judgement.KEEPS_UP)


def judgement(decode: float | None, reading_tps: float) -> Judgement:
    """Words for a speed as it is shown, with two digits; None where nothing runs [tokens/s].

    From 4 r faster, r to 4 r keeps up, r / 3 or 2 tokens/s to r slower, 0.5 to that minutes.
    """
    if decode is None:
        return Judgement.NOTHING
    decode = float(f"{decode:.1e}")
    if decode >= FASTER * reading_tps:
        return Judgement.FASTER
    if decode >= reading_tps:
        return Judgement.KEEPS_UP
    if decode < LEAST:
        return Judgement.UNUSABLE
    if decode >= min(SLOWER * reading_tps, IN_MINUTES):
        return Judgement.SLOWER
    return Judgement.MINUTES


def judged(speed: Speed | None, reading_tps: float) -> Judgement:
    """Speed words of a speed in its placement; None where nothing runs."""
    if speed is None:
        return judgement(None, reading_tps)
    return placed(speed.decode, speed.strategy, speed.runtime, reading_tps)


def placed(
    decode: float, strategy: PlacementStrategy, runtime: str, reading_tps: float
) -> Judgement:
    """Words for the speed of a placement; a model on the drive is never called fast in an engine
    that is not made for that.
    """
    if strategy is PlacementStrategy.NVME_OFFLOAD and runtime not in MADE_FOR_DRIVES:
        return Judgement.DRIVE
    return judgement(decode, reading_tps)
