"""Simulation of continuous batching, event by event.

In each step every sequence with a finished prompt gets a token. The rest of the step's budget goes
to prompts in order of arrival, long ones in chunks. Of a cached prompt only the rest is read, at
least a token; its cache takes memory as any other. A request is admitted when a slot is free and
all caches, at their full length, fit. Steps between two events differ only in their caches, which
grow by a token each, and are computed together. The processor's work on a request before its
prompt's pass goes on beside the GPU's steps, so that it delays a reply and no other request.
"""

import math
from collections import deque
from dataclasses import dataclass

import numpy as np

from advisor.advice.arrivals.server import Requests, Server
from advisor.model.model import Floats


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
        self.server, self.requests = server, requests
        count = len(requests.prompts)
        self.arrivals = requests.arrivals.copy()
        self.firsts, self.ends = np.full(count, np.nan), np.full(count, np.nan)
        self.kept = np.minimum(np.broadcast_to(requests.cached, count), requests.prompts - 1.0)
        at_set_times = [index for index in range(count) if not math.isnan(self.arrivals[index])]
        self.later, self.coming = deque(range(len(at_set_times), count)), deque(at_set_times)
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
            prompt, output = self.requests.prompts[index], self.requests.outputs[index]
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
        inside = self.inside if self.server.mixed else []
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
                self.arrivals[following] = self.now
                self.coming.append(following)
        if done:
            self.inside = [each for each in self.inside if each.unread > 0 or each.left > 0]
