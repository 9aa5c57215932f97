"""Published rows as one sweep, so that the cost model times them all at once."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import Scope
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.estimate import usual_backend
from advisor.cost_model.loads import Load
from advisor.cost_model.processors import MATRIX_TYPES, cpu_seconds, gpu_seconds, matrices, vectors
from advisor.cost_model.schedule import Flow, Route, Schedule
from advisor.cost_model.timing import passes, rates
from advisor.errors import AdvisorError
from advisor.evidence.fitting.gauss_newton import group_of
from advisor.evidence.published.machine import ram_peak
from advisor.evidence.published.predict import Case, understood
from advisor.machine import from_catalog
from advisor.machine.catalog import find_host
from advisor.machine.machine import Gpu, Host
from advisor.machine.quantity import given
from advisor.model.model import Floats
from advisor.runtimes import IK_LLAMA_CPP, LLAMA_CPP
from advisor.units import GB

MEASURED = DATA / "measurements" / "llama_cpp.csv"
DECODED = ("resident", "cpu", "moe_offload", "partial")
"""Categories whose decode speed is fitted."""


@dataclass(frozen=True, kw_only=True)
class StackedRows:
    """Rows side by side; arrays have shape (rows,).

    Attributes:
        ids: of the rows.
        groups: source and hardware of each.
        scopes: case and family of each constant's lookup, by kind of hardware.
        on_gpu: what the GPUs read and compute.
        on_cpu: what the processor does.
        moved: weights copied over the link [B].
        link: its rate from the memory they lie in [B/s].
        crossings: hand-overs.
        repeats: micro-batches.
        workers: GPUs that hold the layers in turn.
        bandwidth: of the GPU, peak [B/s].
        flops: of the GPU, dense peak [FLOP/s].
        ram: bandwidth, in theory or as given [B/s].
        ram_given: it was given, so that no share of theory applies.
        cores: that compute.
        sockets: processor packages.
        seconds: measured [s].
    """

    ids: tuple[str, ...]
    groups: tuple[str, ...]
    scopes: tuple[Mapping[str, str], ...]
    on_gpu: Load
    on_cpu: Load
    moved: Floats
    link: Floats
    crossings: Floats
    repeats: Floats
    workers: Floats
    bandwidth: Floats
    flops: Floats
    ram: Floats
    ram_given: npt.NDArray[np.bool_]
    cores: Floats
    sockets: Floats
    seconds: Floats


class ConstantColumns:
    """Per-row values of every constant, in place of the table's single ones."""

    def __init__(self, values: Mapping[str, Floats]) -> None:
        self._values = values

    def value(self, constant: str, family: str = "") -> Floats:  # noqa: ARG002 - rows know theirs
        """The constant of each row, shape (rows,)."""
        return self._values[constant]


def seconds(stack: StackedRows, values: Mapping[str, Floats]) -> Floats:
    """What the cost model says of each row, shape (rows,) [s].

    Args:
        stack: the rows.
        values: each constant for each row, shape (rows,).
    """
    constants = ConstantColumns(values)
    gpu = Gpu(
        name="", vendor="", family="", memory=given(1.0), bandwidth=given(stack.bandwidth),
        tensor_flops={"fp16": stack.flops},  # type: ignore[dict-item]
        link=from_catalog.shared_memory(1.0),
    )  # fmt: skip
    sustained = np.minimum(values["ram_sustained_share"], from_catalog.MOST_SUSTAINED)
    share = np.where(stack.ram_given, 1.0, sustained)
    host = Host(
        name="", cores=stack.cores, sockets=stack.sockets,  # type: ignore[arg-type]
        memory=given(1.0), bandwidth=given(stack.ram * share),
    )  # fmt: skip
    total = (
        gpu_seconds(stack.on_gpu, gpu, constants).total  # type: ignore[arg-type]
        + cpu_seconds(stack.on_cpu, host, constants).total  # type: ignore[arg-type]
        + stack.moved / (values["link_share"] * stack.link)
        + stack.crossings * values["crossing"]
        + values["token"]
    )
    runs = passes(stack.repeats, stack.workers, values["pipeline_share"])
    return np.asarray(total * runs)


def measured() -> tuple[Mapping[str, str], ...]:
    """All rows of data/measurements/llama_cpp.csv."""
    with MEASURED.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def decoded(rows: Iterable[Mapping[str, str]]) -> StackedRows:
    """Rows whose generation was timed, one token each."""
    return _stack(rows, DECODED, "tg_tps")


def prompted(rows: Iterable[Mapping[str, str]]) -> StackedRows:
    """Rows whose prompt was timed.

    Sweeps over the threads of the generation time their prompt with another number of threads.
    """
    fixed = (row for row in rows if "given threads" not in row["source_note"])
    return _stack(fixed, DECODED, "pp_tps")


def _stack(
    rows: Iterable[Mapping[str, str]], categories: tuple[str, ...], speed: str
) -> StackedRows:
    parts = []
    for row in rows:
        if row["category"] not in categories or row["doubtful"] == "True" or not row[speed]:
            continue
        case = case_of(row)
        if case and case.runtime in (LLAMA_CPP, IK_LLAMA_CPP) and _split_stated(row, case):
            parts.append(_part(row, case, prompt=speed == "pp_tps"))
    return _joined(parts)


