"""Published rows of frameworks: streamed, staged and batched runs, timed by the cost model at once.

Rows with schedules of the same shape form one sweep of arrays, so a fit over all of them is fast.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import fitted_constants
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.schedule import Phases
from advisor.cost_model.timing import schedule_seconds
from advisor.errors import AdvisorError
from advisor.evidence.fitting.llama_cpp.alike import ConstantColumns
from advisor.evidence.fitting.llama_cpp.parameter import Parameter
from advisor.evidence.fitting.vectorize import Shape, machines, number_type, shape, stacked_phases
from advisor.evidence.published.batch import SERVER
from advisor.evidence.published.engines import engine
from advisor.evidence.published.predict import Case, understood
from advisor.evidence.published.row import PublishedRow, group_of, published_rows
from advisor.evidence.published.run_settings import lengths
from advisor.machine.machine import Machine
from advisor.model.model import Floats
from advisor.runtimes.expert_offloading import EXPERT_STREAMING

# Fitted constants of frameworks, their start values, and the properties they may differ by.
#
# Start values come from other sources than the fitted rows: probes of links and drives, PyTorch's
# kernels, and the values that FlexGen's authors fitted to their T4 (experimental/cost_model.py at
# 004ffef).


@dataclass(frozen=True, kw_only=True)
class StreamParameter(Parameter):
    """One fitted constant of frameworks; it may differ by engine (`RUNTIME`) only."""

    only: tuple[str, ...] = ()  # keys of the engines that have it; empty for all
    absent: float = 0.0  # value for the other engines
    # start values of engines that are known to differ, by key
    starts: Mapping[str, float] = field(default_factory=dict)
    most: float = np.inf  # largest possible value, such as 1 for a share

    def limited(self, value: Floats) -> Floats:
        """Value limited smoothly to `most`; unchanged far below it."""
        below: Floats = (1.0 + (value / self.most) ** SHARPNESS) ** (-1.0 / SHARPNESS)
        return value * below


SHARPNESS = 12
"""Sharpness of the limit: a constant whose terms reach the limit is 6 % below it."""
RUNTIME = ("runtime",)
STREAM_PARAMETERS: Mapping[str, StreamParameter] = {
    "link_share": StreamParameter(
        start=0.85,
        unit="share",
        most=1.0,
        width=0.15,
        factors={RUNTIME: 0.15},
        only=("deepspeed", "flexgen", "vllm"),
        absent=1.0,
        note="share of the link's rate a runtime reaches",
    ),
    "host_copy": StreamParameter(
        start=13e9,
        unit="B/s",
        width=0.15,
        factors={RUNTIME: 0.15},
        only=("accelerate", "airllm"),
        absent=1e15,
        starts={"airllm": 1.5e9},
        note="copy inside the host before the link",
    ),
    "disk_share": StreamParameter(
        start=0.95,
        unit="share",
        most=1.0,
        width=0.1,
        factors={RUNTIME: 0.15},
        note="share of the drive's rate reading offload files",
    ),
    "fault_rate": StreamParameter(
        start=3.5e9,
        unit="B/s",
        width=0.4,
        note="page faults on a mapped file",
    ),
    "host_attention_share": StreamParameter(
        start=0.2,
        unit="share",
        width=0.3,
        factors={RUNTIME: 0.3},
        note="share of RAM bandwidth at which a framework attends to a cache on the CPU",
    ),
    "engine_core_rate": StreamParameter(
        start=1e9,
        unit="B/s",
        width=0.5,
        only=("colibri", "expert-streaming"),
        absent=1e15,
        note="weights that a core unpacks and multiplies in a streaming engine's own loops",
    ),
    "gpu_read_share": StreamParameter(
        start=0.85,
        unit="share",
        most=1.0,
        width=0.1,
        factors={RUNTIME: 0.1},
        note="share of GPU memory bandwidth reached reading weights",
    ),
    "gpu_kv_share": StreamParameter(
        start=0.5,
        unit="share",
        width=0.4,
        factors={RUNTIME: 0.4},
        note="share of GPU memory bandwidth reached reading the KV cache",
    ),
    "gpu_flop_share": StreamParameter(
        start=0.45,
        unit="share",
        width=0.3,
        factors={RUNTIME: 0.3},
        note="share of dense matrix peak reached by a batch",
    ),
    "gpu_attention_flop_share": StreamParameter(
        start=0.3,
        unit="share",
        width=0.5,
        factors={RUNTIME: 0.4},
        note="speed of attention in a prompt beside that of dense weights",
    ),
    "gpu_expert_flop_share": StreamParameter(
        start=0.5,
        unit="share",
        width=0.5,
        note="speed of routed experts beside that of dense weights",
    ),
    "gpu_layer": StreamParameter(
        start=100e-6,
        unit="s",
        width=0.7,
        factors={RUNTIME: 0.7},
        starts={
            "accelerate": 400e-6,
            "airllm": 400e-6,
            "deepspeed": 6e-3,
            "mixtral-offloading": 400e-6,
            "deepspeed-inference": 200e-6,
            "exllama": 30e-6,
            "tensorrt-llm": 30e-6,
            "vllm": 60e-6,
        },
        note="fixed cost of a layer on the GPU",
    ),
    "gpu_expert_layer": StreamParameter(
        start=100e-6,
        unit="s",
        width=0.7,
        factors={RUNTIME: 0.7},
        note="further cost of a layer with routed experts on the GPU",
    ),
    "gpu_state_layer": StreamParameter(
        start=40e-6, unit="s", width=0.1, note="further cost of a layer that keeps a state"
    ),
    "sequence": StreamParameter(
        start=5e-6, unit="s", width=1.0, note="cost of each sequence in a step"
    ),
    "unpack_operations": StreamParameter(
        start=20.0,
        unit="FLOP",
        width=0.7,
        factors={RUNTIME: 0.7},
        starts={"exllama": 4.0, "mixtral-offloading": 300.0},
        note="operations that unpack one value on the GPU",
    ),
    "unpack_bytes": StreamParameter(
        start=20.0,
        unit="B",
        width=0.5,
        factors={RUNTIME: 0.3},
        only=("deepspeed-inference", "flexgen"),
        starts={"deepspeed-inference": 4.0},
        note="bytes that elementwise kernels move to unpack one value on the GPU",
    ),
    "token": StreamParameter(
        start=0.5e-3, unit="s", width=0.3, note="fixed cost of a step: sampling and launch"
    ),
}
"""Constants that measurements decide. FlexGen unpacks in elementwise PyTorch kernels, ExLlama as it
multiplies; AirLLM opens a file for each layer."""


PAPERS = DATA / "measurements" / "offload_papers.csv"
ROUNDING = 0.15
"""Largest relative rounding error of a published figure that is used."""
UNUSED = ("crossing", "pipeline_share")
"""Constants that hardly any schedule of a framework uses; not fitted."""
SERVING = ("vllm", "sglang", "tensorrt-llm")
"""Keys of the serving engines' runtimes."""
STREAMED, STAGED, BATCHED = "streamed", "NVMe", "batched"
RESIDENT, EXPERTS = "resident, other engines", "experts offloaded, other engines"
"""Kinds of runs."""
UNSURE = (
    "4 machines",
    "THInfer",
    "SUSPECT",
    "not comparable",
    "sharded on GPUs",
    "use only as",
    "approximate",
    "KTransformers",
)
"""Words in rows that are not used: figures that their collector doubts, see
data/measurements/README.md, and an engine that runs as another one where it offloads nothing."""


