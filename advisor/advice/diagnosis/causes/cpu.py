"""Causes on the processor: threads, sockets, clock limits, other load."""

from dataclasses import replace

from advisor.advice.diagnosis.causes.counterfactual import (
    CORE_RATES,
    Situation,
    Trials,
    scaled_link,
    slower_cpu,
    slower_gpu,
    trial,
)
from advisor.cost_model.schedule import Route

EVERY_HYPER_THREAD, PAST_THE_CORES = 4.49 / 4.81, 5.05 / 6.60
"""Speed with too many threads, relative to the best: EPYC 7773X with 128 threads on 64 cores, Xeon
6980P with 172 on 128 (data/measurements/llama_cpp.csv, lc0515 to lc0518 and lc0551 to lc0552)."""
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
    if not situation.takes(Route.IN_PLACE):
        return
    row, source = situation.host_row, "sweeps over threads"
    if row is None or not row.threads or row.threads > row.cores:
        yield trial("all hyper-threads", situation.scaled(slower_cpu(EVERY_HYPER_THREAD), source))
    yield trial("threads past the cores", situation.scaled(slower_cpu(PAST_THE_CORES), source))


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
    if row is None or not situation.takes(Route.IN_PLACE):
        return
    if row.performance_cores and row.performance_cores < row.cores:
        detail = f"threads on all {row.cores} cores, {row.performance_cores} of them fast"
        yield trial(detail, situation.scaled(slower_cpu(EFFICIENT), "two kinds of cores"))


def far_memory(situation: Situation) -> Trials:
    """Weights in the memory of the other socket."""
    if situation.machine.host.sockets < 2 or not situation.takes(Route.IN_PLACE, Route.STREAMED):
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
