"""How well `watch` judges: 300 sound servers and 200 with a fault, made without the diagnosis.

    python -m benchmarks.watching

The speed of each is its estimate times an error drawn from published runs that were left out of the
fit, in half widths of their ranges. A fault changes the machine or the placement whose estimate is
taken; what `watch` sees are counters of llama-server alone. It prints false alarms, missed faults
(a fault within the range cannot be seen), and how often the true cause stands first or among the
first three of an alarm.
"""

import csv
import math
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random

from advisor.advice.compare import compare, usable
from advisor.advice.diagnosis.watching import watched
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.uncertainty import Range
from advisor.errors import AdvisorError
from advisor.probes.server import ServerReading
from advisor.request.request import Request

SOUND, FAULTY = 300, 200
REGIMES = ("resident, dense", "resident, experts", "experts in RAM, RAM stated",
           "CPU alone, RAM stated", "prompt, resident")  # fmt: skip
MODELS = ("Llama-3.1-8B", "Qwen3-8B", "Qwen3-14B", "Gemma 3 12B", "Qwen3-32B", "Qwen3-30B-A3B",
          "gpt-oss-20b", "Llama-3.1-70B", "gpt-oss-120b", "GLM-4.5-Air")  # fmt: skip
CARDS = ("RTX 3060 12GB", "RTX 3090", "RTX 4090", "RTX 5090", "RTX 4060 Ti 16GB", "RTX A6000")
CPUS = ("Ryzen 9 7950X", "Core i5-12400", "Ryzen 5 5600", "EPYC 7763")
TOKENS, PROMPT = 3000.0, 20000.0


def errors() -> tuple[float, ...]:
    """Left-out errors of published runs, in half widths of their ranges."""
    with (DATA / "generated/accuracy_points.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file)
                if row["regime"] in REGIMES and row["scored"] == "True"]  # fmt: skip
    off = [(math.log(float(row["measured"]) / float(row["predicted"])), row) for row in rows]
    return tuple(each / float(row["above" if each >= 0 else "below"]) for each, row in off)


@dataclass(frozen=True)
class Fault:
    """A fault: the causes that name it, and the request whose estimate has it."""

    causes: tuple[str, ...]
    request: Callable[[Request, Estimate], Request | None]


def _fewer_layers(request: Request, estimate: Estimate) -> Request | None:
    placed = estimate.placement
    layers = float(placed.gpu_layers) if placed else 0.0
    fewer = replace(request, gpu_layers=int(layers * 0.6), placement="cpu-offload")
    return fewer if layers >= 10 else None


def _in_ram(estimate: Estimate) -> bool:
    return any(str(route) == "in_place" for route in estimate.routes)


def _half_the_channels(request: Request, estimate: Estimate) -> Request | None:
    return replace(request, ram_channels=1) if _in_ram(estimate) else None


def _cache_in_ram(request: Request, _: Estimate) -> Request | None:
    return replace(request, kv_in_ram=True) if request.context >= 32768 else None


FAULTS = (
    Fault(("cpu_alone",), lambda request, _: replace(request, gpu="none")),
    Fault(("fewer_layers", "more_context", "whole_layers"), _fewer_layers),
    Fault(("one_channel", "slow_modules", "other_load", "older_memory"), _half_the_channels),
    Fault(("cache_in_ram",), _cache_in_ram),
)  # fmt: skip


def request_of(random: Random) -> Request:
    """A model on a machine with a GPU."""
    return Request(
        model=random.choice(MODELS), format=random.choice(("Q4_K_M", "Q6_K")),
        gpu=random.choice(CARDS), cpu=random.choice(CPUS), ram_gb=128,
        context=random.choice((8192, 32768)), prompt=1000, output=256, runtime="llama.cpp",
    )  # fmt: skip


def expected(request: Request) -> Estimate | None:
    """Estimate of a request; None where nothing fits."""
    nouns = request.nouns()
    runtimes = [nouns.runtime] if nouns.runtime else []
    tried = compare(
        nouns.model, nouns.machine, nouns.work, settings=nouns.settings, runtimes=runtimes
    )
    fitting = usable(each for each in tried if nouns.strategy in (None, each.strategy))
    return fitting[0] if fitting else None


def drawn(speed: Range, error: float) -> float:
    """Speed with an error in half widths of its range."""
    value = float(speed.value)
    end = float(speed.high if error >= 0 else speed.low)
    return float(value * (end / value) ** abs(error))


def counted(estimate: Estimate, random: Random, off: tuple[float, ...]) -> ServerReading:
    """Counters of a server that runs as an estimate says, up to errors."""
    decode, prompt = estimate.decode, estimate.prefill
    assert decode is not None
    assert prompt is not None
    error = random.choice(off)
    return ServerReading(
        server="llama.cpp",
        model=f"{estimate.model.name}-{estimate.model.format}.gguf",
        context=float(estimate.work.context),
        tokens=TOKENS,
        token_seconds=TOKENS / drawn(decode, error),
        prompt_tokens=PROMPT,
        prompt_seconds=PROMPT / drawn(prompt, random.choice(off)),
        prompts=PROMPT / 1000,
    )


def false_alarms(random: Random, off: tuple[float, ...]) -> int:
    """Alarms of sound servers."""
    alarms, sound = 0, 0
    while sound < SOUND:
        estimate = expected(request_of(random))
        if estimate is not None:
            sound += 1
            alarms += watched(counted(estimate, random, off), estimate).alarm
    return alarms


def faulty(random: Random) -> tuple[Fault, Estimate, Estimate] | None:
    """A fault, what the server should reach, and what it runs as; None where it does nothing."""
    request, fault = request_of(random), random.choice(FAULTS)
    estimate = expected(request)
    broken = fault.request(request, estimate) if estimate else None
    if estimate is None or broken is None:
        return None
    with suppress(AdvisorError):
        run = expected(broken)
        return None if run is None else (fault, estimate, run)
    return None


def main() -> None:
    """Print both kinds of error."""
    random, off = Random("watching"), errors()
    alarms = false_alarms(random, off)
    print(f"sound servers: {alarms} false alarms of {SOUND} ({alarms / SOUND:.1%})")
    made, seen, first, three = (Counter[str]() for _ in range(4))
    while made.total() < FAULTY:
        case = faulty(random)
        if case is None:
            continue
        fault, estimate, run = case
        name = fault.causes[0]
        made[name] += 1
        answer = watched(counted(run, random, off), estimate)
        if answer.alarm and answer.diagnosis:
            keys = [cause.row.key for cause in answer.diagnosis.causes]
            seen[name] += 1
            first[name] += bool(keys) and keys[0] in fault.causes
            three[name] += bool(set(keys[:3]) & set(fault.causes))
    for name in made:
        print(f"{name}: {made[name]} made, {seen[name]} alarms, true cause first in "
              f"{first[name]}, among three in {three[name]}")  # fmt: skip
    total = seen.total()
    print(f"all: {total} alarms of {FAULTY}; first in {first.total() / total:.0%}, among three in "
          f"{three.total() / total:.0%}")  # fmt: skip


if __name__ == "__main__":
    main()
