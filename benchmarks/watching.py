"""How well `watch` judges: 300 sound servers and 200 with a fault, made without the diagnosis.

    python -m benchmarks.watching [SEED]

The speed of each is its estimate times an error drawn from published runs that were left out of the
fit, in half widths of their ranges. A fault changes the machine or the placement whose estimate is
taken, or slows it by a drawn factor. Each alarm is judged twice: by the counters of llama-server
alone, and with what this machine would tell of its process: sizes, times and states, drawn about
what the faulty estimate says, three in ten of them unseen; what is seen is true. It prints false
alarms, missed faults (a fault within the range raises no alarm; a sign may name it all the same),
how often the true cause stands first or among the first three of an alarm, and what it was taken
for.
"""

import csv
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from advisor.advice.diagnosis.watching import Watched
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Tier
from advisor.cost_model.timing import StepTime
from advisor.cost_model.uncertainty import Range
from advisor.errors import AdvisorError
from advisor.machine.catalog import GPUS
from advisor.probes.server import ServerReading
from advisor.probes.server_process import ProcessReading
from advisor.request.estimates import estimates_of
from advisor.request.request import Request
from advisor.runtimes.compare import usable
from advisor.units import GIB

SOUND = 300
FAULTY = 200
REGIMES = {
    "resident, dense": "resident", "resident, experts": "resident",
    "CPU alone": "in RAM", "CPU alone, RAM stated": "in RAM",
    "experts in RAM": "in RAM", "experts in RAM, RAM stated": "in RAM",
    "prompt, resident": "prompt, resident",
    "prompt, CPU alone": "prompt, in RAM", "prompt, experts in RAM": "prompt, in RAM",
}  # fmt: skip
"""What published runs are like: where the weights lie, and which speed it is."""
MODELS = ("Llama-3.1-8B", "Qwen3-8B", "Qwen3-14B", "Gemma 3 12B", "Qwen3-32B", "Qwen3-30B-A3B",
          "gpt-oss-20b", "Llama-3.1-70B", "gpt-oss-120b", "GLM-4.5-Air")  # fmt: skip
CARDS = ("RTX 3060 12GB", "RTX 3090", "RTX 4090", "RTX 5090", "RTX 4060 Ti 16GB", "RTX A6000")
CPUS = ("Ryzen 9 7950X", "Core i5-12400", "Ryzen 5 5600", "EPYC 7763")
TOKENS = 3000.0
PROMPT = 20000.0
UNSEEN = 0.3  # share of what a process shows that a system does not tell; assumed
Errors = Mapping[str, Sequence[float]]


