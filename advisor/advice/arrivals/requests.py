"""Requests: their arrival times and lengths."""

from dataclasses import dataclass

import numpy as np

from advisor.model.model import Floats

SEED = 20261122
"""Seed of the random requests, fixed so that an answer can be repeated."""


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Distribution of prompt and reply lengths.

    Attributes:
        prompt: mean tokens sent [tokens].
        output: mean tokens generated [tokens].
        spread: standard deviation over mean of both; 0 for equal lengths.
        cached_share: share of each prompt whose keys and values are in the cache already, 0 to 1.
    """

    prompt: float
    output: float
    spread: float = 0.0
    cached_share: float = 0.0

    def drawn(self, count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Random lengths of prompts and replies, at least one token each, shape (count,)."""
        return (
            _around(self.prompt, self.spread, count, generator),
            _around(self.output, self.spread, count, generator),
        )


def _around(mean: float, spread: float, count: int, generator: np.random.Generator) -> Floats:
    """Log-normal lengths: sigma^2 = ln(1 + spread^2), mu = ln(mean) - sigma^2 / 2."""
    sigma = np.sqrt(np.log1p(spread**2))
    drawn = mean * np.exp(sigma * generator.standard_normal(count) - sigma**2 / 2.0)
    return np.asarray(np.maximum(np.round(drawn), 1.0))


@dataclass(frozen=True, kw_only=True)
class Requests:
    """A load on a server; arrays have shape (requests,).

    Attributes:
        arrivals: times of arrival [s]; NaN for requests that a user sends after the last reply.
        prompts: tokens of the prompts [tokens].
        outputs: tokens of the replies [tokens].
        cached: part of each prompt whose keys and values are in the cache already [tokens].
    """

    arrivals: Floats
    prompts: Floats
    outputs: Floats
    cached: Floats | float = 0.0


def at_random(per_second: float, count: int, lengths: Lengths) -> Requests:
    """Requests at random times, a Poisson process with a rate in requests per second."""
    generator = np.random.default_rng(SEED)
    gaps = generator.exponential(1.0 / per_second, count)
    prompts, outputs = lengths.drawn(count, generator)
    cached = np.floor(lengths.cached_share * prompts)
    return Requests(arrivals=np.cumsum(gaps), prompts=prompts, outputs=outputs, cached=cached)


def of_users(users: int, count: int, lengths: Lengths) -> Requests:
    """Requests of users who start together and each send the next one after a complete reply.

    Args:
        users: number of users.
        count: number of requests of all users.
        lengths: distribution of lengths.
    """
    generator = np.random.default_rng(SEED)
    prompts, outputs = lengths.drawn(count, generator)
    arrivals = np.full(count, np.nan)
    arrivals[:users] = 0.0
    cached = np.floor(lengths.cached_share * prompts)
    return Requests(arrivals=arrivals, prompts=prompts, outputs=outputs, cached=cached)
