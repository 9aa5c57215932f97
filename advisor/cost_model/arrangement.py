"""Arrangements of a machine's GPUs: all as one, fewer of them, or copies of a model side by side.

Each GPU more in a group costs time: sums in each layer where they share layers, hand-overs where
they take turns, and the slowest makes the others wait. So fewer GPUs, or a copy of the model on
each of several equal parts, can answer sooner than all of them as one; engines start them as
separate servers that each see their GPUs alone (CUDA_VISIBLE_DEVICES, NVIDIA's CUDA programming
guide, environment variables; HIP_VISIBLE_DEVICES, rocm.docs.amd.com, GPU isolation;
ONEAPI_DEVICE_SELECTOR, intel.github.io/llvm; GGML_VK_VISIBLE_DEVICES, ggml-vulkan.cpp of llama.cpp;
all read 2026-11-28).
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, permutations, product
from typing import ClassVar

import numpy as np

from advisor.cost_model.workload import Workload
from advisor.machine.backends import Backend
from advisor.machine.machine import Gpu, Machine

EVERY_NUMBER = 4  # cards of a kind up to which every smaller number of them is tried
EVERY_COMBINATION = 32  # combinations of cards up to which all are tried: of five unlike ones
VARIABLES = {
    "cuda": "CUDA_VISIBLE_DEVICES={}",
    "rocm": "HIP_VISIBLE_DEVICES={}",
    "sycl": "ONEAPI_DEVICE_SELECTOR=level_zero:{}",
    "vulkan": "GGML_VK_VISIBLE_DEVICES={}",
}
"""Variable of the environment that leaves a program some GPUs, by backend."""
SERVER = re.compile(
    r"(?:[A-Z_][A-Z0-9_]*=\S+ )*(?P<name>llama-server|\S*llamafile\S*|vllm serve|trtllm-serve|"
    r"python -m sglang\.launch_server|ollama serve)\b"
)
"""Beginning of a line of a command that starts a server."""
PORTS = {"llama-server": 8080, "vllm serve": 8000, "trtllm-serve": 8000,
         "python -m sglang.launch_server": 30000}  # fmt: skip
"""Port on which a server listens unless `--port` says another, by the beginning of its line."""
OLLAMA_PORT = 11434  # port of Ollama, which a variable changes


@dataclass(frozen=True, kw_only=True)
class Arrangement:
    """Use of a machine's GPUs by one copy of a model, or by several side by side."""

    # Factor on the answers of an hour from which another arrangement is worth its command: within
    # it, all GPUs as one are as good, and the usual start.
    WORTH: ClassVar[float] = 1.03

    machine: Machine  # the machine with all of its GPUs
    groups: tuple[tuple[int, ...], ...]  # GPUs of each copy, by their places in the machine

    @property
    def copies(self) -> int:
        """Number of copies of the model."""
        return len(self.groups)

    @property
    def part(self) -> Machine:
        """Machine as one copy sees it, with its GPUs alone."""
        return self._with(self.groups[0])

    @property
    def used(self) -> Machine:
        """Machine with only the GPUs in use, those of the first copy first."""
        return self._with(tuple(chain.from_iterable(self.groups)))

    def _with(self, cards: tuple[int, ...]) -> Machine:
        machine = self.machine
        gpus = tuple(machine.gpus[card] for card in cards)
        nodes = max(1, len(cards) * machine.nodes // len(machine.gpus))
        return replace(machine, gpus=gpus, nodes=nodes)

    def share(self, work: Workload) -> Workload:
        """Request of the copy with the most users, made of the request of all users."""
        return work.with_numbers(users=np.ceil(np.asarray(work.users, dtype=float) / self.copies))

    def on(self, machine: Machine) -> "Arrangement | None":
        """Same arrangement on a machine that has only the GPUs in use, some of them changed.

        It is None on a machine with another number of GPUs.
        """
        size = len(self.groups[0])
        if len(machine.gpus) != self.copies * size:
            return None
        groups = tuple(tuple(range(copy * size, (copy + 1) * size)) for copy in range(self.copies))
        if machine.cards == self.used.cards:
            return self
        return Arrangement(machine=machine, groups=groups)

    @property
    def words(self) -> str:
        """GPUs in use, in words ("1 of 2 GPUs (RTX 5090)", "2 copies side by side, each on 1
        GPU").
        """
        number = len(self.groups[0])
        gpus = self.machine.gpus
        names = ", ".join(dict.fromkeys(gpus[card].name for card in self.groups[0]))
        if self.copies == 1:
            return f"{number} of {len(gpus)} GPUs ({names})"
        several = "GPU" if number == 1 else "GPUs"
        return f"{self.copies} copies side by side, each on {number} {several} ({names})"

    def started(self, command: str) -> str:
        """Command of the arrangement, made of the command of one copy; each copy sees its GPUs
        alone.
        """
        if self.copies == 1:
            return "\n".join(self._seeing(command.splitlines(), self.groups[0]))
        lines = [f"# {self.copies} copies, each in a terminal of its own, that share the requests"]
        for copy, cards in enumerate(self.groups):
            if self.machine.nodes > 1:
                lines += [f"# on HOST{copy + 1}", *command.splitlines()]
            else:
                listening = [_on_port(line, copy) for line in command.splitlines()]
                lines += self._seeing(listening, cards)
        return "\n".join(lines)

    def _seeing(self, lines: list[str], cards: tuple[int, ...]) -> Iterator[str]:
        """Lines of a command whose server sees only some GPUs."""
        variable = self._variable(cards)
        if not variable:
            yield from lines
            return
        if not any(SERVER.match(line) for line in lines):
            yield f"# with {variable} in its environment"
        for line in lines:
            yield f"{variable} {line}" if SERVER.match(line) else line

    def _variable(self, cards: tuple[int, ...]) -> str:
        """Assignment of the environment variable that shows a copy its GPUs; empty where it sees
        all.
        """
        backend = self.part.interface
        seen = [card for card, gpu in enumerate(self.machine.gpus) if _sees(backend, gpu)]
        if backend not in VARIABLES or self.machine.nodes > 1 or len(cards) == len(seen):
            return ""
        return VARIABLES[backend].format(",".join(str(seen.index(card)) for card in cards))

    @staticmethod
    def some(gpus: Sequence[Gpu], nodes: int) -> Iterator[tuple[int, ...]]:
        """Groups of fewer GPUs that `fewer` tries, as indices of the GPUs, on a number of
        machines.
        """
        if len(gpus) < 2:
            return
        if nodes > 1:
            yield tuple(range(len(gpus) // nodes))
            return
        kinds: dict[str, list[int]] = {}
        for card, gpu in enumerate(gpus):
            kinds.setdefault(gpu.name, []).append(card)
        if math.prod(len(_numbers(alike)) + 1 for alike in kinds.values()) <= EVERY_COMBINATION:
            chosen = _combinations(gpus, list(kinds.values()))
        else:
            chosen = _best_of_many(gpus, list(kinds.values()))
        yield from (cards for cards in chosen if len(cards) < len(gpus))

    @staticmethod
    def equal_parts(gpus: Sequence[Gpu], nodes: int) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Equal groups of GPUs, one for each copy of a model, as indices of the GPUs."""
        if len(gpus) < 2:
            return
        for kind in dict.fromkeys(gpu.name for gpu in gpus):
            alike = [card for card, gpu in enumerate(gpus) if gpu.name == kind]
            if nodes > 1:
                sizes = [len(gpus) // nodes]
            else:
                sizes = [size for size in range(1, len(alike) // 2 + 1) if _divides(alike, size)]
            for size in sizes:
                copies = len(alike) // size
                if copies > 1:
                    groups = (alike[copy * size : (copy + 1) * size] for copy in range(copies))
                    yield tuple(map(tuple, groups))


def _sees(backend: str, gpu: Gpu) -> bool:
    return backend in Backend.of_vendor(gpu.vendor)


def _on_port(line: str, copy: int) -> str:
    server = SERVER.match(line)
    if server is None or copy == 0:
        return line
    name = server["name"]
    if name == "ollama serve":
        return f"OLLAMA_HOST=127.0.0.1:{OLLAMA_PORT + copy} {line}"
    return f"{line} --port {PORTS.get(name, PORTS['llama-server']) + copy}"


def fewer(machine: Machine) -> Iterator[Arrangement]:
    """Arrangements with some of a machine's GPUs: the fastest, those with the most memory, or those
    of one kind.

    Of several machines there is one arrangement, with one machine.
    """
    if machine.counts is None:
        for cards in Arrangement.some(machine.gpus, machine.nodes):
            yield Arrangement(machine=machine, groups=(cards,))


def _first(cards: list[int]) -> Iterator[tuple[int, ...]]:
    """First cards of a list, in several numbers up to all."""
    for number in _numbers(cards):
        yield tuple(sorted(cards[:number]))


def _numbers(cards: list[int]) -> list[int]:
    """Numbers of cards of a kind that are tried: every one of a few, powers of two of more."""
    count = len(cards)
    if count <= EVERY_NUMBER:
        return list(range(1, count + 1))
    return sorted({2**power for power in range(count.bit_length())} | {count})


def _combinations(gpus: Sequence[Gpu], kinds: Sequence[list[int]]) -> Iterable[tuple[int, ...]]:
    """Combinations of cards of each kind, few cards first.

    Left out is a combination without a card that has at least as much of everything as one in it.
    """
    first = [gpus[alike[0]] for alike in kinds]
    covered = [
        (better, worse)
        for better, worse in permutations(range(len(kinds)), 2)
        if first[better].covers(first[worse])
        and (better < worse or not first[worse].covers(first[better]))
    ]
    chosen = []
    for numbers in product(*((0, *_numbers(alike)) for alike in kinds)):
        left_out = any(
            numbers[worse] and numbers[better] < len(kinds[better]) for better, worse in covered
        )
        if any(numbers) and not left_out:
            cards = (alike[:number] for alike, number in zip(kinds, numbers, strict=True))
            chosen.append(tuple(sorted(chain.from_iterable(cards))))
    return sorted(chosen, key=len)


def _best_of_many(gpus: Sequence[Gpu], kinds: Sequence[list[int]]) -> Iterable[tuple[int, ...]]:
    """Cards of one kind, or the fastest or largest ones of all or of a maker, in several numbers.

    Many engines take the cards of one maker alone. Where there are few kinds, all cards but one of
    each kind count too.
    """
    chosen: dict[tuple[int, ...], None] = {}
    for alike in kinds:
        chosen.update(dict.fromkeys(_first(alike)))
    every = list(range(len(gpus)))
    makers = dict.fromkeys(gpu.vendor for gpu in gpus)
    of_makers = ([card for card in every if gpus[card].vendor == maker] for maker in makers)
    for among in (every, *of_makers):
        for rate in (_bandwidth, _memory):
            best = sorted(among, key=lambda card: -rate(gpus[card]))
            chosen.update(dict.fromkeys(_first(best)))
    if len(kinds) <= EVERY_NUMBER:
        for left in (alike[-1] for alike in kinds):
            chosen[tuple(card for card in range(len(gpus)) if card != left)] = None
    return chosen


def _bandwidth(gpu: Gpu) -> float:
    return float(gpu.bandwidth.value)


def _memory(gpu: Gpu) -> float:
    return float(gpu.memory.value)


def side_by_side(machine: Machine, users: float) -> Iterator[Arrangement]:
    """Arrangements of copies on equally many GPUs of one kind, at most one copy for each user.

    Of several machines each has one copy.
    """
    if machine.counts is None and users >= 2:
        for parts in Arrangement.equal_parts(machine.gpus, machine.nodes):
            yield Arrangement(machine=machine, groups=parts[: int(users)])


def _divides(cards: list[int], size: int) -> bool:
    """Whether copies on so many GPUs are worth a try: where they divide all GPUs evenly, or are a
    power of two.
    """
    return len(cards) % size == 0 or size & (size - 1) == 0
