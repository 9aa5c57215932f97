"""Times that are added to a step beside its schedule, each where one circumstance calls for it.

A slow processor starts a layer's kernels late: the fixed cost of a layer is fitted to cards in
desktops and servers, and a row of data/hardware/launch_costs.csv says how much longer a board of a
few slow cores takes, by patterns of the names of processors, and of GPUs on such a board.

A type of the cache may have no fast kernel: a packed cache is smaller, but where a backend has no
kernel that reads a type, attention unpacks it anew for each token, or the processor computes it.
Each row of data/runtimes/cache_kernels.csv says how many times slower that was measured.

An encoder reads the images of a prompt before the model does.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from advisor.catalog.constants import Constants
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.processors import matrices
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import FixedTime, StepTime
from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.units import Array


@dataclass(frozen=True, kw_only=True, slots=True)
class LaunchCostRow:
    """One row of data/hardware/launch_costs.csv."""

    pattern: str  # pattern of names of processors and GPUs, in lower case
    seconds: float  # time beyond the fitted one for a layer [s]
    source: str
    source_date: str
    note: str


@cache
def _rows() -> Sequence[tuple[re.Pattern[str], float]]:
    rows = read(DATA / "hardware/launch_costs.csv", LaunchCostRow)
    return [(re.compile(row.pattern), row.seconds) for row in rows]


@cache
def _of_names(names: tuple[str, ...]) -> float:
    costs = (
        seconds for pattern, seconds in _rows() for name in names if pattern.search(name.casefold())
    )
    return max(costs, default=0.0)


def launch_cost(machine: Machine) -> float:
    """Time of a layer on the GPU beyond the fitted fixed cost; 0 for usual machines [s]."""
    if not machine.gpus:
        return 0.0
    return _of_names((machine.host.name, *(gpu.name for gpu in machine.gpus)))


def with_launches(time: StepTime | None, layers: Array, cost: float) -> StepTime | None:
    """Step with the time to start the kernels of a number of layers on the GPU."""
    if time is None or not cost:
        return time
    further = cost * np.asarray(layers, dtype=float)
    parts = dict(time.parts)
    parts[FixedTime.LAYERS] = parts.get(FixedTime.LAYERS, 0.0) + further
    return replace(time, total=time.total + further, parts=parts)


def with_images(
    time: StepTime | None, model: Model, work: Workload, machine: Machine, constants: Constants
) -> StepTime | None:
    """Time of a prompt with that of the encoder, which reads its images first.

    t = 2 N p users / (share C), N weights of the encoder, p patches of all images

    On a GPU C is its peak of 16-bit operations, on a processor that of its cores; attention between
    patches is left out.
    """
    if time is None or not work.image_patches or not model.architecture.tower:
        return time
    flops = 2.0 * model.architecture.tower * work.image_patches * np.asarray(work.users, float)
    if machine.gpus:
        gpu = machine.gpus[0]
        rate = constants.value("gpu_flop_share", gpu.lookup_family) * gpu.peak_16_bit
        route = Route.RESIDENT
    else:
        rate = machine.host.cores * constants.value("core_flops", matrices(machine.host))
        route = Route.IN_PLACE
    further = flops / rate
    parts = {**time.parts, route: time.parts.get(route, 0.0) + further}
    return replace(time, total=time.total + further, parts=parts)


AT = 512.0  # prompt at which the factors of prompts were measured [tokens]
DEEPENING = 0.21
"""Power of a prompt's length with which its factor grows: 7.7 at 512 tokens, 19 to 32 at 130,000
(llama.cpp, issue 28633: 34 tokens/s for 659 to 1,094)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CacheKernelRow:
    """One row of data/runtimes/cache_kernels.csv."""

    runtimes: str  # names of runtimes, separated by semicolons
    backend: str  # GPU interface
    since: str  # first whole month of the builds of llama.cpp that it holds for; empty for all
    before: str  # first whole month of those that it holds for no more; empty for none
    # types of the cache without a fast kernel, separated by spaces; "mixed" is one of keys and
    # another of values
    types: str
    cached: float  # how many times longer reading the cache takes for a token
    unpacked: float  # further bytes that are moved for each cached value of a token [B]
    drafted: float  # how many times longer a step takes that checks drafted tokens
    prompt: float  # how many times longer a prompt takes
    words: str  # sentence for the user; `{type}` is the type of the cache
    source: str
    retrieved: str

    def told_of(self, work: Workload) -> str:
        """Sentence on the slow cache of a request."""
        return self.words.replace("{type}", work.kv_type)


