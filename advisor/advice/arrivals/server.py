"""Server: its step times as a table, computed by the cost model, and its work event by event."""

import math
from bisect import insort
from collections import deque
from dataclasses import dataclass, replace

import numpy as np

from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Settings
from advisor.cost_model.runtime import Runtime
from advisor.machine.machine import Machine
from advisor.model.model import Floats
from advisor.units import GIB

TAKING_IN = 10.6e-3
"""Time from a request to its prompt's pass: tokenizing, and messages between processes [s]. First
token of Qwen2.5-0.5B (24 layers) to one user, less the time of two tokens, for the passes over
prompt and first token: 16.46 - 2 x 1.89 ms in SGLang 0.5.6 on an A100, 11.24 - 2 x 1.83 ms in vLLM
0.20.1 on an A100, 22.5 - 2 x 5.11 ms in vLLM 0.19.1 on an RTX 5090; their geometric mean
(github.com/FreedomIntelligence/AccelMark, suite F, interactive, 2026-04 to 2026-05). Plausible: 5
to 30 ms, by the processor."""


SEED = 20261122  # seed of the random requests, fixed so that an answer can be repeated


@dataclass(frozen=True, kw_only=True)
class Requests:
    """Load on a server; arrays have shape (requests,)."""

    arrivals: Floats  # times of arrival [s]; NaN for requests sent after the last reply
    prompts: Floats  # tokens of the prompts [tokens]
    outputs: Floats  # tokens of the replies [tokens]
    cached: Floats | float = 0.0  # part of each prompt that is in the cache already [tokens]
    # time that a user lets pass after each reply, before the next request [s]
    pauses: Floats | float = 0.0


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """Distribution of prompt and reply lengths."""

    prompt: float  # mean tokens sent [tokens]
    output: float  # mean tokens generated [tokens]
    spread: float = 0.0  # standard deviation over mean of both; 0 for equal lengths
    cached_share: float = 0.0  # share of each prompt that is in the cache already, 0 to 1

    def drawn(self, arrivals: Floats, generator: "np.random.Generator") -> Requests:
        """Requests of random lengths, log-normal and at least one token each.

        sigma^2 = ln(1 + spread^2), mu = ln(mean) - sigma^2 / 2
        """
        sigma = np.sqrt(np.log1p(self.spread**2))
        prompts, outputs = (
            mean * np.exp(sigma * generator.standard_normal(len(arrivals)) - sigma**2 / 2.0)
            for mean in (self.prompt, self.output)
        )
        prompts, outputs = (np.maximum(np.round(drawn), 1.0) for drawn in (prompts, outputs))
        cached = np.floor(self.cached_share * prompts)
        return Requests(arrivals=arrivals, prompts=prompts, outputs=outputs, cached=cached)


def at_random(per_second: float, count: int, lengths: Lengths) -> Requests:
    """Requests at random times, a Poisson process with a rate in requests per second."""
    generator = np.random.default_rng(SEED)
    return lengths.drawn(np.cumsum(generator.exponential(1.0 / per_second, count)), generator)


def of_users(users: int, count: int, lengths: Lengths, pause: float = 0.0) -> Requests:
    """Requests of users who start together and send the next one after each reply and a pause, of
    random length about a mean [s].
    """
    arrivals = np.where(np.arange(count) < users, 0.0, np.nan)
    generator = np.random.default_rng(SEED)
    requests = lengths.drawn(arrivals, generator)
    if not pause:
        return requests
    return replace(requests, pauses=generator.exponential(pause, count))


