"""Step times of a server as a table, computed by the cost model."""

from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.arrivals.requests import TAKING_IN, Lengths
from advisor.cost_model.drafting import weights_read, with_drafting
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.timing import schedule_seconds
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Floats
from advisor.runtimes import Runtime
from advisor.units import GIB

WIDE_MEMORY = 70 * GIB
"""GPU memory above which vLLM allows four times the tokens and sequences in a step, except on A100s
(EngineArgs.get_batch_defaults in vllm/engine/arg_utils.py, read 2026-11) [B]."""
WIDE, NARROW = (8192, 1024), (2048, 256)
"""Largest numbers of tokens and sequences in a step (`--max-num-batched-tokens`, `--max-num-seqs`),
above and below that memory."""
COUNTS = np.unique(np.round(np.geomspace(1, 1024, 25)))
"""Numbers of sequences in the table."""
CHUNKS = np.unique(np.round(np.geomspace(17, 16384, 30)))
"""Numbers of tokens of a pass in the table [tokens]."""
PIECE, BEFORE = np.array([1024.0]), 4096.0
"""Tokens of a chunk and of the prompt before it, for timing attention to earlier tokens
[tokens]."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """Step times and limits of a server, as its scheduler needs them."""

    counts: Floats  # numbers of sequences of `bare`, shape (counts,)
    bare: Floats  # time of a decoding step without its caches, shape (counts,) [s]
    chunks: Floats  # numbers of prompt tokens of `passes`, shape (chunks,) [tokens]
    passes: Floats  # time of a pass over so many prompt tokens, shape (chunks,) [s]
    cached: float  # time of a step per cached token [s/token]
    # time of a pass per pair of a token and an earlier token of its prompt [s/token^2]
    earlier: float
    budget: float  # largest number of tokens in a step [tokens]
    slots: int  # largest number of sequences served together
    room: float  # tokens that fit in all caches together [tokens]
    # whether a step can both read prompts and decode; else decoding stops meanwhile
    mixed: bool = True
    taking_in: float = 0.0  # time of the processor for a request before its prompt's pass [s]
    least: float = 0.0  # shortest step; 0 where CUDA graphs start its kernels [s]

    def time_per_token(self, users: Floats, lengths: Lengths) -> Floats:
        """Time for each token of users who each send the next request at once, shape (users,) [s].

        t(n) = t_step(n) + (n - 1) / output t_prompt: during one reply, the prompt of each other
        user is read once, without its cached part.
        """
        steps = np.interp(users, self.counts, self.bare)
        steps = steps + self.cached * users * (lengths.prompt + lengths.output / 2.0)
        return np.asarray(steps + (users - 1.0) / lengths.output * self.reading(lengths))

    def reading(self, lengths: Lengths) -> float:
        """Time of a pass over a prompt of mean length, without its cached part [s]."""
        fresh = (1.0 - lengths.cached_share) * lengths.prompt
        return float(np.interp(fresh, self.chunks, self.passes))

    def step(self, writing: int, kept: float, reading: float, before: float) -> float:
        """Time of one step [s].

        Decoded tokens join the pass over the prompts, so that weights are read once; their caches
        are read in addition.

        Args:
            writing: number of sequences that get a token.
            kept: tokens in all their caches [tokens].
            reading: prompt tokens in the step [tokens].
            before: sum over prompts of tokens in the step times earlier tokens [tokens^2].
        """
        if reading <= 0:
            bare = float(np.interp(writing, self.counts, self.bare))
        else:
            bare = float(np.interp(writing + reading, self.chunks, self.passes))
        return max(bare + self.cached * kept + self.earlier * before, self.least)


def server(estimate: Estimate) -> Server | None:
    """Server of an estimate; None where the model does not run or the runtime has no queue.

    Caches take the tokens that requests have, not the whole context.

    Args:
        estimate: estimate of a single machine, with prompt and reply of mean length.
    """
    machine, work, at_once = estimate.machine, estimate.work, estimate.how.at_once
    if machine is None or at_once is None or not np.all(estimate.fits):
        return None
    whole = float(work.prompt) + float(work.output)
    longest = replace(work, users=1.0, prompt=whole, output=1.0, cached=0.0, context=whole)
    placed = estimate.placement
    settings = Settings(attention_by_user=placed is not None and placed.attention_by_user)
    fitting = float(at_once(estimate.model, machine, longest, settings))
    deep = whole - float(work.output) / 2.0
    budget, slots = step_limits(machine, estimate.how)
    bare = _decode(estimate, COUNTS, 1.0)
    caches = (_decode(estimate, COUNTS, 1.0 + deep) - bare) / (COUNTS * deep)
    later = _prefill(estimate, PIECE, BEFORE) - _prefill(estimate, PIECE, 0.0)
    return Server(
        counts=COUNTS,
        bare=bare,
        chunks=CHUNKS,
        passes=_prefill(estimate, CHUNKS, 0.0),
        cached=max(float(np.median(caches)), 0.0),
        earlier=max(float(later[0]) / (float(PIECE[0]) * BEFORE), 0.0),
        budget=budget,
        slots=max(int(min(fitting, slots)), 1),
        room=max(fitting, 1.0) * whole,
        mixed=estimate.how.chunk is None,
        taking_in=TAKING_IN,
    )


def step_limits(machine: Machine, runtime: Runtime) -> tuple[float, int]:
    """Largest numbers of tokens and sequences in a step, by default for a server.

    SGLang takes as many sequences as fit in memory.
    """
    if runtime.chunk is not None:
        return float(np.max(runtime.chunk(machine))), WIDE[1]
    wide = all(
        float(np.max(card.memory.value)) >= WIDE_MEMORY and "A100" not in card.name
        for card in machine.gpus
    )
    return WIDE if wide else NARROW


def _decode(estimate: Estimate, counts: Floats, depth: float) -> Floats:
    """Times of decoding steps, by number of sequences and cached tokens [s]."""
    work = replace(estimate.work, users=counts, prompt=depth, output=1.0, cached=0.0)
    return _seconds(estimate, work, prompt=False) / float(work.tokens_per_step)


def _prefill(estimate: Estimate, tokens: Floats, before: float) -> Floats:
    """Times of passes over prompt tokens, by number of tokens and of earlier tokens [s]."""
    placed = estimate.placement
    by_user = placed is not None and placed.attention_by_user and estimate.machine is not None
    ranks = float(len(estimate.machine.gpus)) if by_user and estimate.machine else 1.0
    work = replace(
        estimate.work,
        users=ranks,
        prompt=tokens / ranks + before,
        cached=np.full_like(tokens, before),
    )
    return _seconds(estimate, work, prompt=True)


def _seconds(estimate: Estimate, work: Workload, *, prompt: bool) -> Floats:
    if estimate.machine is None or estimate.placement is None or estimate.constants is None:
        return np.full(1, np.nan)
    phases = estimate.how.schedule(estimate.model, estimate.placement, estimate.machine, work)
    schedule = phases.prefill if prompt else phases.decode
    time = schedule_seconds(schedule, estimate.machine, estimate.constants)
    if prompt or not work.draft:
        return np.asarray(time.total)
    several = estimate.machine.counts is not None
    reads = weights_read(schedule, estimate.model, work, by_gpu=several)
    return np.asarray(with_drafting(time, estimate.model, work, reads).total)
