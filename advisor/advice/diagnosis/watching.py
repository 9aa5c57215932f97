"""Comparison of a running server's speed with the predicted speed.

An alarm is a speed as far below its range as hardly a published run of its kind is (`slowest`), so
that at most two sound servers in a hundred raise it (`python -m benchmarks.watching`). What the
server tells of its file, context and users rules causes out; what this machine tells of its process
makes others likelier or unlikelier (`observations`).
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

import numpy as np

from advisor.advice.diagnosis.diagnose import (
    BEYOND,
    Diagnosis,
    Measured,
    Outcome,
    diagnose,
    distance,
    likeliest,
)
from advisor.advice.diagnosis.facts import OF_FILE, Observation, of_format, other_model
from advisor.advice.diagnosis.measured_run import MeasuredRun, measured_run
from advisor.catalog.accuracy_points import accuracy_points
from advisor.catalog.inputs import INPUTS
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Tier
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import FixedTime, StepTime
from advisor.cost_model.workload import Workload
from advisor.formatting import context_size
from advisor.lazy import lazy
from advisor.machine.machine import Link
from advisor.model.formats import Format
from advisor.probes.server import ServerReading
from advisor.probes.server_process import ProcessReading
from advisor.request.estimates import estimates_of
from advisor.request.request import Request
from advisor.units import GIB, memory

USUAL_CONTEXT = Workload.context  # context of a request that states none [tokens]
SHOWN = 50.0
"""Factor of a cause that an observation shows; its reciprocal is that of one it speaks against."""
SLACK = 0.5 * GIB
SHARE = 0.05
"""Memory of a GPU that may be off beside what is placed there: its context and libraries, and a
share of all."""
LARGE = 4 * SLACK  # expected memory of a GPU whose absence is seen [B]
COMPUTES = 0.2  # share of a token's time in RAM from which the processor counts as computing
OFF_GPU = (Route.IN_PLACE, Route.PAGED, Route.STAGED)
"""Routes of a token during which no GPU computes."""
UNSURE = 0.15  # share of the time by which a GPU may be busier or idler than its part of a token
BUSY = 1.5
"""Processors at work from which a server computes on them: a thread that waits for a GPU takes one
(llama.cpp's `--poll`, tools/server/README.md, read 2026-11-23)."""
MUCH = 0.1
"""Share of the processors, of the time or of a file for each token, from which something counts."""
ROOM = 0.95  # share of a usual power limit, or of a link's rate, below which it counts as lower
OFF = ("off", "0", "false", "disabled")
USUAL_REASON = "the power limit"  # reason for reduced clocks that a sound card has under full load
STARTS = ("-m", "--model", "-hf", "--hf-repo", "serve", "--model-path")
"""Options of which a server's command line has one."""
FLAGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "cache_in_ram": (("-nkvo", "--no-kv-offload"), ()),
    "no_flash_attention": (("-fa", "--flash-attn"), OFF),
    "cpu_alone": (("-dev", "--device"), ("none",)),
    "drafted_tokens": (("-md", "--model-draft", "--spec-type"), ()),
    "eager_mode": (("--enforce-eager", "--disable-cuda-graph", "-O0"), ()),
}
"""Options that show a cause, and the values with which they do; empty for any
(tools/server/README.md of llama.cpp, docs.vllm.ai, docs.sglang.io, read 2026-11-23)."""