WIDE_MEMORY = 70 * GIB
"""GPU memory above which vLLM allows four times the tokens and sequences in a step, except on A100s
(EngineArgs.get_batch_defaults in vllm/engine/arg_utils.py, read 2026-11) [B]."""
WIDE = (8192, 1024)
NARROW = (2048, 256)
"""Largest numbers of tokens and sequences in a step (`--max-num-batched-tokens`, `--max-num-seqs`),
above and below that memory."""
COUNTS = np.array(sorted({*np.round(np.geomspace(1, 1024, 25))}))
"""Numbers of sequences in the table."""
CHUNKS = np.array(sorted({*np.round(np.geomspace(17, 16384, 30))}))
"""Numbers of tokens of a pass in the table [tokens]."""
PIECE = np.array([1024.0])
BEFORE = 4096.0
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
    earlier: float  # time of a pass per pair of a token and an earlier one [s/token^2]
    budget: float  # largest number of tokens in a step [tokens]
    slots: int  # largest number of sequences served together
    room: float  # tokens that fit in all caches together [tokens]
    mixed: bool = True  # a step can both read prompts and decode; else decoding stops meanwhile
    taking_in: float = 0.0  # time of the processor for a request before its prompt's pass [s]
    least: float = 0.0  # shortest step; 0 where CUDA graphs start its kernels [s]

    def time_per_token(self, users: Floats, lengths: Lengths, asking: float = 1.0) -> Floats:
        """Time for each token of users who each send the next request at once, shape (users,) [s].

        t(n) = t_step(n) + a (n - 1) / output t_prompt: during one reply, the prompt of each other
        user is read once, without its cached part; a is the share of the others who ask meanwhile.
        """
        steps = np.interp(users, self.counts, self.bare)
        steps = steps + self.cached * users * (lengths.prompt + lengths.output / 2.0)
        prompts = asking * (users - 1.0) / lengths.output * self.reading(lengths)
        return np.asarray(steps + prompts)

    def reading(self, lengths: Lengths) -> float:
        """Time of a pass over a prompt of mean length, without its cached part [s]."""
        fresh = (1.0 - lengths.cached_share) * lengths.prompt
        return float(np.interp(fresh, self.chunks, self.passes))

    def step(self, writing: int, kept: float, reading: float, before: float) -> float:
        """Time of a step in which sequences get a token each, and prompts are read [s].

        Decoded tokens join the pass over the prompts, so that weights are read once; the tokens
        kept in their caches are read in addition, and those before the ones of each prompt.
        """
        if reading <= 0:
            bare = float(np.interp(writing, self.counts, self.bare))
        else:
            bare = float(np.interp(writing + reading, self.chunks, self.passes))
        return max(bare + self.cached * kept + self.earlier * before, self.least)


def server(estimate: Estimate) -> Server | None:
    """Server of an estimate with mean lengths; None where nothing runs, or nothing queues.

    Caches take the tokens that requests have; one whole context must fit.
    """
    machine = estimate.machine
    work = estimate.work
    at_once = estimate.runtime.at_once
    if at_once is None or not np.all(estimate.fits):
        return None
    whole = float(work.prompt) + float(work.output)
    context = max(float(work.context), whole)
    longest = replace(work, users=1.0, prompt=whole, output=1.0, cached=0.0, context=context)
    placed = estimate.placement
    settings = Settings(attention_by_user=placed is not None and placed.attention_by_user)
    fitting = float(at_once(estimate.model, machine, longest, settings))
    deep = whole - float(work.output) / 2.0
    budget, slots = step_limits(machine, estimate.runtime)
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
        mixed=estimate.runtime.chunk is None,
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
    if wide:
        return WIDE
    return NARROW


def _decode(estimate: Estimate, counts: Floats, depth: float) -> Floats:
    """Times of decoding steps, by number of sequences and cached tokens [s]."""
    work = replace(estimate.work, users=counts, prompt=depth, output=1.0, cached=0.0)
    step = replace(estimate, work=work, planned=None).step
    return np.asarray(step.total if step else np.nan) / float(work.tokens_per_step)


def _prefill(estimate: Estimate, tokens: Floats, before: float) -> Floats:
    """Times of passes over prompt tokens, by number of tokens and of earlier tokens [s]."""
    placed = estimate.placement
    by_user = placed is not None and placed.attention_by_user
    if by_user:
        ranks = float(len(estimate.machine.gpus))
    else:
        ranks = 1.0
    work = replace(
        estimate.work,
        users=ranks,
        prompt=tokens / ranks + before,
        cached=np.full_like(tokens, before),
    )
    prompt = replace(estimate, work=work, planned=None).prompt
    return np.asarray(prompt.total if prompt else np.nan)


# Simulation of continuous batching, event by event.
#
# In each step every sequence with a finished prompt gets a token. The rest of the step's budget
# goes to prompts in order of arrival, long ones in chunks. Of a cached prompt only the rest is
# read, at least a token; its cache takes memory as any other. A request is admitted when a slot is
# free and all caches, at their full length, fit. Steps between two events differ only in their
# caches, which grow by a token each, and are computed together. The processor's work on a request
# before its prompt's pass goes on beside the GPU's steps: it delays a reply and no other request.


@dataclass(frozen=True, kw_only=True)
class Served:
    """Times of each request, shape (requests,)."""

    arrivals: Floats  # time of arrival [s]
    firsts: Floats  # time of the first token [s]
    ends: Floats  # time of the last token [s]
    outputs: Floats  # tokens of the reply [tokens]

    @property
    def waits(self) -> Floats:
        """Time to the first token, shape (requests,) [s]."""
        return self.firsts - self.arrivals

    @property
    def per_token(self) -> Floats:
        """Time per token after the first; NaN for replies of a single token [s]."""
        more = np.where(self.outputs > 1.0, self.outputs - 1.0, np.nan)
        return (self.ends - self.firsts) / more


@dataclass(eq=False)
class _Sequence:
    """Admitted request."""

    index: int
    unread: float  # tokens of its prompt [tokens]
    kept: float  # tokens in its cache [tokens]
    left: float  # tokens of its reply [tokens]


