"""Curves: an answer over a range of one input.

Users together: decoding reads the weights once for all of them, so the total speed grows almost in
proportion to their number while weights take most of the time, as where they cross a link. Each
user has a cache, which takes memory and time.

In place against streamed: in place, a step takes the time to read the weights in RAM or, with many
tokens, the time to compute them on the processor, which grows with each token. Streamed, it takes
the time to copy the weights over the link, for any number of tokens. So streaming is slower with
few tokens and may be faster with many: with more users, and with longer prompts. Some runtimes do
both: llama.cpp copies weights to the GPU for steps of 32 tokens and more. Such a step counts as
streamed; its speed in place is that of micro-batches below 32 tokens.

Further curves: layers on the GPU, the page cache, tokens a month.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.readers import readers
from advisor.advice.words.verdict import Advice
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Location, PlacementStrategy, Settings
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.errors import Refusal
from advisor.machine.machine import Machine
from advisor.model.model import Floats, Model
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import as_run

USERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Numbers of users that are drawn, beside the limits."""


@dataclass(frozen=True, kw_only=True)
class Together:
    """Speeds of one runtime and placement over the number of users."""

    estimate: Estimate  # estimate that is varied
    users: Floats  # numbers of users that fit, shape (points,)
    each: Floats  # speed of each user, shape (points,) [tokens/s]
    kv_bytes: float  # cache of one user, for the whole context [B]
    memory_ends: int | None  # largest number of users that fit; None if all of `USERS` do
    target: float  # speed that each user should have [tokens/s]
    target_ends: int | None  # most users who all have it, 0 if none; None if all that fit do

    @property
    def total(self) -> Floats:
        """Speed of all users together, shape (points,) [tokens/s]."""
        return self.each * self.users

    @property
    def gain(self) -> float:
        """Total speed of the largest number of users, relative to a single user."""
        return float(self.total[-1] / self.total[0])


def together(estimate: Estimate, target: float) -> Together | None:
    """Speeds of a runtime and placement over the number of users; None if not even one fits."""
    most = min(readers(estimate, 0.0), USERS[-1])
    if most == 0:
        return None
    enough = min(readers(estimate, target), most)
    counts = sorted({count for count in (*USERS, most, enough) if 0 < count <= most})
    single, swept = (
        estimate.again(work=replace(estimate.work, users=users)) for users in (1, np.array(counts))
    )
    if single.placement:
        held = single.placement.parts_held(single.model, single.work)
    else:
        held = {}
    return Together(
        estimate=estimate,
        users=np.array(counts, dtype=float),
        each=np.broadcast_to(np.asarray(swept.decode_tps), len(counts)),
        kv_bytes=sum(parts["KV cache"] for parts in held.values()),
        memory_ends=None if most == USERS[-1] else most,
        target=target,
        target_ends=None if enough == most else enough,
    )


PROMPTS = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
"""Prompt lengths that are tried, up to the context [tokens]."""


SMALL_BATCH = 16  # micro-batch for which no runtime copies weights to the GPU [tokens]


@dataclass(frozen=True, kw_only=True)
class RuntimeCurve:
    """Fastest of several runtimes at each point."""

    runtimes: tuple[str, ...]  # name of the runtime, shape (points,); empty where none fits
    speed: Floats  # total speed of all users, NaN where none fits, shape (points,) [tokens/s]


@dataclass(frozen=True, kw_only=True)
class Crossover:
    """Curves of reading weights in RAM and of streaming them, over users or prompt length."""

    at: Floats  # users or prompt tokens, shape (points,)
    in_place: RuntimeCurve  # runtimes whose processor reads the weights in RAM for a single user
    streamed: RuntimeCurve  # runtimes that copy the weights over the link

    @property
    def overtakes(self) -> float | None:
        """Point from which streaming is faster or the only option; None if never."""
        met = crossing(self.at, self.in_place.speed, self.streamed.speed)
        alone = np.isfinite(self.streamed.speed) & ~np.isfinite(self.in_place.speed)
        if met is None and np.any(alone):
            return float(self.at[np.argmax(alone)])
        return met