@dataclass(frozen=True, kw_only=True)
class Watched:
    """Judgement of a server's figures, and of its process where it can be seen.

    They are compared with the prediction for the number of users at work. Raises InputError for
    speeds outside the limits.
    """

    reading: ServerReading
    estimate: Estimate  # what the server should reach
    system: str = ""  # as in `diagnose`
    process: ProcessReading = field(default_factory=ProcessReading)

    def __post_init__(self) -> None:
        _ = self.diagnosis  # which raises

    @lazy
    def run(self) -> MeasuredRun:
        """Run that the estimate predicts."""
        return measured_run(self.estimate, self.system)

    @lazy
    def other_model(self) -> str:
        """Name of the served model where it is not the expected one; empty for the expected one."""
        return other_model(self.reading.model, self.estimate.model)

    @lazy
    def diagnosis(self) -> Diagnosis | None:
        """Diagnosis of the server's speeds; None for too few tokens, or another model."""
        if self.other_model:
            return None
        no_longer = self.reading.context is not None and not self.longer
        measured = speeds(self.reading, KNOWN | OF_CONTEXT if no_longer else KNOWN)
        if measured is None:
            return None
        measured = replace(measured, evidence=self.factor, shown=self.shown)
        return diagnose(self.estimate, measured, self.system)

    @property
    def alarm(self) -> bool:
        """Whether a speed is below the 2 % quantile of its range, memory not where it should, or
        another model served.
        """
        if self.other_model:
            return True
        return self.spilled or (self.diagnosis is not None and _below(self.diagnosis))

    @property
    def sound(self) -> bool:
        """Whether there is no alarm, no sign of trouble, and no speed below its range."""
        slower = self.diagnosis is not None and Outcome.SLOWER in self.diagnosis.outcomes
        return not (self.alarm or self.signs or slower)

    @property
    def signs(self) -> tuple[str, ...]:
        """Sentences on signs of trouble, each with a remedy."""
        if self.other_model:
            return (self._of_other_model,)
        return tuple(each.words for each in self.observations if each.shows and each.words)

    @property
    def _of_other_model(self) -> str:
        return (
            f"It serves {self.reading.model[:80]} ({self.other_model}), and "
            f"{self.estimate.model.title} is expected, so its speed is not judged: name the model "
            "that it serves (--model), or load the expected one."
        )

    @property
    def longer(self) -> bool:
        """Whether each user has a longer context than is expected."""
        return (self.reading.context or 0.0) > 1.5 * float(self.estimate.work.context)

    @property
    def shorter(self) -> bool:
        """Whether the context of the server is too short for the request, or for its stated one."""
        served = self.reading.context
        if served is None:
            return False
        work = self.estimate.work
        stated = float(work.context) != USUAL_CONTEXT
        needed = float(work.context) if stated else float(work.prompt) + float(work.output)
        return served < needed

    @property
    def spilled(self) -> bool:
        """Whether a part of the model lies in RAM that fits in the GPU."""
        resident = self.estimate.strategy is PlacementStrategy.GPU_RESIDENT
        return resident and self.reading.in_gpu is not None and self.reading.in_gpu < WHOLE

    @lazy
    def observations(self) -> tuple[Observation, ...]:
        """Observations on causes, one for each thing that was seen."""
        rules = (_counts, _file, _memory, _flags, _threads, _others, _limit, _drive, _clocks, _link)
        return tuple(seen for rule in rules for seen in rule(self))

    @property
    def shown(self) -> frozenset[str]:
        """Causes that an observation shows."""
        return frozenset(key for each in self.observations if each.shows for key in each.causes)

    @property
    def seconds(self) -> float:
        """Time at work, of all users together [s]."""
        at_work = (self.reading.token_seconds or 0.0) + (self.reading.prompt_seconds or 0.0)
        return at_work / max(self.reading.running or 1.0, 1.0)

    def factor(self, key: str, after: Estimate) -> float:
        """Factor by which the observations make a cause likelier, by its key and the estimate with
        it.
        """
        factor = self._of_memory(after) * self._of_processors(after) * self._of_gpu(after)
        for each in self.observations:
            if key in each.causes:
                factor *= SHOWN if each.shows else 1.0 / SHOWN
        if key in OF_FILE:
            form = served_format(self.reading)
        else:
            form = ""
        if form and after.model.format != form:
            return factor / SHOWN
        return factor

    def _of_memory(self, after: Estimate) -> float:
        held = _in_gpu(after)
        used = self.process.gpu_bytes
        if used is None or not _in_gpu(self.estimate):
            return 1.0
        return _likelihood(abs(used - held) / (SLACK + SHARE * held))

    def _of_gpu(self, after: Estimate) -> float:
        busy = self.process.gpu_busy
        if busy is None or not self.seconds or not after.runtime.takes_layers:
            return 1.0
        spent = (self.reading.token_seconds or 0.0, self.reading.prompt_seconds or 0.0)
        shares = [_gpu_share(time) for time in (after.step, after.prompt)]
        least, most = (
            sum(each * share for each, share in zip(spent, ends, strict=True)) / sum(spent)
            for ends in zip(*shares, strict=True)
        )
        if after.machine.gpus:
            off = max(least - busy, busy - most)
        else:
            off = busy
        return _likelihood(max(off, 0.0) / UNSURE)

    def _of_processors(self, after: Estimate) -> float:
        busy = self.process.busy
        allowed = self.process.processors
        if after.step:
            parts = after.step.parts
        else:
            parts = {}
        share = float(parts.get(Route.IN_PLACE, 0.0)) / max(sum(map(float, parts.values())), 1e-12)
        if busy is None or not self.seconds or (allowed or 1) <= 2 or 0 < share < COMPUTES:
            return 1.0
        if not after.runtime.takes_layers:  # others keep several busy without computing there
            return 1.0
        if (busy / self.seconds >= BUSY) is (share > 0):
            return 1.0
        return 1.0 / SHOWN