@cache
def cache_kernels() -> Sequence[CacheKernelRow]:
    """All rows of the table."""
    return read(DATA / "runtimes/cache_kernels.csv", CacheKernelRow)


TODAY = "9999-12"  # month of a build that nobody stated
MIXED = "mixed"  # keys of one type and values of another


def slow_kernel(
    runtime: str, backend: str, work: Workload, build: str = ""
) -> CacheKernelRow | None:
    """Row of a cache type without a fast kernel, by runtime and backend; None for a fast type.

    Of keys and values with a row each, the slower one counts. Scores that are written to memory
    (`-fa off`) are computed by other kernels. `build` is the month of the build, empty for today's.
    """
    if not work.flash_attention:
        return None
    types = {*Model.cache_types(work.kv_type)}
    if len(types) > 1:
        types.add(MIXED)
    month = build or TODAY
    concerned = [
        row
        for row in cache_kernels()
        if runtime in row.runtimes.split(";")
        and row.backend == backend
        and row.since <= month < (row.before or f"{TODAY}-")
        and types & set(row.types.split())
    ]
    return max(concerned, key=lambda row: (row.cached, row.unpacked), default=None)


def further_seconds(
    row: CacheKernelRow, model: Model, machine: Machine, work: Workload, constants: Constants
) -> Array:
    """Time of a token beyond that of a fast kernel, with the whole cache on the GPUs [s].

    ((cached - 1) K + unpacked n) / (share S), of the K bytes of the n keys and values at the depth
    of the reply; states and what layers with a window do not see are no part of them. GPUs that
    divide the layers read one after another, at their mean rate.
    """
    layers = model.per_layer
    depth = np.asarray(work.decode_depth, dtype=float)[..., None]
    of_a_token = (row.cached - 1.0) * model.cached_bytes(work.kv_type)
    of_a_token = of_a_token + row.unpacked * layers.kv_values
    moved = np.sum(np.minimum(depth, layers.windows) * of_a_token, axis=-1)
    moved = moved * np.asarray(work.users, dtype=float)
    rates = [
        np.asarray(constants.value("gpu_kv_share", gpu.lookup_family) * gpu.bandwidth.value)
        for gpu in machine.gpus
    ]
    mean = sum(rates[1:], start=rates[0]) / len(rates)
    return np.asarray(moved / mean)


def slowed_step(time: StepTime, row: CacheKernelRow, further: Array, *, drafted: bool) -> StepTime:
    """Time of a token, or of a step that checks drafted tokens, with a slow cache type."""
    parts = dict(time.parts)
    parts[Route.RESIDENT] = parts.get(Route.RESIDENT, 0.0) + further
    slower = replace(time, total=time.total + further, parts=parts)
    return _times(slower, row.drafted) if drafted else slower


def slowed_prompt(
    time: StepTime | None, work: Workload, row: CacheKernelRow | None
) -> StepTime | None:
    """Time of a prompt with a slow cache type; the longer the prompt, the slower."""
    if time is None or row is None or row.prompt == 1.0:
        return time
    deeper = (np.maximum(np.asarray(work.prompt, dtype=float), AT) / AT) ** DEEPENING
    return _times(time, row.prompt * deeper)


def _times(time: StepTime, factor: Array) -> StepTime:
    parts = {name: seconds * factor for name, seconds in time.parts.items()}
    return replace(time, total=time.total * factor, parts=parts)