Vary = Callable[[Workload, int, Route], Workload]
"""Request at a point of a curve, for one of both ways."""


def by_users(estimates: Iterable[Estimate]) -> Crossover | None:
    """Total tokens per second against the number of users; None if either way is missing."""
    return _sweep(estimates, USERS, "decode", lambda work, users, _: replace(work, users=users))


def by_prompt(estimates: Sequence[Estimate]) -> Crossover | None:
    """Prompt tokens per second against the length of the prompt; None if either way is missing."""

    def reading(work: Workload, length: int, way: Route) -> Workload:
        batch = np.minimum(work.ubatch, SMALL_BATCH if way is Route.IN_PLACE else np.inf)
        return replace(work, prompt=length, cached=0, ubatch=batch)

    if estimates:
        context = float(estimates[0].work.context)
    else:
        context = 0.0
    lengths = [length for length in PROMPTS if length <= context]
    return _sweep(estimates, lengths, "prefill", reading)


def _sweep(
    estimates: Iterable[Estimate], at: Sequence[int], phase: str, vary: Vary
) -> Crossover | None:
    in_place, streamed = sides(estimates)
    ways = (
        _along(in_place, at, phase, vary, Route.IN_PLACE),
        _along([*streamed, *in_place], at, phase, vary, Route.STREAMED),
    )
    if not all(np.any(np.isfinite(way.speed)) for way in ways):
        return None
    return Crossover(at=np.array(at, dtype=float), in_place=ways[0], streamed=ways[1])


def _along(
    some: Sequence[Estimate], at: Iterable[int], phase: str, vary: Vary, way: Route
) -> RuntimeCurve:
    """Fastest runtime at each point; a runtime that no longer fits stays out at later points."""
    left = list(some)
    names = []
    speeds = []
    for value in at:
        tried = [(side, side.again(work=vary(side.work, value, way))) for side in left]
        left = [side for side, varied in tried if bool(varied.fits)]
        rates = [
            (varied.runtime.name, _rate(varied, phase))
            for _, varied in tried
            if bool(varied.fits) and _goes(varied, phase, way)
        ]
        name, speed = max(rates, key=lambda pair: pair[1], default=("", math.nan))
        names.append(name)
        speeds.append(speed)
    return RuntimeCurve(runtimes=tuple(names), speed=np.array(speeds))


def _rate(estimate: Estimate, phase: str) -> float:
    """Speed of a phase, of all users together [tokens/s]."""
    speed = getattr(estimate, phase)
    if phase == "decode":
        together = float(estimate.work.users)
    else:
        together = 1.0
    if speed is None:
        return 0.0
    return float(speed.value) * together


def _goes(estimate: Estimate, phase: str, way: Route) -> bool:
    """Whether its weights take this way in a phase; any copied weights count as streamed."""
    if estimate.phases:
        stages = getattr(estimate.phases, phase).stages
    else:
        stages = ()
    flows = [flow for stage in stages for flow in stage]
    copied = any(flow.route is Route.STREAMED and np.any(flow.moved > 0) for flow in flows)
    read = any(
        flow.route is Route.IN_PLACE and flow.load is not None and np.any(flow.load.weights > 0)
        for flow in flows
    )
    if way is Route.STREAMED:
        return copied
    return read and not copied


def sides(estimates: Iterable[Estimate]) -> tuple[list[Estimate], list[Estimate]]:
    """Runtimes that read weights in RAM for one user, and runtimes that copy weights to the GPU."""
    in_place = []
    streamed = []
    for each in estimates:
        if each.strategy is not PlacementStrategy.CPU_OFFLOAD or each.placement is None:
            continue
        alone = each.again(work=replace(each.work, users=1))
        if Route.STREAMED in alone.routes:
            streamed.append(each)
        elif Route.IN_PLACE in alone.routes:
            in_place.append(each)
    return in_place, streamed


