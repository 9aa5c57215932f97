"""Known run: a speed that somebody knows of a machine, beside what was predicted for it."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class KnownRun:
    """Speed that somebody knows of a machine.

    What was timed is told by plain values, so that a machine carries it everywhere: another
    question on the same machine learns of the parts that take its time, too.
    """

    words: str  # model, format and speed in words
    measured: float  # measured speed [tokens/s]
    predicted: float  # speed that was predicted without any known run [tokens/s]
    shares: tuple[tuple[str, float], ...]  # share of the time by route and fixed cost
    prompt: bool  # whether a prompt was timed, else a token
    family: str  # family of its engine, as `chance.TimedRun` has it
    engine: str  # name of the engine, and its fork
    format: str  # format of the weights
    experts: bool  # whether the model has routed experts
    model: str  # name of the model
    users: float = 1.0  # sequences that were answered together
    length: float = 0.0  # context of the token, or length of the prompt [tokens]
    scale: float = 1.0  # factor on the standard deviation of its time
    cards: tuple[str, ...] = ()  # names of its kinds of GPUs
    host: str = ""  # name of the processor

    @property
    def slower(self) -> float:
        """log(measured time / predicted time)."""
        return math.log(self.predicted / self.measured)