def _likelihood(off: float) -> float:
    """Factor of a cause whose figure is off, in half widths."""
    return float(max(BEYOND**off, 1.0 / SHOWN))


def _gpu_share(time: StepTime | None) -> tuple[float, float]:
    """Shares of a time in which a GPU computes, at least and at most: copies over the link and
    hand-overs may run beside its kernels or not.
    """
    if time is None:
        return 0.0, 1.0
    parts = {name: float(part) for name, part in time.parts.items()}
    whole = max(sum(parts.values()), 1e-12)
    there = parts.get(Route.RESIDENT, 0.0)
    beside = sum(parts.get(route, 0.0) for route in OFF_GPU)
    layers = (
        parts.get(FixedTime.LAYERS, 0.0) * beside / max(there + beside, 1e-12)
    )  # of the processor
    hidden = sum(
        parts.get(name, 0.0) for name in (Route.STREAMED, FixedTime.CROSSINGS, FixedTime.TOKEN)
    )
    most = 1.0 - (beside + layers) / whole
    return most - hidden / whole, most


def _in_gpu(estimate: Estimate) -> float:
    """Memory held on cards of their own [B]."""
    held = () if estimate.machine.unified else estimate.held.get(Tier.VRAM, ())
    return float(sum(map(float, held)))


def served_format(reading: ServerReading) -> str:
    """Format that the served file's name says; empty where it says none."""
    stem = reading.model.upper().replace("-", "_").removesuffix(".GGUF")
    named = [form for form in Format.by_name() if stem.endswith((f"_{form}", f".{form}"))]
    return max(named, key=len, default="")


def _counts(seen: Watched) -> Iterator[Observation]:
    """Observations from the server's own figures."""
    reading = seen.reading
    if seen.spilled:
        share = 1.0 - (reading.in_gpu or 0.0)
        words = (
            f"{share:.0%} of the model lies in RAM, though it fits in the GPU: close what else "
            "uses the GPU, or give it a shorter context, and load it again."
        )
        yield Observation(True, words=words)
    if seen.longer:
        words = (
            f"Each user has a context of {context_size(reading.context or 0.0)}, where "
            f"{context_size(float(seen.run.work.context))} is expected: its cache takes memory "
            "from the weights."
        )
        yield Observation(True, words=words)
    if seen.shorter:
        words = (
            f"Each user has a context of {context_size(reading.context or 0.0)}, and "
            f"{context_size(float(seen.run.work.context))} is expected: longer conversations are "
            "refused or lose their beginning, so start it with a larger one."
        )
        yield Observation(True, words=words)
    if reading.preemptions:
        words = (
            f"{reading.preemptions:,.0f} users were thrown out of the cache and computed anew: "
            "allow fewer at the same time, or a shorter context."
        )
        yield Observation(True, words=words)
    if reading.waiting:
        yield Observation(True, words=f"{reading.waiting:,.0f} users wait in the queue now.")
    queries = reading.cache_queries or 0.0
    if queries >= LEAST_PROMPT and (reading.cache_hits or 0.0) <= SELDOM * queries:
        words = (
            "The prefix cache hardly ever hits: prompts that share their beginning have to be the "
            "same to the letter there (dates and names at the end), and the cache to have room."
        )
        yield Observation(True, words=words)