def crossing(at: Floats, first: Floats, second: Floats) -> float | None:
    """Last input at which the second of two curves rises above the first; None where it does not.

    It is the first point if the second curve is above from the start, and None if it is not above
    at the last point.

    Between two points log(second / first) is taken as linear in log(at); the curves cross where it
    is zero. Curves end where they are NaN.
    """
    there = np.isfinite(first) & np.isfinite(second)
    if not np.any(there):
        return None
    points = np.asarray(at)[there]
    ahead = np.log(second[there] / first[there])
    if ahead[-1] <= 0:
        return None
    behind = np.flatnonzero(ahead <= 0)
    if not behind.size:
        return float(points[0])
    before = behind[-1]
    share = -ahead[before] / (ahead[before + 1] - ahead[before])
    low = np.log(points[before])
    high = np.log(points[before + 1])
    return float(np.exp(low + share * (high - low)))


Line = tuple[Floats, Floats]  # inputs and values of a curve, of shape (points,) each


def speed_by_layers(
    requested: Model, machine: Machine, work: Workload, runtime: Runtime = LLAMA_CPP
) -> Line | None:
    """Decode speed [tokens/s] with each number of layers on the GPU for which VRAM and RAM are
    large enough.

    The runtime's free choices stay free.

    None without a GPU, and for runtimes that are not told how many or do not take the model.
    """
    if not machine.gpus or not runtime.takes_layers:
        return None
    try:
        model = as_run(requested, runtime, machine)
    except Refusal:
        return None
    layers = np.arange(model.layers + 1, dtype=float)
    nouns = (model, machine, work, runtime, PlacementStrategy.CPU_OFFLOAD)
    swept = estimate(*nouns, settings=Settings(gpu_layers=layers))
    placed = estimate(*nouns).placement
    # None where the whole model fits, which this placement then leaves in RAM.
    if placed and placed.gpu_layers:
        most = float(placed.gpu_layers)
    else:
        most = float(model.layers)
    if swept.decode is None:
        return None
    fits = np.broadcast_to(swept.fits, layers.shape) & (layers <= most)
    return layers[fits], np.broadcast_to(swept.decode.value, layers.shape)[fits]


def cost_by_tokens(advice: Advice, points: int = 60) -> dict[str, Line]:
    """Monthly cost, with the value of waiting, against tokens generated per month [USD/month].

    It has lines for the present machine and the verdict's option, up to twice their break-even, and
    none for what does not run, as where there is no machine yet.
    """
    kept = advice.options[0]
    option = next(iter(advice.choice.named), None)
    if advice.best is None or option is None or option.hours_lost is None or option.tokens <= 0:
        return {}
    most = max(2.0 * (option.break_even_tokens or 0.0), option.tokens)
    tokens = np.linspace(0.0, most, points)
    lines = dict[str, Line]()
    for name, row in (("as it is", kept), (option.name, option)):
        if row.cost is not None and row.hours_lost is not None:
            each = (row.cost.by_use + row.hours_lost * row.worth) / row.tokens
            lines[name] = (tokens, row.cost.fixed + row.standing + each * tokens)
    return lines


def page_cache_for(estimated: Estimate, speed: float) -> float | None:
    """Smallest page cache with which llama.cpp reaches a speed from the drive; None where no size
    does [B].
    """
    if estimated.placement is None or estimated.runtime is not LLAMA_CPP:
        return None
    on_disk = float(estimated.placement.weight_bytes(estimated.model, Location.DISK))
    sizes = np.linspace(0.0, on_disk, 65)
    split = Settings(
        gpu_layers=estimated.placement.gpu_layers,
        cpu_moe=estimated.placement.cpu_moe,
        page_cache=sizes,
    )
    swept = estimated.again(settings=split)
    if swept.decode is None:
        return None
    enough = np.flatnonzero(np.broadcast_to(swept.decode.value, sizes.shape) >= speed)
    if enough.size:
        return float(sizes[enough[0]])
    return None
