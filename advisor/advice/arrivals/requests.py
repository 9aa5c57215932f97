"""Requests: their arrival times and lengths."""

from dataclasses import dataclass

import numpy as np

from advisor.cost_model.estimate import Estimate
from advisor.model.model import Floats, Model

# Work of the processor in a server: taking in a request, and starting kernels one by one.
#
# Neither depends on the GPU. A first token waits for the former; steps without CUDA graphs take at
# least the latter.

TAKING_IN = 10.6e-3
"""Time from a request to its prompt's pass: tokenizing, and messages between processes [s]. First
token of Qwen2.5-0.5B (24 layers) to one user, less the time of two tokens, for the passes over
prompt and first token: 16.46 - 2 x 1.89 ms in SGLang 0.5.6 on an A100, 11.24 - 2 x 1.83 ms in vLLM
0.20.1 on an A100, 22.5 - 2 x 5.11 ms in vLLM 0.19.1 on an RTX 5090; their geometric mean
(github.com/FreedomIntelligence/AccelMark, suite F, interactive, 2026-04 to 2026-05). Plausible: 5
to 30 ms, by the processor."""
KERNEL_STARTS = 0.57e-3
"""Time in which Python starts a layer's kernels where no CUDA graph holds them [s]. GPT-2 (12
layers) on an H200, with 32 tokens in 154.1 ms in vLLM and 156.0 ms in SGLang: 0.40 ms
(github.com/deepspeedai/DeepSpeed/pull/8352, 2026-09-22); Qwen2.5-Omni-7B (28 layers) on an A800, 22
to 23 ms a token: 0.80 ms (github.com/vllm-project/vllm-omni/issues/7960, 2026-09-22); their
geometric mean. Plausible: 0.2 to 1 ms, by the processor."""


def step_without_graphs(model: Model) -> float:
    """Shortest step of an engine that starts every kernel anew [s]."""
    return KERNEL_STARTS * model.layers


# Time to the first token when several users ask at the same time.
#
# Users whose cache fits are served together: their prompts are read one after another, then all
# get tokens. The others wait until a reply is complete and take its place.


def first_token_times(estimate: Estimate) -> Floats:
    """Time to the first token of each user, in the order of service, shape (users,) [s].

    t_i = floor(i / R) t_reply + (i mod R + 1) / R t_prompts

    R users run together, t_prompts reads the prompts of all of them, t_reply is a whole reply.
    """
    if estimate.first_token is None:
        return np.array([np.nan])
    running = max(round(float(estimate.work.users)), 1)
    users = running + round(float(estimate.waiting))
    order = np.arange(users)
    prompts = float(estimate.first_token.value)
    turns = order // running * float(estimate.reply)
    return np.asarray(turns + (order % running + 1) / running * prompts, dtype=float)


def first_token_within(estimate: Estimate, share: float) -> float:
    """Time within which a share of the users have their first token [s].

    Args:
        estimate: estimate that fits.
        share: share of the users, 0 to 1.
    """
    return float(np.quantile(first_token_times(estimate), share, method="inverted_cdf"))


SEED = 20261122
"""Seed of the random requests, fixed so that an answer can be repeated."""


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Distribution of prompt and reply lengths."""

    prompt: float  # mean tokens sent [tokens]
    output: float  # mean tokens generated [tokens]
    spread: float = 0.0  # standard deviation over mean of both; 0 for equal lengths
    # share of each prompt whose keys and values are in the cache already, 0 to 1
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
    """A load on a server; arrays have shape (requests,)."""

    # times of arrival [s]; NaN for requests that a user sends after the last reply
    arrivals: Floats
    prompts: Floats  # tokens of the prompts [tokens]
    outputs: Floats  # tokens of the replies [tokens]
    # part of each prompt whose keys and values are in the cache already [tokens]
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