def _file(seen: Watched) -> Iterator[Observation]:
    form = served_format(seen.reading)
    model = seen.run.model
    if form:
        words = f"It serves {form}, where {model.format} is expected."
        yield from of_format(form, model, words)


def _memory(seen: Watched) -> Iterator[Observation]:
    expected = _in_gpu(seen.run)
    used = seen.process.gpu_bytes
    if used is not None and expected >= LARGE:
        words = (
            f"It holds no GPU memory, where {memory(expected)} is expected: it does not use the "
            "GPU."
        )
        yield Observation(used < SLACK, ("cpu_alone",), words)


def _flags(seen: Watched) -> Iterator[Observation]:
    words = seen.process.words
    if not set(words) & set(STARTS):
        return
    for key, (names, values) in FLAGS.items():
        given = (value for name in names for value in _values(words, name))
        shows = any(value in (values or (value,)) for value in given)
        if shows or key != "cpu_alone":  # a build without the GPU needs no option
            yield Observation(shows, (key,))


def _values(words: tuple[str, ...], name: str) -> Iterator[str]:
    """Words after an option, an empty one at the end."""
    for word, after in pairwise((*words, "")):
        if word == name:
            yield after
        elif word.startswith(f"{name}="):
            yield word.partition("=")[2]


def _threads(seen: Watched) -> Iterator[Observation]:
    allowed = seen.process.processors
    cores = seen.run.machine.host.cores
    given = [*_values(seen.process.words, "-t"), *_values(seen.process.words, "--threads")]
    set_to = next((float(word) for word in given if word.isdigit()), None)
    if seen.run.runtime.takes_layers and (allowed or set_to):
        threads = min(set_to or cores, allowed or cores)
        words = (
            f"It computes with {threads:.0f} of {cores} cores: set `-t` to the physical cores, and "
            "let it use them all (`taskset -p`, limits of a container)."
        )
        yield Observation(threads < cores, ("few_threads",), words)
        yield Observation(threads > cores, ("many_threads",))


def _others(seen: Watched) -> Iterator[Observation]:
    others = seen.process.others
    programs = seen.process.gpu_programs
    if others is not None and others >= MUCH:
        words = f"Other programs take {others:.0%} of the processors: close them."
        yield Observation(True, ("other_load",), words)
    if programs:
        words = f"Other programs that compute on the GPU: {programs}; nvidia-smi lists them."
        yield Observation(True, ("other_load",), words)
    if programs is not None:  # the driver lists the server itself
        yield Observation(False, ("cpu_alone",))
    if others is not None and others < MUCH and (programs == 0 or not seen.run.machine.gpus):
        yield Observation(False, ("other_load",))


def _limit(seen: Watched) -> Iterator[Observation]:
    """Room for the weights that RAM is to hold: under a limit, and beside other programs."""
    run = seen.run
    weights = 0.0
    if run.strategy is PlacementStrategy.CPU_OFFLOAD:
        weights = float(run.placement.weight_bytes(run.model, Location.RAM))
    for key, room, words in (
        (
            "memory_limit",
            seen.process.memory_limit,
            "A limit leaves it {} of RAM (`--memory` of a "
            "container, MemoryMax of a unit), where the model takes {}: raise it.",
        ),
        (
            "pages_lost",
            seen.process.spare,
            "Programs leave {} of RAM, where the model takes {}: "
            "close what takes RAM, or choose a smaller format.",
        ),
    ):
        if weights and room is not None:
            text = words.format(memory(room), memory(weights))
            yield Observation(room < weights, (key,), text)


def _drive(seen: Watched) -> Iterator[Observation]:
    read = seen.process.read
    disk = seen.run.machine.disk
    on_drive = seen.run.strategy is PlacementStrategy.NVME_OFFLOAD
    if read is None or disk is None or on_drive or not seen.seconds:
        return
    again = MUCH * seen.run.model.file_bytes * max(seen.reading.tokens or 0.0, 1.0)
    words = (
        f"It read {memory(read)} from the drive meanwhile: RAM does not hold the file. Close what "
        "takes RAM, or choose a smaller format."
    )
    much = read >= min(again, MUCH * seen.seconds * float(disk.for_pages.value))
    yield Observation(much, ("pages_lost", "memory_limit", "slow_drive"), words)


