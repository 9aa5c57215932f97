"""Timings of samples in turns with a reference sample, freed of the machine's drift.

The speed of a shared or warming machine changes within a minute. The reference is timed between the
other samples; how long its tokens take at each turn, beside its mean over all turns, is the
machine's pace there. Each sample's times are divided by the pace at its own turn.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from advisor.probes.llama_cpp.costs import Timed
from advisor.probes.llama_cpp.job import Timings
from advisor.probes.llama_cpp.samples import Sample

WORTH_SAYING = 0.05
"""Drift from which a note advises to repeat the probe."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One sample timed once."""

    sample: Sample  # sample
    timings: Timings  # its times
    began: float  # when it began [s]
    ended: float  # when it ended [s]

    @property
    def middle(self) -> float:
        """Time between begin and end [s]."""
        return (self.began + self.ended) / 2.0


@dataclass(frozen=True, kw_only=True)
class Steadiness:
    """How the machine's speed changed over a probe."""

    turns: int  # how many times the reference was timed
    drift: float  # half the range of its token times over their mean, 0.03 for 3 %; 0 for one turn

    @property
    def words(self) -> str:
        """Sentence for a measurement's note; empty for a single turn, which tells nothing."""
        if self.turns < 2:
            return ""
        told = f"Over {self.turns} turns the machine's speed stayed within {self.drift:.0%}"
        if self.drift < WORTH_SAYING:
            return f"{told} each way."
        return f"{told} each way, which is taken out; repeat it at rest."


def in_turns(turns: Sequence[Turn]) -> tuple[Timed, Steadiness]:
    """Samples with the times of all their turns at one pace, and how steady the machine was.

    The first sample is the reference.
    """
    if not turns:
        return {}, Steadiness(turns=0, drift=0.0)
    reference = [turn for turn in turns if turn.sample == turns[0].sample]
    seconds = [_token(turn) for turn in reference]
    mean = float(np.exp(np.mean(np.log(seconds))))
    places, paces = [turn.middle for turn in reference], np.log(seconds) - np.log(mean)
    timed: dict[tuple[str, str], tuple[Sample, Timings]] = {}
    for turn in turns:
        pace = float(np.exp(np.interp(turn.middle, places, paces)))
        even = _at_pace(turn.timings, pace)
        key = (turn.sample.role, turn.sample.kind)
        earlier = timed.get(key)
        both = even if earlier is None else _together(earlier[1], even)
        timed[key] = (turn.sample, both)
    drift = (max(seconds) - min(seconds)) / (2.0 * mean)
    return timed, Steadiness(turns=len(reference), drift=drift)


def _token(turn: Turn) -> float:
    """Median time of a token at the first depth [s]."""
    return statistics.median(turn.timings.token_seconds[turn.sample.depths[0]])


def _at_pace(timings: Timings, pace: float) -> Timings:
    """Times divided by the machine's pace, and rates multiplied by it."""
    return Timings(
        token_seconds={
            depth: tuple(time / pace for time in seconds)
            for depth, seconds in timings.token_seconds.items()
        },
        prompt_rates=tuple(rate * pace for rate in timings.prompt_rates),
    )


def _together(first: Timings, other: Timings) -> Timings:
    """Repeats of both turns."""
    return replace(
        first,
        token_seconds={
            depth: seconds + other.token_seconds[depth]
            for depth, seconds in first.token_seconds.items()
        },
        prompt_rates=first.prompt_rates + other.prompt_rates,
    )
