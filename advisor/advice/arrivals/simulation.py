"""Continuous batching, event by event: who waits, who reads, who writes.

In each step every sequence that has read its prompt gets a token; what the step's budget leaves
reads prompts, in the order they came, in chunks where they are long. A request is taken in when a
slot is free and the caches of all, grown to their full length, have room. Steps between two events
are alike but for their caches, which grow by a token each, and are taken together.
"""

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from advisor.advice.arrivals.requests import Requests
from advisor.advice.arrivals.server import Server
from advisor.model.model import Floats


@dataclass(frozen=True, kw_only=True)
class Served:
    """Times of each request, shape (requests,).

    Attributes:
        arrivals: when it came [s].
        firsts: when its first token was there [s].
        ends: when its reply was whole [s].
        outputs: tokens of its reply [tokens].
    """

    arrivals: Floats
    firsts: Floats
    ends: Floats
    outputs: Floats

    @property
    def waits(self) -> Floats:
        """Time to the first token, shape (requests,) [s]."""
        return self.firsts - self.arrivals

    @property
    def per_token(self) -> Floats:
        """Time for each token behind the first; not a number for replies of a token [s]."""
        more = np.where(self.outputs > 1.0, self.outputs - 1.0, np.nan)
        return (self.ends - self.firsts) / more


@dataclass(kw_only=True, eq=False)
class _Sequence:
    """A request that has been taken in."""

    index: int
    unread: float
    kept: float
    left: float


@dataclass(kw_only=True, eq=False)
class _Queue:
    """Requests to come, waiting, and in the server."""

    coming: deque[int]
    waiting: deque[int] = field(default_factory=deque)
    inside: list[_Sequence] = field(default_factory=list)
    held: float = 0.0


def simulate(server: Server, requests: Requests) -> Served:
    """All requests through a server."""
    run = _Run(server, requests)
    while run.busy():
        run.advance()
    return Served(arrivals=run.arrivals, firsts=run.firsts, ends=run.ends, outputs=requests.outputs)


class _Run:
    """One simulation."""

    def __init__(self, server: Server, requests: Requests) -> None:
        self.server, self.requests = server, requests
        count = len(requests.prompts)
        self.arrivals = requests.arrivals.copy()
        self.firsts, self.ends = np.full(count, np.nan), np.full(count, np.nan)
        known = [index for index in range(count) if not math.isnan(self.arrivals[index])]
        self.later = deque(range(len(known), count))
        self.queue = _Queue(coming=deque(known))
        self.now = 0.0

    def busy(self) -> bool:
        """Some request is not answered yet."""
        queue = self.queue
        return bool(queue.coming or queue.waiting or queue.inside)

    def advance(self) -> None:
        """To the end of the next step, or of all steps up to the next event."""
        self._arrive()
        self._admit()
        if not self.queue.inside:
            self.now = self.arrivals[self.queue.coming[0]]
            return
        reading = self._chunk()
        if reading:
            self._mixed(reading)
        else:
            self._written()

    def _arrive(self) -> None:
        queue = self.queue
        while queue.coming and self.arrivals[queue.coming[0]] <= self.now:
            queue.waiting.append(queue.coming.popleft())

    def _admit(self) -> None:
        queue = self.queue
        while queue.waiting and len(queue.inside) < self.server.slots:
            index = queue.waiting[0]
            prompt, output = self.requests.prompts[index], self.requests.outputs[index]
            if queue.inside and queue.held + prompt + output > self.server.room:
                return
            queue.waiting.popleft()
            queue.held += prompt + output
            queue.inside.append(_Sequence(index=index, unread=prompt, kept=0.0, left=output))

    def _chunk(self) -> list[tuple[_Sequence, float]]:
        """Prompts that the next step reads, and how much of each."""
        unread = [sequence for sequence in self.queue.inside if sequence.unread > 0]
        budget = self.server.budget - (len(self.queue.inside) - len(unread))
        parts = []
        for sequence in unread:
            tokens = min(sequence.unread, budget)
            if tokens <= 0:
                break
            parts.append((sequence, tokens))
            budget -= tokens
        return parts

    def _mixed(self, reading: list[tuple[_Sequence, float]]) -> None:
        """One step that reads prompts while others write."""
        inside = self.queue.inside if self.server.mixed else []
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
        """All steps until a reply is whole or a request comes."""
        inside = self.queue.inside
        kept = sum(sequence.kept for sequence in inside)
        step = self.server.step(len(inside), kept, 0.0, 0.0)
        steps = int(min(sequence.left for sequence in inside))
        if self.queue.coming and len(inside) < self.server.slots:
            gap = self.arrivals[self.queue.coming[0]] - self.now
            steps = min(steps, max(math.ceil(gap / step), 1))
        growth = len(inside) * (steps - 1) / 2.0
        self.now += steps * self.server.step(len(inside), kept + growth, 0.0, 0.0)
        self._write(inside, steps)

    def _write(self, writing: list[_Sequence], steps: int) -> None:
        """Count tokens, and let those go whose reply is whole."""
        for sequence in writing:
            sequence.left -= steps
            sequence.kept += steps
        queue = self.queue
        done = [each for each in queue.inside if each.unread <= 0 and each.left <= 0]
        for sequence in done:
            index = sequence.index
            self.ends[index] = self.now
            queue.held -= self.requests.prompts[index] + self.requests.outputs[index]
            if self.later:
                following = self.later.popleft()
                self.arrivals[following] = self.now
                queue.coming.append(following)
        if done:
            queue.inside = [each for each in queue.inside if each.unread > 0 or each.left > 0]