@dataclass(frozen=True, kw_only=True)
class FrameworkRun:
    """One published run of a framework."""

    row: PublishedRow  # published row
    case: Case  # machine, model and request of the row
    phases: Phases  # schedules of its prompt and of a step
    prompts: float  # 1 if the time includes the prompt, else 0
    steps: float  # number of steps in the time
    seconds: float  # measured time [s]
    tokens: float  # tokens of the whole batch in that time [tokens]


def runs(rows: Iterable[PublishedRow]) -> tuple[FrameworkRun, ...]:
    """Runs of rows of frameworks with an exact enough figure that the advisor can predict."""
    return tuple(run for row in rows if (run := _run(row)) is not None)


def papers() -> tuple[FrameworkRun, ...]:
    """Runs of data/measurements/offload_papers.csv."""
    return runs(published_rows(PAPERS))


def _run(row: PublishedRow) -> FrameworkRun | None:
    stated = f"{row.runtime} {row.source_note}"
    rate = _tokens_per_second(row)
    if rate is None or any(word in stated for word in UNSURE):
        return None
    named = engine(row.runtime, row.category)
    if named is not None and (named.computes_in_ram or _serves(named.key, row.category)):
        return None
    try:
        case = understood(row)
        phases = case.phases
    except AdvisorError:
        return None
    if case.runtime.computes_in_ram:
        return None
    work = case.work
    whole = counts_prompt(row)
    steps = float(case.steps) if whole else 1.0
    tokens = float(work.users) * (float(work.output) if whole else 1.0)
    return FrameworkRun(
        row=row,
        case=case,
        phases=phases,
        prompts=float(whole),
        steps=steps,
        seconds=tokens / rate,
        tokens=tokens,
    )


def _serves(key: str, category: str) -> bool:
    """Whether a serving engine holds all weights on its GPUs; `fitting.engines` fits those runs."""
    return key in SERVING and category in ("resident", "batched")