def case_of(row: Mapping[str, str]) -> Case | None:
    """What a row describes; None where that is not understood."""
    return _case(tuple(row.items()))


@lru_cache(maxsize=2048)
def _case(cells: tuple[tuple[str, str], ...]) -> Case | None:
    try:
        return understood(dict(cells))
    except AdvisorError:
        return None


def _split_stated(row: Mapping[str, str], case: Case) -> bool:
    """The row says what lay in RAM, and in which: without either it teaches nothing of them."""
    if row["category"] != "partial":
        return True
    layers = case.settings.gpu_layers
    return layers is not None and bool(np.all(layers < case.model.layers)) and bool(row["cpu"])


def _part(row: Mapping[str, str], case: Case, *, prompt: bool) -> dict[str, object]:
    work = case.prompt if prompt else case.work
    how = case.runtime
    placement = how.place(case.model, case.machine, work, case.strategy, case.settings)
    phases = how.schedule(case.model, placement, case.machine, work)
    asked = phases.prefill if prompt else phases.decode
    gpu = case.machine.gpus[0] if case.machine.gpus else None
    bandwidth, is_given, segment = _ram(row, case)
    tokens = float(np.maximum(work.fresh, 1)) if prompt else 1.0
    return {
        "ids": row["id"],
        "groups": group_of(row),
        "scopes": _scopes(case, segment),
        "on_gpu": _computed(asked, Route.RESIDENT),
        "on_cpu": _computed(asked, Route.IN_PLACE),
        "moved": float(sum(flow.moved for flow in _flows(asked, Route.STREAMED))),
        "link": _link_rate(gpu, asked) if gpu else 1e30,
        "crossings": float(asked.crossings),
        "repeats": float(asked.repeats),
        "workers": float(asked.workers),
        "bandwidth": float(gpu.bandwidth.value) if gpu else 1e30,
        "flops": _peak(gpu) if gpu else 1e30,
        "ram": bandwidth,
        "ram_given": is_given,
        "cores": float(case.machine.host.cores),
        "sockets": float(case.machine.host.sockets),
        "seconds": tokens / float(row["pp_tps" if prompt else "tg_tps"]),
    }


def _link_rate(gpu: Gpu, schedule: Schedule) -> float:
    ways = {flow.transfer for flow in _flows(schedule, Route.STREAMED) if flow.transfer}
    return float(rates(gpu.link)[ways.pop()].value) if ways else 1e30


def _flows(schedule: Schedule, route: Route) -> list[Flow]:
    return [flow for stage in schedule.stages for flow in stage.flows if flow.route is route]


def _computed(schedule: Schedule, route: Route) -> Load:
    """What is read and computed on a route in one run of the stages."""
    nothing = Load(**dict.fromkeys((one.name for one in fields(Load)), 0.0))
    loads = [flow.load for flow in _flows(schedule, route) if flow.load is not None]
    return sum(loads[1:], start=loads[0]) if loads else nothing


def _peak(gpu: Gpu) -> float:
    return max(gpu.tensor_flops.get(kind, 0.0) / per for kind, per in MATRIX_TYPES)


def _ram(row: Mapping[str, str], case: Case) -> tuple[float, bool, str]:
    """RAM bandwidth in theory or as given [B/s], whether it was given, and the host's segment."""
    host = case.machine.host
    try:
        known = find_host(host.name)
    except AdvisorError:
        return float(host.bandwidth.value), True, "desktop"
    if row["ram_bw_gbs"] and ram_peak(row):
        return float(row["ram_bw_gbs"]) * GB, False, known.segment
    if row["ram_bw_gbs"] or known.bandwidth_gbs is None:
        return float(host.bandwidth.value), True, known.segment
    if row["ram_mts"]:
        channels = float(row["ram_channels"] or known.memory_channels or 2)
        return channels * 8e6 * float(row["ram_mts"]), False, known.segment
    return known.bandwidth_gbs * GB, False, known.segment


def _scopes(case: Case, segment: str) -> dict[str, str]:
    gpu = case.machine.gpus[0].family if case.machine.gpus else ""
    scope = Scope(
        decode_class=case.model.decode_class,
        backend=case.backend or usual_backend(case.machine),
        build=case.runtime.build or case.build,
    )
    return {
        "gpu": gpu,
        "segment": segment,
        "vectors": vectors(case.machine.host),
        "matrices": matrices(case.machine.host),
        "decode_class": scope.decode_class,
        "backend": scope.backend,
        "build": scope.build,
    }


def _joined(parts: list[dict[str, object]]) -> StackedRows:
    values: dict[str, object] = {}
    for name in (one.name for one in fields(StackedRows)):
        column = [part[name] for part in parts]
        if name in ("ids", "groups", "scopes"):
            values[name] = tuple(column)
        elif name in ("on_gpu", "on_cpu"):
            values[name] = Load(
                **{
                    one.name: np.array([float(getattr(load, one.name)) for load in column])
                    for one in fields(Load)
                }
            )
        else:
            values[name] = np.array(column)
    return StackedRows(**values)  # type: ignore[arg-type]
