"""Step times of a server as a table, computed by the cost model."""

from dataclasses import dataclass, replace

import numpy as np

from advisor.cost_model.estimate import Estimate, with_drafting
from advisor.cost_model.timing import schedule_seconds
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Floats
from advisor.runtimes import SGLANG, Runtime
from advisor.runtimes.sglang import chunk_size
from advisor.units import GIB

WIDE_MEMORY = 70 * GIB
"""Memory of a GPU from which vLLM takes four times the tokens and sequences in a step; A100s are
excepted (EngineArgs.get_batch_defaults in vllm/engine/arg_utils.py, read 2026-11)."""
WIDE, NARROW = (8192, 1024), (2048, 256)
"""Tokens and sequences of a step at most (`--max-num-batched-tokens`, `--max-num-seqs`), above and
below that memory."""
COUNTS = np.unique(np.round(np.geomspace(1, 1024, 25)))
"""Sequences in the table [sequences]."""
CHUNKS = np.unique(np.round(np.geomspace(17, 16384, 30)))
"""Tokens of a pass in the table [tokens]."""
PIECE, BEFORE = np.array([1024.0]), 4096.0
"""A piece of a prompt and what was read before it, by which attention to that is timed [tokens]."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A runtime and placement as its scheduler sees it.

    Attributes:
        counts: sequences that the next two are for, shape (counts,).
        bare: a step that writes a token for each, caches aside, shape (counts,) [s].
        chunks: tokens that the next is for, shape (chunks,) [tokens].
        passes: a pass that reads so many tokens of prompts, weights and all, shape (chunks,) [s].
        cached: a step's time for each token that lies in a cache [s/token].
        earlier: a pass's time for each pair of a token read and one read before [s/token^2].
        budget: tokens of a step at most [tokens].
        slots: sequences served together at most.
        room: tokens that all caches together hold [tokens].
        mixed: a step reads prompts and writes tokens; else writing stops while prompts are read.
    """

    counts: Floats
    bare: Floats
    chunks: Floats
    passes: Floats
    cached: float
    earlier: float
    budget: float
    slots: int
    room: float
    mixed: bool = True

    def time_per_token(self, users: Floats, prompt: float, output: float) -> Floats:
        """Time for each token of users who each send the next request at once, shape (users,) [s].

        t(n) = t_step(n) + (n - 1) / output t_prompt: while one writes, each of the others has its
        prompt read once.
        """
        steps = np.interp(users, self.counts, self.bare)
        steps = steps + self.cached * users * (prompt + output / 2.0)
        reading = float(np.interp(prompt, self.chunks, self.passes))
        return np.asarray(steps + (users - 1.0) / output * reading)

    def step(self, writing: int, kept: float, reading: float, before: float) -> float:
        """One step [s].

        Tokens of sequences that write join the pass over the prompts, so that weights are read
        once; their caches are read besides.

        Args:
            writing: sequences that get a token.
            kept: tokens in all their caches [tokens].
            reading: tokens of prompts [tokens].
            before: sum over prompts of tokens read now times tokens read before [tokens^2].
        """
        if reading <= 0:
            return float(np.interp(writing, self.counts, self.bare)) + self.cached * kept
        both = float(np.interp(writing + reading, self.chunks, self.passes))
        return both + self.cached * kept + self.earlier * before


def server(estimate: Estimate) -> Server | None:
    """The server of an estimate; None where the model does not run, or no scheduler is known.

    Memory is counted by what requests come to, not by the context that each might fill.

    Args:
        estimate: of a single machine; its prompt and reply are those of a mean request.
    """
    machine, work, at_once = estimate.machine, estimate.work, estimate.how.at_once
    if machine is None or at_once is None or not np.all(estimate.fits):
        return None
    whole = float(work.prompt) + float(work.output)
    typical = replace(work, users=1.0, context=whole)
    fitting = float(at_once(estimate.model, machine, typical))
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
        mixed=estimate.how is not SGLANG,
    )


def step_limits(machine: Machine, runtime: Runtime) -> tuple[float, int]:
    """Tokens and sequences of a step at most, as engines set them for a server.

    SGLang takes as many sequences as its memory holds.
    """
    if runtime is SGLANG:
        return float(np.max(chunk_size(machine))), WIDE[1]
    wide = all(
        float(np.max(card.memory.value)) >= WIDE_MEMORY and "A100" not in card.name
        for card in machine.gpus
    )
    return WIDE if wide else NARROW


def _decode(estimate: Estimate, counts: Floats, depth: float) -> Floats:
    """Steps that write a token for each of some sequences with so many tokens cached [s]."""
    work = replace(estimate.work, users=counts, prompt=depth, output=1.0, cached=0.0)
    return _seconds(estimate, work, prompt=False) / float(work.tokens_per_step)


def _prefill(estimate: Estimate, tokens: Floats, before: float) -> Floats:
    """Passes that read so many tokens of a prompt behind others [s]."""
    work = replace(
        estimate.work, users=1.0, prompt=tokens + before, cached=np.full_like(tokens, before)
    )
    return _seconds(estimate, work, prompt=True)


def _seconds(estimate: Estimate, work: Workload, *, prompt: bool) -> Floats:
    if estimate.machine is None or estimate.placement is None or estimate.constants is None:
        return np.full(1, np.nan)
    phases = estimate.how.schedule(estimate.model, estimate.placement, estimate.machine, work)
    schedule = phases.prefill if prompt else phases.decode
    time = schedule_seconds(schedule, estimate.machine, estimate.constants)
    return np.asarray((time if prompt else with_drafting(time, estimate.model, work)).total)
