"""Watching: what a running server reaches, beside what it should reach.

An alarm is a speed as far below its range as hardly a published run of its kind is (`slowest`), so
that at most two sound servers in a hundred raise it (`python -m benchmarks.watching`). What the
server tells of its file, context and users rules causes out; what this machine tells of its process
makes others likelier or unlikelier (`observations`).
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from advisor.advice.compare import estimates_of
from advisor.advice.diagnosis.diagnose import Diagnosis, Measured, diagnose, distance, likeliest
from advisor.advice.diagnosis.observations import Evidence, served_format
from advisor.catalog.accuracy_points import accuracy_points
from advisor.catalog.inputs import BY_NAME
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import context_size
from advisor.probes.server import ServerReading
from advisor.probes.server_process import ProcessReading
from advisor.request.request import Request

SLOWEST = 0.005
"""Share of published runs that are slower than what raises an alarm; a server has two speeds."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "resident": ("resident, dense", "resident, experts"),
    "in RAM": (
        "CPU alone", "CPU alone, RAM stated", "experts in RAM", "experts in RAM, RAM stated",
        "dense split",
    ),
    "prompt, resident": ("prompt, resident",),
    "prompt, in RAM": ("prompt, CPU alone", "prompt, experts in RAM", "prompt, dense split"),
    "engine": ("serving engines",),
    "prompt, engine": ("serving engines, first token",),
}  # fmt: skip
"""Regimes of the published runs that a server's speed is judged by."""
KNOWN = frozenset({"whole_reply", "all_users", "other_requests", "empty_context"})
"""Causes that a server's own counters and number of users leave no room for."""
OF_CONTEXT = frozenset({"more_context"})
LEAST_TOKENS = 200
"""Generated tokens from which a speed is judged [tokens]."""
LEAST_PROMPT = 1000
"""Prompt tokens from which a prompt's speed or the cache's hits are judged [tokens]."""
WHOLE = 0.98
"""Share of a model in GPU memory that counts as all."""
SELDOM = 0.02
"""Share of prompt tokens that a prefix cache holds, up to which it never hits."""


def expected(request: Request, reading: ServerReading) -> Estimate:
    """What a server should reach, in the format of its file and for as many users as were at work
    where the request states none.

    Raises:
        InputError: nothing that the server's runtime does fits.
    """
    request = replace(
        request,
        runtime=request.runtime or reading.server,
        format=request.format or served_format(reading),
    )
    if request.users == 1 and reading.running and reading.running > 1:
        most = BY_NAME["users"].limits or (1.0, 1.0)
        request = replace(request, users=min(round(reading.running), int(most[1])))
    return likeliest(estimates_of(request.nouns(), ()))


@dataclass(frozen=True, kw_only=True)
class Watched:
    """Judgement of a server at one time."""

    diagnosis: Diagnosis | None  # comparison of its speeds; None before enough tokens
    alarm: bool  # a speed is below the 2 % quantile of its range, or memory is not where it should
    signs: tuple[str, ...]  # what the server's own figures show, each a sentence with what helps


def watched(
    reading: ServerReading,
    estimate: Estimate,
    system: str = "",
    process: ProcessReading | None = None,
) -> Watched:
    """Judgement of what a server counted, and its process where it can be seen, beside what it
    should reach for as many users as it had at work; the system as in `diagnose`.

    Raises:
        InputError: speeds outside the limits.
    """
    no_longer = reading.context is not None and not _longer(reading, estimate)
    measured = speeds(reading, KNOWN | OF_CONTEXT if no_longer else KNOWN)
    evidence = Evidence(process=process or ProcessReading(), reading=reading, estimate=estimate)
    if measured is not None:
        measured = replace(measured, evidence=evidence.factor, shown=evidence.shown)
    diagnosis = None if measured is None else diagnose(estimate, measured, system)
    slow = diagnosis is not None and _below(diagnosis)
    amiss = slow or _spilled(reading, estimate)
    seen = [each.words for each in evidence.observations if each.words]
    signs = (*_signs(reading, estimate), *seen)
    return Watched(diagnosis=diagnosis, alarm=amiss, signs=signs)


def _longer(reading: ServerReading, estimate: Estimate) -> bool:
    return reading.context is not None and reading.context > 1.5 * float(estimate.work.context)


def speeds(reading: ServerReading, ruled_out: frozenset[str] = frozenset()) -> Measured | None:
    """Mean speeds of a reading, with causes that are ruled out; None before enough tokens."""
    if not reading.tokens or not reading.token_seconds or reading.tokens < LEAST_TOKENS:
        return None
    prompt, length = None, None
    if reading.prompt_tokens and reading.prompt_seconds and reading.prompt_tokens >= LEAST_PROMPT:
        prompt = reading.prompt_tokens / reading.prompt_seconds
        length = reading.prompt_tokens / reading.prompts if reading.prompts else None
    decode = reading.tokens / reading.token_seconds
    return Measured(decode=decode, prompt=prompt, prompt_tokens=length, ruled_out=ruled_out)


def _below(diagnosis: Diagnosis) -> bool:
    decode, prompt = diagnosis.predicted
    measured, kind = diagnosis.measured, _kind(diagnosis.estimate)
    if distance(measured.decode, decode) < slowest()[kind]:
        return True
    read = measured.prompt
    return read is not None and distance(read, prompt) < slowest()[f"prompt, {kind}"]


def _kind(estimate: Estimate) -> str:
    if not estimate.how.takes_layers:
        return "engine"
    return "resident" if estimate.strategy is PlacementStrategy.GPU_RESIDENT else "in RAM"


@cache
def slowest() -> Mapping[str, float]:
    """Distance of the slowest published runs of each kind that were left out of the fit, in half
    widths of their ranges.
    """
    kinds = {regime: kind for kind, regimes in KINDS.items() for regime in regimes}
    off = defaultdict[str, list[float]](list)
    for point in accuracy_points():
        if point.scored and point.regime in kinds:
            away = math.log(point.measured / point.predicted)
            off[kinds[point.regime]].append(away / (point.above if away >= 0 else point.below))
    return {kind: float(np.quantile(values, SLOWEST)) for kind, values in off.items()}


def _spilled(reading: ServerReading, estimate: Estimate) -> bool:
    resident = estimate.strategy is PlacementStrategy.GPU_RESIDENT
    return resident and reading.in_gpu is not None and reading.in_gpu < WHOLE


def _signs(reading: ServerReading, estimate: Estimate) -> Iterator[str]:
    if _spilled(reading, estimate):
        share = 1.0 - (reading.in_gpu or 0.0)
        yield (
            f"{share:.0%} of the model lies in RAM, though it fits in the GPU: close what else "
            "uses the GPU, or give it a shorter context, and load it again."
        )
    if _longer(reading, estimate):
        yield (
            f"Each user has a context of {context_size(reading.context or 0.0)}, where "
            f"{context_size(float(estimate.work.context))} is expected: its cache takes memory "
            "from the weights."
        )
    if reading.preemptions:
        yield (
            f"{reading.preemptions:,.0f} users were thrown out of the cache and computed anew: "
            "allow fewer at the same time, or a shorter context."
        )
    if reading.waiting:
        yield f"{reading.waiting:,.0f} users wait in the queue now."
    queries = reading.cache_queries or 0.0
    if queries >= LEAST_PROMPT and (reading.cache_hits or 0.0) <= SELDOM * queries:
        yield (
            "The prefix cache hardly ever hits: prompts that share their beginning have to be the "
            "same to the letter there (dates and names at the end), and the cache to have room."
        )