def simulate(server: Server, requests: Requests) -> Served:
    """Times of all requests on a server."""
    run = _Run(server, requests)
    while run.busy():
        run.advance()
    later = server.taking_in
    return Served(
        arrivals=run.arrivals,
        firsts=run.firsts + later,
        ends=run.ends + later,
        outputs=requests.outputs,
    )


class _Run:
    """One simulation."""

    def __init__(self, server: Server, requests: Requests) -> None:
        self.server = server
        self.requests = requests
        count = len(requests.prompts)
        self.arrivals = requests.arrivals.copy()
        self.firsts = np.full(count, np.nan)
        self.ends = np.full(count, np.nan)
        self.kept = np.minimum(np.broadcast_to(requests.cached, count), requests.prompts - 1.0)
        self.pauses = np.broadcast_to(requests.pauses, count)
        at_set_times = [index for index in range(count) if not math.isnan(self.arrivals[index])]
        self.later = deque(range(len(at_set_times), count))
        self.coming = deque(at_set_times)
        self.waiting: deque[int] = deque()  # requests that have arrived
        self.inside: list[_Sequence] = []  # requests that are served
        self.held = 0.0  # tokens of their caches, at full length
        self.now = 0.0

    def busy(self) -> bool:
        """Whether a request is not complete yet."""
        return bool(self.coming or self.waiting or self.inside)

    def advance(self) -> None:
        """Advance to the end of the next step, or of all steps before the next event."""
        while self.coming and self.arrivals[self.coming[0]] <= self.now:
            self.waiting.append(self.coming.popleft())
        self._admit()
        if not self.inside:
            self.now = self.arrivals[self.coming[0]]
            return
        reading = self._chunk()
        if reading:
            self._mixed(reading)
        else:
            self._written()

    def _admit(self) -> None:
        while self.waiting and len(self.inside) < self.server.slots:
            index = self.waiting[0]
            prompt = self.requests.prompts[index]
            output = self.requests.outputs[index]
            if self.inside and self.held + prompt + output > self.server.room:
                return
            self.waiting.popleft()
            self.held += prompt + output
            kept = float(self.kept[index])
            self.inside.append(_Sequence(index, prompt - kept, kept, output))

    def _chunk(self) -> list[tuple[_Sequence, float]]:
        """Prompts in the next step, with the number of tokens of each."""
        unread = [sequence for sequence in self.inside if sequence.unread > 0]
        budget = self.server.budget - (len(self.inside) - len(unread))
        parts = []
        for sequence in unread:
            tokens = min(sequence.unread, budget)
            if tokens <= 0:
                break
            parts.append((sequence, tokens))
            budget -= tokens
        return parts

    def _mixed(self, reading: list[tuple[_Sequence, float]]) -> None:
        """Run one step that reads prompts, with decoding beside it."""
        if self.server.mixed:
            inside = self.inside
        else:
            inside = []
        writing = [sequence for sequence in inside if sequence.unread <= 0]
        self.now += self.server.step(
            len(writing),
            sum(sequence.kept for sequence in writing),
            sum(tokens for _, tokens in reading),
            sum(tokens * sequence.kept for sequence, tokens in reading),
        )
        for sequence, tokens in reading:
            sequence.unread -= tokens
            sequence.kept += tokens
            if sequence.unread <= 0:
                self.firsts[sequence.index] = self.now
                sequence.left -= 1.0
        self._write(writing, 1)

    def _written(self) -> None:
        """Run all steps until a reply is complete or a request arrives."""
        inside = self.inside
        kept = sum(sequence.kept for sequence in inside)
        step = self.server.step(len(inside), kept, 0.0, 0.0)
        steps = int(min(sequence.left for sequence in inside))
        if self.coming and len(inside) < self.server.slots:
            gap = self.arrivals[self.coming[0]] - self.now
            steps = min(steps, max(math.ceil(gap / step), 1))
        growth = len(inside) * (steps - 1) / 2.0
        self.now += steps * self.server.step(len(inside), kept + growth, 0.0, 0.0)
        self._write(inside, steps)

    def _write(self, writing: list[_Sequence], steps: int) -> None:
        """Count tokens, and release sequences with a complete reply."""
        for sequence in writing:
            sequence.left -= steps
            sequence.kept += steps
        done = [each for each in self.inside if each.unread <= 0 and each.left <= 0]
        for sequence in done:
            index = sequence.index
            self.ends[index] = self.now
            self.held -= self.requests.prompts[index] + self.requests.outputs[index]
            if self.later:
                following = self.later.popleft()
                self.arrivals[following] = self.now + self.pauses[following]
                insort(self.coming, following, key=self.arrivals.__getitem__)
        if done:
            self.inside = [each for each in self.inside if each.unread > 0 or each.left > 0]