def _clocks(seen: Watched) -> Iterator[Observation]:
    reasons = seen.process.slowed_by
    power = seen.process.power
    if reasons is None:
        return
    amiss = [why for why in reasons if why != USUAL_REASON]
    if reasons and not seen.process.gpu_programs:
        yield Observation(False, ("cpu_alone",))  # an idle card is not slowed
    if amiss:
        words = f"The GPU is slowed by {' and '.join(amiss)}."
        yield Observation(True, ("gpu_limits",), words)
    elif power is not None and power < ROOM:
        words = f"The GPU's power limit is {power:.0%} of its usual one."
        yield Observation(True, ("gpu_limits",), words)
    elif not reasons:
        yield Observation(False, ("gpu_limits",))


def _link(seen: Watched) -> Iterator[Observation]:
    link = seen.process.link
    gpus = seen.run.machine.gpus
    if link is not None and gpus:
        now = Link.pcie(*link)
        words = f"Its link was never faster than {now.name}, where more is expected."
        slower = now.pinned.value < ROOM * gpus[0].link.pinned.value
        yield Observation(bool(slower), ("narrow_link",), words)


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
    "in tiers": ("experts in tiers",),
    "prompt, in tiers": ("prompt, experts in tiers",),
}  # fmt: skip
"""Regimes of the published runs that a server's speed is judged by."""
KNOWN = frozenset({"whole_reply", "all_users", "other_requests", "empty_context"})
"""Causes that a server's own counters and number of users leave no room for."""
OF_CONTEXT = frozenset({"more_context"})
LEAST_TOKENS = 200  # generated tokens from which a speed is judged [tokens]
LEAST_PROMPT = 1000
"""Prompt tokens from which a prompt's speed or the cache's hits are judged [tokens]."""
WHOLE = 0.98  # share of a model in GPU memory that counts as all
SELDOM = 0.02  # share of prompt tokens that a prefix cache holds, up to which it never hits


def expected(request: Request, reading: ServerReading) -> Estimate:
    """Predicted estimate of a server, in the format of its file and for its number of users.

    A stated format or number of users comes first. Raises InputError where nothing that its runtime
    does fits.
    """
    request = replace(
        request,
        runtime=request.runtime or reading.server,
        format=request.format or served_format(reading),
    )
    if request.users == 1 and reading.running and reading.running > 1:
        most = INPUTS["users"].limits or (1.0, 1.0)
        request = replace(request, users=min(round(reading.running), int(most[1])))
    return likeliest(estimates_of(request.nouns(), ()))


def speeds(reading: ServerReading, ruled_out: frozenset[str] = frozenset()) -> Measured | None:
    """Mean speeds of a reading, with causes that are ruled out; None before enough tokens."""
    if not reading.tokens or not reading.token_seconds or reading.tokens < LEAST_TOKENS:
        return None
    prompt = None
    length = None
    if reading.prompt_tokens and reading.prompt_seconds and reading.prompt_tokens >= LEAST_PROMPT:
        prompt = reading.prompt_tokens / reading.prompt_seconds
        if reading.prompts:
            length = reading.prompt_tokens / reading.prompts
        else:
            length = None
    decode = reading.tokens / reading.token_seconds
    return Measured(decode=decode, prompt=prompt, prompt_tokens=length, ruled_out=ruled_out)


def _below(diagnosis: Diagnosis) -> bool:
    kind = _kind(diagnosis.run)
    limits = slowest()[kind], slowest()[f"prompt, {kind}"]
    pairs = diagnosis.measured.beside(diagnosis.predicted)
    return any(distance(*pair) < limits[at] for at, pair in enumerate(pairs))


def _kind(estimate: Estimate) -> str:
    if estimate.runtime.engine == "tiers" and "in tiers" in slowest():
        return "in tiers"
    if not estimate.runtime.takes_layers:
        return "engine"
    if estimate.strategy is PlacementStrategy.GPU_RESIDENT:
        return "resident"
    return "in RAM"


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
