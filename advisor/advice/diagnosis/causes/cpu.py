"""Causes on the processor: threads, sockets, clock limits, other load."""

from dataclasses import replace

from advisor.advice.diagnosis.causes.counterfactual import (
    Situation,
    Trials,
    scaled_link,
    slower_cpu,
    slower_gpu,
    trial,
)
from advisor.cost_model.conditions import CORE_RATES
from advisor.cost_model.schedule import Route
from advisor.machine.software import HYPER_THREADS, ONE_NODE, PAST_CORES, effect_of

EFFICIENT = 0.55
"""Speed with a thread on every core, relative to the performance cores alone: 3.81 of 6.93 tokens/s
on four and four cores (https://github.com/ggml-org/llama.cpp/issues/7176, 2024-05)."""
FAR_NODE = 2.40 / 4.31
"""Speed with pages on the wrong socket, relative to pages on both, two EPYC 9175F
(https://github.com/ggml-org/llama.cpp/issues/11744, 2025-02)."""
FAR_LINK = 3.78 / 12.15
"""Copy rate from the other socket's memory, relative to the near socket's
(https://github.com/mpicbg-scicomp/gearshifft/issues/82)."""
SLOWER_CLOCKS = (0.7, 0.5)
"""Clock relative to the usual one, for a processor on battery, hot or in a power-saving mode;
assumed."""
LEFT_OVER = (0.75, 0.5)
"""Shares of a processor or GPU that other programs leave free; assumed."""


def many_threads(situation: Situation) -> Trials:
    """More threads than cores, which wait for each other in every layer."""
    if not situation.takes(Route.IN_PLACE) or situation.machine.host.thread_excess:
        return
    row, source = situation.host_row, "sweeps over threads"
    if row is None or not row.threads or row.threads > row.cores:
        share = _speed(HYPER_THREADS)
        yield trial("all hyper-threads", situation.scaled(slower_cpu(share), source))
    share = _speed(PAST_CORES)
    yield trial("threads past the cores", situation.scaled(slower_cpu(share), source))


def _speed(excess: str) -> float:
    """Speed with too many threads, relative to the best."""
    effect = effect_of("threads", excess)
    return 1.0 if effect is None else effect.token


def few_threads(situation: Situation) -> Trials:
    """Fewer threads than cores, too few to use the bandwidth of RAM."""
    cores = situation.machine.host.cores
    if situation.takes(Route.IN_PLACE):
        for used in sorted({cores // 2, cores // 4, 4, 2}):
            if 0 < used < cores:
                yield trial(f"{used} threads on {cores} cores", situation.on_host(cores=used))


def efficient_cores(situation: Situation) -> Trials:
    """Threads on the efficiency cores of a hybrid processor, which slow down all others."""
    row = situation.host_row
    excess = situation.machine.host.thread_excess
    if row is None or excess or not situation.takes(Route.IN_PLACE):
        return
    if row.performance_cores and row.performance_cores < row.cores:
        detail = f"threads on all {row.cores} cores, {row.performance_cores} of them fast"
        yield trial(detail, situation.scaled(slower_cpu(EFFICIENT), "two kinds of cores"))


def far_memory(situation: Situation) -> Trials:
    """Weights in the memory of the other socket."""
    host = situation.machine.host
    several = host.sockets > 1 and host.numa not in ONE_NODE
    if not several or not situation.takes(Route.IN_PLACE, Route.STREAMED):
        return
    far = situation.on_gpus(lambda gpu: scaled_link(gpu, FAR_LINK))
    constants = situation.constants.scaled(slower_cpu(FAR_NODE), "pages on the wrong socket")
    yield trial("", replace(far, constants=constants))


def cpu_limits(situation: Situation) -> Trials:
    """Cores below their usual clock, with RAM at full speed."""
    if situation.takes(Route.IN_PLACE):
        for share in SLOWER_CLOCKS:
            clocked = dict.fromkeys(CORE_RATES, share)
            detail = f"cores at {share:.0%} of their clock"
            yield trial(detail, situation.scaled(clocked, "slower clock"))


def other_load(situation: Situation) -> Trials:
    """Other programs that use RAM bandwidth, cores or the GPU."""
    if situation.takes(Route.IN_PLACE):
        for share in LEFT_OVER:
            detail = f"{share:.0%} of RAM bandwidth and cores left"
            yield trial(detail, situation.scaled(slower_cpu(share), "other programs"))
    if situation.takes(Route.RESIDENT):
        half = LEFT_OVER[-1]
        factors = {**slower_gpu(half), "gpu_flop_share": half}
        yield trial(f"{half:.0%} of the GPU left", situation.scaled(factors, "other programs"))