def errors() -> Errors:
    """Left-out errors of published runs of each kind, in half widths of their ranges."""
    off = defaultdict[str, list[float]](list)
    with (DATA / "generated/accuracy_points.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["regime"] in REGIMES and row["scored"] == "True":
                error = math.log(float(row["measured"]) / float(row["predicted"]))
                width = float(row["above" if error >= 0 else "below"])
                off[REGIMES[row["regime"]]].append(error / width)
    return off


@dataclass(frozen=True)
class Faulty:
    """A server with a fault: the request whose estimate has it, and what shows it."""

    request: Request
    process: Mapping[str, Any] = field(default_factory=dict)  # what its process shows otherwise
    speeds: tuple[float, float] = (1.0, 1.0)  # factors of generation and prompt


@dataclass(frozen=True)
class Fault:
    """A fault: the causes that name it, and a server that has it; None where it does nothing."""

    causes: tuple[str, ...]
    server: Callable[[Request, Estimate, Random], Faulty | None]


def _without_gpu(request: Request, _: Estimate, __: Random) -> Faulty:
    unlisted = {"slowed_by": None, "power": None, "link": None, "gpu_programs": None}
    return Faulty(replace(request, gpu="none"), unlisted)


def _fewer_layers(request: Request, estimate: Estimate, random: Random) -> Faulty | None:
    placed = estimate.placement
    if placed:
        layers = float(placed.gpu_layers)
    else:
        layers = 0.0
    fewer = int(layers * random.uniform(0.3, 0.8))
    split = replace(request, gpu_layers=fewer, placement="cpu-offload")
    if layers >= 10:
        return Faulty(split)
    return None


def _in_ram(estimate: Estimate) -> bool:
    return any(str(route) == "in_place" for route in estimate.routes)


def _half_the_channels(request: Request, estimate: Estimate, _: Random) -> Faulty | None:
    if _in_ram(estimate):
        return Faulty(replace(request, ram_channels=1))
    return None


def _few_threads(request: Request, estimate: Estimate, random: Random) -> Faulty | None:
    cores = estimate.machine.host.cores
    used = random.randint(2, max(cores // 3, 2))
    shown = random.choice(({"processors": float(used)}, {"words": (*SERVER, "-t", str(used))}))
    if _in_ram(estimate):
        return Faulty(replace(request, cores=used), shown)
    return None


def _cache_in_ram(request: Request, _: Estimate, __: Random) -> Faulty | None:
    moved = replace(request, kv_in_ram=True)
    if request.context >= 32768:
        return Faulty(moved, {"words": (*SERVER, "-nkvo")})
    return None


def _little_memory(shows: str) -> Callable[[Request, Estimate, Random], Faulty | None]:
    """Room for a part of what is to lie in RAM, under a limit or beside other programs."""

    def faulty(request: Request, estimate: Estimate, random: Random) -> Faulty | None:
        if not _in_ram(estimate):
            return None
        held = sum(map(float, estimate.held.get(Tier.RAM, ())))
        cache = held * random.uniform(0.2, 0.7)
        paged = replace(request, placement="nvme-offload", cache_gb=cache / 1e9)
        return Faulty(paged, {shows: cache})

    return faulty


def _on_gpu(estimate: Estimate, left: tuple[float, float]) -> tuple[float, float]:
    """Factors of both speeds where a GPU keeps shares of its own: the rest takes as long."""
    factors = []
    for time, share in zip((estimate.step, estimate.prompt), left, strict=True):
        there = on_gpu(time)
        factors.append(1.0 / (1.0 - there + there / share))
    return factors[0], factors[1]


POWER = ((1 / 2, 0.93, 0.77), (1 / 3, 0.68, 0.55), (2 / 7, 0.17, 0.14))
"""Power limits with what is left of generation and prompt: lc0627 to lc0630 of
data/measurements/llama_cpp.csv, llmgarage.ai (read 2026-11-21)."""


def _hot(request: Request, estimate: Estimate, random: Random) -> Faulty:
    """Heat takes clocks to a half and less (`HW Slowdown`, docs.nvidia.com, nvidia-smi)."""
    slower = random.uniform(0.2, 0.7)
    left = (slower, slower * random.uniform(0.7, 1.0))
    return Faulty(request, {"slowed_by": ("heat",)}, _on_gpu(estimate, left))


def _little_power(request: Request, estimate: Estimate, random: Random) -> Faulty:
    share, decode, prompt = random.choice(POWER)
    shown = {"power": share, "slowed_by": ("the power limit",)}
    return Faulty(request, shown, _on_gpu(estimate, (decode, prompt)))


def _shared_gpu(request: Request, estimate: Estimate, random: Random) -> Faulty:
    left = random.uniform(0.3, 0.7)
    return Faulty(request, {"gpu_programs": 1, "gpu_busy": 1.0}, _on_gpu(estimate, (left, left)))


def _shared_processor(request: Request, estimate: Estimate, random: Random) -> Faulty | None:
    machine = estimate.machine
    left = random.uniform(0.3, 0.7)
    if not _in_ram(estimate):
        return None
    host = machine.host
    rate = float(host.bandwidth.value) * left / 1e9
    slower = replace(request, cores=max(int(host.cores * left), 1), ram_gbs=rate)
    return Faulty(slower, {"others": 1.0 - left})


def _thin_link(request: Request, estimate: Estimate, random: Random) -> Faulty | None:
    made, lanes = random.choice(((1, 16), (3, 4), (2, 4), (1, 4)))
    prompt = estimate.prompt
    if prompt is None or not any(str(route) == "streamed" for route in prompt.parts):
        return None
    return Faulty(replace(request, pcie_gen=made, pcie_lanes=lanes), {"link": (made, lanes)})


def _larger_file(request: Request, _: Estimate, __: Random) -> Faulty:
    return Faulty(replace(request, format="Q8_0"))


SERVER = ("llama-server", "-m", "model.gguf")
FAULTS = (
    Fault(("cpu_alone",), _without_gpu),
    Fault(("fewer_layers", "more_context", "whole_layers"), _fewer_layers),
    Fault(("one_channel", "slow_modules", "older_memory"), _half_the_channels),
    Fault(("few_threads",), _few_threads),
    Fault(("cache_in_ram",), _cache_in_ram),
    Fault(("pages_lost", "slow_drive"), _little_memory("spare")),
    Fault(("memory_limit",), _little_memory("memory_limit")),
    Fault(("gpu_limits",), _hot),
    Fault(("gpu_limits",), _little_power),
    Fault(("other_load",), _shared_gpu),
    Fault(("other_load",), _shared_processor),
    Fault(("narrow_link",), _thin_link),
    Fault(("larger_file",), _larger_file),
)


def request_of(random: Random) -> Request:
    """A model on a machine with a GPU."""
    return Request(
        model=random.choice(MODELS),
        format=random.choice(("Q4_K_M", "Q6_K")),
        gpu=random.choice(CARDS),
        cpu=random.choice(CPUS),
        ram_gb=128,
        context=random.choice((8192, 32768)),
        prompt=1000,
        output=256,
        runtime="llama.cpp",
    )


def expected(request: Request) -> Estimate | None:
    """Estimate of a request; None where nothing fits."""
    return next(iter(usable(estimates_of(request.nouns()))), None)


def drawn(speed: Range, error: float) -> float:
    """Speed with an error in half widths of its range."""
    value = float(speed.value)
    end = float(speed.high if error >= 0 else speed.low)
    return float(value * (end / value) ** abs(error))


def counted(
    estimate: Estimate,
    random: Random,
    off: Errors,
    factors: tuple[float, float] = (1.0, 1.0),
) -> ServerReading:
    """Counters of a server that runs as an estimate says, up to errors and factors."""
    decode = estimate.decode
    prompt = estimate.prefill
    assert decode is not None
    assert prompt is not None
    if estimate.strategy is PlacementStrategy.GPU_RESIDENT:
        kind = "resident"
    else:
        kind = "in RAM"
    error = random.choice(off[kind])
    beside = random.choice(off[f"prompt, {kind}"])
    return ServerReading(
        server="llama.cpp",
        model=f"{estimate.model.name}-{estimate.model.format}.gguf",
        context=float(estimate.work.context),
        tokens=TOKENS,
        token_seconds=TOKENS / drawn(decode, error) / factors[0],
        prompt_tokens=PROMPT,
        prompt_seconds=PROMPT / drawn(prompt, beside) / factors[1],
        prompts=PROMPT / 1000,
    )


def on_gpu(time: StepTime | None) -> float:
    """Share of a time in which a GPU computes: its weights, and its share of the layers' costs."""
    assert time is not None
    parts = {str(name): float(part) for name, part in time.parts.items()}
    there = parts.get("resident", 0.0)
    rest = sum(parts.get(name, 0.0) for name in ("in_place", "paged", "staged"))
    layers = parts.get("layers", 0.0) * there / max(there + rest, 1e-12)
    return (there + layers) / sum(parts.values())


def process(
    run: Estimate,
    reading: ServerReading,
    sound: Estimate,
    random: Random,
    factors: tuple[float, float] = (1.0, 1.0),
) -> ProcessReading:
    """What this machine tells of a server that runs as an estimate says, up to factors of what its
    GPU does, on the machine of what it should reach.
    """
    assert run.step is not None
    threads = run.machine.host.cores
    needed = sum(map(float, sound.held.get(Tier.RAM, ())))
    ram = float(sound.machine.host.memory.value)
    parts = {str(route): float(part) for route, part in run.step.parts.items()}
    share = {name: part / sum(parts.values()) for name, part in parts.items()}
    seconds = (reading.token_seconds or 0.0) + (reading.prompt_seconds or 0.0)
    disk = run.machine.disk
    cards = run.machine.gpus
    if disk:
        drive = float(disk.sequential.value) * share.get("paged", 0.0) * seconds
    else:
        drive = 0.0
    held = sum(map(float, run.held.get(Tier.VRAM, ())))
    spent = [reading.token_seconds or 0.0, reading.prompt_seconds or 0.0]
    computed = sum(
        each * (1.0 - (1.0 - on_gpu(time)) * slower)
        for each, time, slower in zip(spent, (run.step, run.prompt), factors, strict=True)
    ) / sum(spent)
    row = GPUS.find(cards[0].name) if cards else None
    return ProcessReading(
        words=SERVER,
        processors=2.0 * sound.machine.host.cores,
        busy=seconds * (1 + (threads - 1) * share.get("in_place", 0.0)) * random.uniform(0.8, 1.1),
        others=random.uniform(0.0, 0.06),
        read=drive + random.uniform(0, 1e7),
        gpu_bytes=max(held + random.uniform(-0.4, 0.4) * GIB, 0.0) if cards else 0.0,
        memory_limit=math.inf,
        spare=max(ram * random.uniform(0.6, 0.97), needed),
        gpu_busy=min(max(computed + random.uniform(-0.1, 0.1), 0.0), 1.0) if cards else 0.0,
        gpu_programs=0,
        slowed_by=random.choice(((), (), ("the power limit",))),
        power=1.0,
        link=(int(row.pcie_gen or 0), int(row.pcie_lanes or 0)) if row else None,
    )


def false_alarms(random: Random, off: Errors) -> int:
    """Alarms of sound servers."""
    alarms = 0
    sound = 0
    while sound < SOUND:
        estimate = expected(request_of(random))
        if estimate is not None:
            sound += 1
            alarms += Watched(reading=counted(estimate, random, off), estimate=estimate).alarm
    return alarms


def faulty(random: Random) -> tuple[Fault, Estimate, Estimate, Faulty] | None:
    """A fault, what the server should reach, what it runs as; None where the fault does nothing."""
    request = request_of(random)
    fault = random.choice(FAULTS)
    estimate = expected(request)
    if estimate:
        broken = fault.server(request, estimate, random)
    else:
        broken = None
    if estimate is None or broken is None:
        return None
    with suppress(AdvisorError):
        run = expected(broken.request)
        if run is None:
            return None
        return (fault, estimate, run, broken)
    return None


def main() -> None:
    """Print both kinds of error, and what each fault was taken for."""
    random = Random(sys.argv[1] if len(sys.argv) > 1 else "watching")
    off = errors()
    alarms = false_alarms(random, off)
    print(f"sound servers: {alarms} false alarms of {SOUND} ({alarms / SOUND:.1%})")
    cases: list[tuple[Fault, Estimate, ServerReading, ProcessReading]] = []
    while len(cases) < FAULTY:
        if case := faulty(random):
            fault, estimate, run, broken = case
            reading = counted(run, random, off, broken.speeds)
            usual = process(run, reading, estimate, random, broken.speeds)
            shown = replace(usual, **broken.process)
            seen = {name: value for name, value in vars(shown).items() if random.random() > UNSEEN}
            cases.append((fault, estimate, reading, ProcessReading(**seen)))
    for whole in (False, True):
        print("\nwith its process:" if whole else "\ncounters alone:")
        made = Counter[str]()
        first = Counter[str]()
        three = Counter[str]()
        taken: dict[str, Counter[str]] = {}
        signs = 0
        for fault, estimate, reading, shown in cases:
            name = fault.causes[0]
            made[name] += 1
            answer = Watched(
                reading=reading,
                estimate=estimate,
                system="Linux",
                process=shown if whole else ProcessReading(),
            )
            if answer.alarm and answer.diagnosis:
                keys = [cause.row.key for cause in answer.diagnosis.causes] or ["none"]
                taken.setdefault(name, Counter())[keys[0]] += 1
                first[name] += keys[0] in fault.causes
                three[name] += bool(set(keys[:3]) & set(fault.causes))
            elif answer.diagnosis:
                signs += bool(answer.diagnosis.measured.shown & set(fault.causes))
        for name in made:
            named = taken.get(name, Counter())
            print(
                f"{name}: {made[name]} made, {named.total()} alarms, true cause first in "
                f"{first[name]}, among three in {three[name]}; {dict(named)}"
            )
        total = sum(named.total() for named in taken.values())
        print(
            f"all: {total} alarms of {FAULTY}; first in {first.total() / total:.0%}, among three "
            f"in {three.total() / total:.0%}; a sign names {signs} without one"
        )


if __name__ == "__main__":
    main()
