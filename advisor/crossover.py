"""Weights in RAM: read there by the processor, or streamed to the GPU; which is faster when.

In place, a token costs the time to read the weights, and from some number of tokens the time to
compute them on the processor, which grows with each. Streamed, it costs the time to carry them
over the link, however many tokens they serve. So streaming loses with few tokens and may win with
many: with more users who decode together, and with longer prompts.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from advisor.concurrency import USERS, again
from advisor.estimate import Estimate, Range
from advisor.model import Floats
from advisor.placement import Settings, Strategy
from advisor.schedule import Route

PROMPTS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
"""Lengths of the prompt that are tried, as far as the context goes [tokens]."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """The fastest of several runtimes at each point.

    Attributes:
        runtimes: which one it is, shape (points,); empty where none fits.
        speed: what all users get together, not a number where none fits, shape (points,)
            [tokens/s].
    """

    runtimes: tuple[str, ...]
    speed: Floats


@dataclass(frozen=True, kw_only=True)
class Crossover:
    """Both ways along users or prompts.

    Attributes:
        at: users or tokens of the prompt, shape (points,).
        in_place: runtimes that let the processor read the weights for a single user.
        streamed: runtimes that bring them over the link.
    """

    at: Floats
    in_place: Way
    streamed: Way

    @property
    def overtakes(self) -> float | None:
        """Where streaming becomes the faster one; None where it does not."""
        return crossing(self.at, self.in_place.speed, self.streamed.speed)

    @property
    def both(self) -> int:
        """Points at which either way fits."""
        return int(np.sum(np.isfinite(self.in_place.speed) & np.isfinite(self.streamed.speed)))


def by_users(estimates: Iterable[Estimate], settings: Settings | None = None) -> Crossover | None:
    """Tokens per second of all users together, over their number; None without either way."""
    return _sweep(estimates, USERS, _with_users, lambda one: one.decode, settings)


def by_prompt(estimates: Sequence[Estimate], settings: Settings | None = None) -> Crossover | None:
    """Prompt tokens per second, over the prompt's length; None without either way."""
    context = float(estimates[0].work.context) if estimates else 0.0
    lengths = [length for length in PROMPTS if length <= context]
    return _sweep(estimates, lengths, _with_prompt, lambda one: one.prefill, settings)


def _with_users(one: Estimate, users: int, settings: Settings | None) -> Estimate:
    return again(one, replace(one.work, users=users), settings)


def _with_prompt(one: Estimate, length: int, settings: Settings | None) -> Estimate:
    return again(one, replace(one.work, prompt=length, cached=0), settings)


def _sweep(
    estimates: Iterable[Estimate],
    at: Sequence[int],
    vary: Callable[[Estimate, int, Settings | None], Estimate],
    rate: Callable[[Estimate], Range | None],
    settings: Settings | None,
) -> Crossover | None:
    in_place, streamed = sides(estimates, settings)
    if not in_place or not streamed:
        return None

    def way(side: Sequence[Estimate]) -> Way:
        return _along(side, at, lambda one, value: vary(one, value, settings), rate)

    return Crossover(at=np.array(at, dtype=float), in_place=way(in_place), streamed=way(streamed))


def _along(
    side: Sequence[Estimate],
    at: Iterable[int],
    vary: Callable[[Estimate, int], Estimate],
    rate: Callable[[Estimate], Range | None],
) -> Way:
    """The fastest at each point; what no longer fits does not fit further on either."""
    left, names, speeds = list(side), [], []
    for value in at:
        tried = [(one, vary(one, value)) for one in left]
        left = [one for one, varied in tried if bool(varied.fits)]
        name, speed = _fastest([varied for _, varied in tried], rate)
        names.append(name)
        speeds.append(speed)
    return Way(runtimes=tuple(names), speed=np.array(speeds))


def sides(
    estimates: Iterable[Estimate], settings: Settings | None = None
) -> tuple[list[Estimate], list[Estimate]]:
    """Runtimes with weights in RAM that read them there for one user, and that stream them."""
    in_place, streamed = [], []
    for one in estimates:
        if one.strategy is not Strategy.CPU_OFFLOAD or one.placement is None:
            continue
        alone = again(one, replace(one.work, users=1), settings)
        if Route.IN_PLACE in alone.routes:
            in_place.append(one)
        elif Route.STREAMED in alone.routes:
            streamed.append(one)
    return in_place, streamed


def _fastest(
    tried: Iterable[Estimate], rate: Callable[[Estimate], Range | None]
) -> tuple[str, float]:
    """Name and speed of the fastest that fits, all users together [tokens/s]."""
    found = [(one.runtime, _together(one, rate(one))) for one in tried if bool(one.fits)]
    return max(found, key=lambda pair: pair[1], default=("", math.nan))


def _together(one: Estimate, figure: Range | None) -> float:
    """A prompt's speed counts all users already, a token's each of them."""
    if figure is None:
        return 0.0
    return float(figure.value) * (1.0 if figure is one.prefill else float(one.work.users))


def crossing(at: Floats, first: Floats, second: Floats) -> float | None:
    """Where the second line comes to lie above the first for good, between points by logarithms.

    Both are taken to be powers of what is varied between two points: log(second / first) is then
    straight in log(at), and zero where they meet.

    Args:
        at: what is varied, positive and rising, shape (points,).
        first: one line, not a number where it ends.
        second: another.

    Returns:
        The first point where the second is ahead from the start, a place between two points where
        it gets ahead, or None where it is not ahead at the last point that both have.
    """
    there = np.isfinite(first) & np.isfinite(second)
    if not np.any(there):
        return None
    points, ahead = np.asarray(at)[there], np.log(second[there] / first[there])
    if ahead[-1] <= 0:
        return None
    behind = np.flatnonzero(ahead <= 0)
    if not behind.size:
        return float(points[0])
    before = behind[-1]
    share = -ahead[before] / (ahead[before + 1] - ahead[before])
    low, high = np.log(points[before]), np.log(points[before + 1])
    return float(np.exp(low + share * (high - low)))