def _tokens_per_second(row: PublishedRow) -> float | None:
    """Tokens of the whole batch a second; None without a figure that is exact enough [tokens/s]."""
    rate = row.tg_tps_total
    value = rate or row.seconds_per_token
    if not value:
        return None
    printed = row.cells["tg_tps_total" if rate else "seconds_per_token"]
    decimals = len(printed.partition(".")[2])
    if 0.5 * 10.0**-decimals / value > ROUNDING:
        return None
    return rate or 1.0 / value


def counts_prompt(row: PublishedRow) -> bool:
    """Whether the time of a rate includes prompts: both lengths stated, no separate prompt rate."""
    alone = "decode" in row.runtime or row.pp_tps
    return all(lengths(row)) and not alone


def teaches(run: FrameworkRun) -> bool:
    """Whether a row is fitted, not only scored: its batch is stated, or set by a server."""
    alone = bool(run.row.batch or run.row.seconds_per_token)
    return alone or run.case.runtime.key == SERVER


def regime(run: FrameworkRun) -> str:
    """Kind of run."""
    category = run.row.category
    if category == "moe_offload" or run.case.runtime.engine == EXPERT_STREAMING.engine:
        return EXPERTS
    if category in ("stream_cpu", "kv_offload"):
        return STREAMED
    if category == "nvme":
        return STAGED
    return BATCHED if float(run.case.work.users) > 1 else RESIDENT


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Runs with schedules of the same shape."""

    index: npt.NDArray[np.int64]
    phases: Phases
    machine: Machine
    prompts: Floats
    steps: Floats


class Fitted(ConstantColumns):
    """Constants with one value per run where they are fitted; others have the table's value."""

    def __init__(self, values: Mapping[str, Floats]) -> None:
        super().__init__(values)
        self._others = fitted_constants()

    def value(self, constant: str, family: str = "") -> Floats:
        """Value of a constant in each run, shape (runs,), or a single value for all."""
        if constant in self._values:
            return self._values[constant]
        return np.asarray(self._others.value(constant, family))


@dataclass(frozen=True, eq=False)
class Streams:
    """All runs; arrays have shape (runs,)."""

    runs: tuple[FrameworkRun, ...]

    @cached_property
    def seconds(self) -> Floats:
        """Measured time [s]."""
        return np.array([run.seconds for run in self.runs])

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Group of each run: source and hardware."""
        return tuple(group_of(run.row) for run in self.runs)

    @cached_property
    def engines(self) -> tuple[str, ...]:
        """Key of each run's engine, by which constants differ."""
        return tuple(run.case.runtime.key for run in self.runs)

    @cached_property
    def counts(self) -> Floats:
        """1 for fitted runs, 0 for runs that are only scored."""
        return np.array([float(teaches(run)) for run in self.runs])

    @cached_property
    def without(self) -> Mapping[str, npt.NDArray[np.bool_]]:
        """Mask of the runs whose engine lacks a constant, by its name."""
        return {
            name: np.array(
                [bool(parameter.only) and key not in parameter.only for key in self.engines]
            )
            for name, parameter in STREAM_PARAMETERS.items()
        }

    @cached_property
    def sweeps(self) -> tuple[Sweep, ...]:
        """Sweeps: runs grouped by the shape of their schedules."""
        by_shape: dict[Shape, list[int]] = {}
        for index, run in enumerate(self.runs):
            by_shape.setdefault(shape(run.phases, run.case.machine), []).append(index)
        return tuple(
            Sweep(
                index=np.array(indices),
                phases=stacked_phases([self.runs[index].phases for index in indices]),
                machine=machines(
                    [self.runs[index].case.machine for index in indices],
                    [number_type(self.runs[index].phases) for index in indices],
                ),
                prompts=np.array([self.runs[index].prompts for index in indices]),
                steps=np.array([self.runs[index].steps for index in indices]),
            )
            for indices in by_shape.values()
        )

    def timed(
        self, values: Mapping[str, Floats], only: npt.NDArray[np.bool_] | None = None
    ) -> Floats:
        """Predicted time of each run, shape (runs,) [s].

        Args:
            values: constants by name, each of shape (runs,).
            only: mask of the runs to compute; None for all. Other runs may be NaN.
        """
        values = {
            name: np.where(self.without[name], STREAM_PARAMETERS[name].absent, value)
            for name, value in values.items()
        } | {name: np.zeros(len(self.runs)) for name in UNUSED}
        total = np.full(len(self.runs), np.nan)
        for sweep in self.sweeps:
            if only is not None and not np.any(only[sweep.index]):
                continue
            own = Fitted({name: value[sweep.index] for name, value in values.items()})
            prefill, decode = (
                schedule_seconds(schedule, sweep.machine, own).total  # type: ignore[arg-type]  # arrays stand for numbers
                for schedule in (sweep.phases.prefill, sweep.phases.decode)
            )
            total[sweep.index] = sweep.prompts * prefill + sweep.steps * decode
        return total
