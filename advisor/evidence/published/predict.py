"""Predictions for rows of a measurement file.

Reads the columns of any published file. Missing values become typical parts, and a row that cannot
be predicted gives the reason.
"""

import re
import warnings
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from advisor.catalog.constants import Constants, Scope
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.measured_constants import software_of
from advisor.cost_model.placement import Location, Placement, PlacementStrategy, Settings, Tier
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.schedule import Phases
from advisor.cost_model.uncertainty import Margins, Range
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError, InputError, Refusal
from advisor.evidence.published import run_settings
from advisor.evidence.published.engines import (
    ACCELERATE,
    DEEPSPEED,
    EXLLAMA,
    IK_COPYING,
    IK_COPYING_ALL,
    IK_GRAPH,
    IK_LLAMA_CPP,
    KTRANSFORMERS,
    LLAMA_CPP_TENSOR,
    VLLM,
    engine,
    with_drafts,
)
from advisor.evidence.published.machine import ram_gib, stated_machine
from advisor.evidence.published.model import stated_model
from advisor.evidence.published.row import (
    ANSWERED,
    CATEGORIES,
    STATED,
    UNREADABLE,
    PublishedRow,
    figure,
    stated,
)
from advisor.evidence.published.run_settings import lengths
from advisor.evidence.published.tiered import CATEGORY as TIERED
from advisor.evidence.published.tiered import engine_of, understood_tiers
from advisor.lazy import lazy
from advisor.machine.backends import Build
from advisor.machine.from_spec import machine
from advisor.machine.machine import Machine
from advisor.machine.quantity import KnownRun
from advisor.machine.spec import MachineSpec
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes import row_of as runtime_row
from advisor.runtimes.weight_streaming import ACTIVATIONS
from advisor.units import Array, number


@dataclass(frozen=True, kw_only=True)
class Case:
    """Interpretation of a row: machine, model, request, runtime."""

    model: Model  # model in the format of the run
    machine: Machine  # machine
    prompt: Workload  # request that timed the prompt
    # request that timed the generation; equal to `prompt` unless the two were timed separately, as
    # by llama-bench
    work: Workload
    runtime: Runtime  # runtime that reads weights in the same way
    strategy: PlacementStrategy  # placement
    settings: Settings  # stated split of the model
    backend: str  # stated backend of the runtime; empty for none
    build: str  # age or fork of the runtime, as in `constants.Scope`
    notes: tuple[str, ...] = ()  # sentences on defaults
    guessed: bool = False  # whether the batch was not stated and follows from memory
    # copies of the model that share the requests; `machine` and `work` are of each
    replicas: float = 1.0

    @property
    def steps(self) -> Array:
        """Number of steps after the prompt; papers also count the token that the prompt gives."""
        return self.work.output - (0.0 if self.runtime.computes_in_ram else 1.0)

    def on_known(self, known: tuple[KnownRun, ...]) -> "Case":
        """The case on a machine of which runs are known."""
        if not known:
            return self
        return replace(self, machine=replace(self.machine, known=known))

    @lazy
    def of_prompt(self) -> "Case":
        """The case with the request that timed the prompt."""
        if self.prompt == self.work:
            return self
        return replace(self, work=self.prompt)

    @lazy
    def placement(self) -> Placement:
        """Placement during the request `work`."""
        return self.runtime.place(self.model, self.machine, self.work, self.strategy, self.settings)

    @lazy
    def phases(self) -> Phases:
        """Schedules of the request `work`; raises Refusal as `placement`."""
        return self.runtime.schedule(self.model, self.placement, self.machine, self.work)

    @lazy
    def estimate(self) -> Estimate:
        """Estimate of the request `work`."""
        return estimate(
            self.model,
            self.machine,
            self.work,
            self.runtime,
            self.strategy,
            Constants.fitted(),
            self.settings,
            backend=self.backend,
            build=self.build,
        )


MOST_USERS = 2048
"""Largest number of sequences in a server's step (TensorRT-LLM's default for its builds)."""
RAM_USED = 0.78
"""Share of RAM filled by a batch: FlexGen's authors used 0.70 to 0.92 of 208 GiB, most about this
(weights and cache in their bench_suite.py)."""
DRIVE_FOR_CACHE = 0.65e12
"""Largest cache on a drive where a row states none [B]: FlexGen's runs put 620 to 710 GB on a drive
of 1.5 TB beside the weights."""
THROUGHPUT = ("deepspeed", "flexgen", "tensorrt-llm")
"""Engines for throughput, whose unstated batches were as large as memory allowed."""
SERVER = "tensorrt-llm"
"""Engine whose published runs are saturated with requests, so its batch is not a guess."""
ON_TRANSFORMERS = (ACCELERATE.engine, DEEPSPEED.engine)
"""Engines on Transformers, which computed logits of whole prompts until version 4.45."""
LOGITS = 6.0  # size of such a logit: 16 bits, and 32 for the softmax [B]
CACHE_COPIES = 2.0
"""Memory of their cache relative to its size: each step copies it into a longer one (OPT-6.7B and
30B on a T4, batches of FlexGen's authors)."""


def batched(row: PublishedRow, case: Case) -> Case:
    """Case of a framework or server with its batch, as stated or the most that memory allows."""
    case = _resident_where_it_fits(case)
    users = max(_sequences(row, case) / case.replicas, 1.0)
    work = with_drafts(row, replace(case.work, users=users))
    guessed = users > 1 and not row.batch and case.runtime.key != SERVER
    prompt = run_settings.prompt_apart(row, work)
    return replace(case, prompt=prompt, work=work, guessed=guessed)


def _sequences(row: PublishedRow, case: Case) -> float:
    """Sequences in a batch: as stated, or for throughput runs the most that fit in memory."""
    running = figure("requests at once", row.other_metric)
    if row.batch or running is not None:
        return row.batch or max(running or 0.0, 1.0)
    runtime = case.runtime
    settings = case.settings
    if not (all(lengths(row)) or runtime.key in THROUGHPUT or row.category == "batched"):
        return 1.0
    if runtime.engine in ON_TRANSFORMERS and settings.kv_in_ram is None:
        settings = replace(settings, kv_in_ram=False)  # the cache bounds the batch unless it moves
    if runtime.engine in ON_TRANSFORMERS and settings.gpu_layers is None:
        settings = replace(settings, gpu_layers=0.0)  # weights that stay would take its room
    tried = replace(case, settings=settings)
    sequences = largest(lambda users: _fits(replace(tried, work=replace(case.work, users=users))))
    reached = Constants.fitted().bound(Scope(runtime=runtime.key)).value("batch_share")
    sequences = max(float(np.floor(sequences * reached)), 1.0)
    row.notes.append(f"the batch is not stated: {sequences:g}, as many as memory allows, stand in")
    return sequences


def guessed_batch(model: Model) -> float:
    """Extra half width of a range for an unstated batch, as the logarithm of a factor."""
    table = Constants.fitted()
    if model.has_experts:
        return table.value("spread_guessed_experts")
    return table.value("spread_guessed")


def _resident_where_it_fits(case: Case) -> Case:
    """Case that keeps the whole model on the GPU where it fits; for servers only.

    Other engines stream all weights by design.
    """
    if case.runtime.engine != VLLM.engine or case.settings.gpu_layers is not None:
        return case
    if not _fits(replace(case, strategy=PlacementStrategy.GPU_RESIDENT)):
        return case
    settings = replace(case.settings, gpu_layers=float(case.model.layers))
    return replace(case, settings=settings)


def largest(fits: Callable[[float], bool]) -> float:
    """Largest batch that fits, from 1 to `MOST_USERS`, by bisection."""
    fitting = bisect_left(range(1, MOST_USERS + 1), True, key=lambda users: not fits(users))
    return float(max(fitting, 1))


def _fits(case: Case) -> bool:
    model = case.model
    machine = case.machine
    work = case.work
    try:
        placement = case.placement
    except Refusal:
        return False
    plain = case.runtime.engine in ON_TRANSFORMERS
    logits = LOGITS * model.architecture.vocab * work.fresh * work.users * plain
    beyond = logits / max(len(machine.gpus), 1) - ACTIVATIONS * plain
    weights = float(placement.weight_bytes(model, Location.RAM))
    limits = {
        Tier.VRAM: min(float(gpu.memory.value) for gpu in machine.gpus) - beyond,
        Tier.RAM: max(float(machine.host.memory.value) * RAM_USED, weights),
        Tier.DISK: DRIVE_FOR_CACHE + model.file_bytes,
    }
    twice = (CACHE_COPIES - 1.0) * plain
    return all(
        float(
            placement.needed_bytes(model, location, work)
            + twice * placement.kv_bytes(model, location, work)
        )
        <= limits[location.tier]
        for location in placement.locations
    )


# Category of a published row that states none, or that cannot have run as it states.


def with_category(row: PublishedRow) -> PublishedRow:
    """Row with a category, as stated or by its GPU, split and runtime; without notes."""
    return PublishedRow({**row.cells, "category": row.category or _category(row)})


def _category(row: PublishedRow) -> str:
    if not row.gpu or row.gpu.casefold() == MachineSpec.NO_GPU or row.ngl == 0:
        return "cpu"
    if row.fraction_disk:
        return "nvme"
    if row.engine or engine_of(row.runtime) is not None:
        return TIERED
    experts = row.n_cpu_moe or stated("experts in RAM", f"{row.source_words} {row.other_metric}")
    if experts or engine(row.runtime, "moe_offload") is KTRANSFORMERS:
        return "moe_offload"
    if row.ngl is None:
        return "resident"
    return "partial"


def possible(
    row: PublishedRow, model: Model, machine: Machine, runtime: Runtime, strategy: PlacementStrategy
) -> PlacementStrategy:
    """Placement of a row; split where GPUs that should hold all weights are smaller than these.

    Only engines that compute in RAM can have run so: Ollama and LM Studio split a model by
    themselves, and drivers move what exceeds a GPU to RAM.
    """
    if strategy is not PlacementStrategy.GPU_RESIDENT or not runtime.computes_in_ram:
        return strategy
    room = sum(float(gpu.memory.value) for gpu in machine.gpus)
    if model.file_bytes <= room or any(gpu.unified for gpu in machine.gpus):
        return strategy
    row.notes.append(
        f"{row.model} is larger than the GPU memory of {row.gpu}: read as split with RAM"
    )
    return PlacementStrategy.CPU_OFFLOAD


def one_after_another(row: PublishedRow, runtime: Runtime, machine: Machine) -> Machine:
    """Machine of a row; as one card with the memory of all where ExLlama divides by layers.

    Each GPU computes its own layers in turn, so that a token takes as long as on one card; `tp=4`
    in a note is another way (`-tp` of turboderp-org/exllamav3's model_init.py, 0445820).
    """
    first, *others = machine.gpus or (None,)
    if runtime is not EXLLAMA or first is None or not others:
        return machine
    if stated("layers divided", row.source_words) or any(gpu.name != first.name for gpu in others):
        return machine
    together = replace(first.memory, value=first.memory.value * len(machine.gpus))
    return replace(machine, gpus=(replace(first, memory=together),))


OLLAMA_RUNS_LLAMA_CPP = "2026-06"
"""Month from which Ollama starts llama.cpp's server; its own engines before, up to 0.24, computed
the delta rule by single operations (ollama pull request 16031)."""
OLLAMA_AS_OF = "2026-02"
"""Month of the builds of llama.cpp that these engines are like in linear attention."""


def with_build(row: PublishedRow, model: Model, machine: Machine, runtime: Runtime) -> Machine:
    """Machine of a row, with the build of the row's month where that changes its speed.

    It does where it changes linear attention, lacks a kernel for the format, or copies experts that
    no token uses.
    """
    month = row.date[:7]
    dated = re.fullmatch(r"20\d\d-\d\d", month) is not None
    if not dated or not runtime.of_llama_cpp:
        return machine
    if "ollama" in row.runtime.casefold() and month < OLLAMA_RUNS_LLAMA_CPP:
        month = min(month, OLLAMA_AS_OF)
    aged = replace(machine, build=month, backend=machine.backend or run_settings.backend(row))
    copies_all = model.has_experts and month < Build.USED_ALONE_SINCE
    slower = (model.has_delta_rule and Build(month).effects) or software_of(
        model, aged, runtime
    ).kernel
    older = copies_all or slower
    if older:
        return replace(machine, build=month)
    return machine


STREAMING = ("stream_cpu", "kv_offload", "batched")
MOST_KEPT = 1024  # answers that are kept for rows that state the same


KnownRuns = Mapping[str, tuple[KnownRun, ...]]
"""Known runs by the text that names their machine."""


def predictions(
    rows: Iterable[Mapping[str, str]], known: KnownRuns = MappingProxyType({})
) -> Iterator[dict[str, object]]:
    """Answers for rows of a table, as cells by column, in order.

    Equal rows are answered once; a row that fails has its reason. Known runs correct rows of the
    same machine.
    """
    for cells in rows:
        if why := cells.get(UNREADABLE):
            yield {**dict.fromkeys(ANSWERED, ""), "note": f"{why[:1].upper()}{why[1:]}."}
            continue
        stated = tuple((name, cell) for name in STATED if (cell := cells.get(name)))
        runs = known.get((cells.get("machine") or "").strip(), ())
        yield {**_answered(stated, runs), "id": cells.get("id") or ""}


@lru_cache(MOST_KEPT)
def _answered(
    stated: tuple[tuple[str, str], ...], known: tuple[KnownRun, ...]
) -> dict[str, object]:
    """Answer for a row, or the reason why it has none; a defect of the program does not stop the
    other rows, but is a warning, so that tests fail.
    """
    try:
        return answer(PublishedRow(dict(stated)), known)
    except AdvisorError as error:
        reason = str(error)
    except Exception as error:  # noqa: BLE001 - a defect may empty one row, not a file
        reason = f"This row shows a defect of this program: {error!r}."
        warnings.warn(reason, RuntimeWarning, stacklevel=2)
    return {**dict.fromkeys(ANSWERED, ""), "note": reason}


def answer(row: PublishedRow, known: tuple[KnownRun, ...] = ()) -> dict[str, object]:
    """Answer for one row, with the columns `ANSWERED`, and what known runs of its machine teach;
    raises AdvisorError where it has none.
    """
    case = understood(row).on_known(known)
    written = case.estimate
    read = case.of_prompt.estimate
    if written.decode is None or read.prefill is None or read.first_token is None:
        raise InputError(written.refusal)
    users = float(written.work.users) * case.replicas
    output = case.work.output
    low, high = _range(case, written.decode)
    slow, fast = _range(case, read.prefill)
    reply = read.first_token.value + case.steps / written.decode.value
    speeds = (
        written.decode.value, low, high, written.decode.value * users, users * output / reply,
        read.prefill.value, slow, fast, read.first_token.value,
    )  # fmt: skip
    few = " and ".join(written.unmeasured)
    told = [f"few have timed {few} on this backend: the range is wider"] if few else []
    taught = written.token_lesson
    if taught is not None:
        told.append(f"by known runs {number(float(np.exp(-taught.log_ratio)), 3)} times as fast")
    cells = (
        row.cells.get("id", ""),
        *map(_number, speeds),
        "true" if np.all(written.fits) else "false",
        written.bottleneck,
        "; ".join((*case.notes, *told)),
    )
    return dict(zip(ANSWERED, cells, strict=True))


def _range(case: Case, speed: Range) -> tuple[Array, Array]:
    """80 % range of a speed, wider for a guessed batch."""
    if not case.guessed:
        return speed.low, speed.high
    margins = Margins(below=np.log(speed.value / speed.low), above=np.log(speed.high / speed.value))
    wider = margins.wider(guessed_batch(case.model)).around(speed.value)
    return wider.low, wider.high


def understood(row: PublishedRow) -> Case:
    """Interpretation of a row."""
    row = with_category(row)
    if row.category not in CATEGORIES:
        raise InputError(f"category {row.category!r} is no inference run; nothing to predict.")
    if row.category == TIERED:
        return _in_tiers(row)
    named = _runtime(row)
    row.notes += _not_counted(row)
    model = run_settings.in_fork_format(row, stated_model(row, named))
    parts = _machine(row, named)
    runtime, strategy = _placed(row, named, PlacementStrategy(CATEGORIES[row.category][0]))
    where = one_after_another(row, runtime, _machine_of(parts))
    where = with_build(row, model, where, runtime)
    strategy = possible(row, model, where, runtime, strategy)
    if runtime.computes_in_ram:
        prompt, work = (with_drafts(row, request) for request in run_settings.requests(row))
        settings = _settings(row, model)
    else:
        prompt = work = run_settings.workload(row, runtime)
        settings = run_settings.settings(row, model, runtime)
    case = Case(
        model=model,
        machine=where,
        prompt=prompt,
        work=work,
        runtime=runtime,
        strategy=strategy,
        settings=settings,
        backend=run_settings.backend(row),
        build=run_settings.build(row),
        replicas=float(run_settings.replicas(row)),
    )
    if runtime.computes_in_ram:
        case = case
    else:
        case = batched(row, case)
    return replace(case, notes=tuple(row.notes))


OF_TIERS = {"draft": ("", "none", "off", "no")}
"""Columns that are read for engines with experts in tiers alone, and what others may say there."""


def _not_counted(row: PublishedRow) -> Iterator[str]:
    """Columns of a row that say something which is not counted for its engine."""
    if "engine" in row.cells:  # the table of those engines, where llama.cpp stands beside them
        return
    for column, plain in OF_TIERS.items():
        words = row.cells.get(column, "").strip()
        if words.casefold() not in plain:
            yield (
                f"its column {column} ({words[:40]}) is not counted: only runs of engines in tiers "
                "have it; a note may say it (source_note: draft=mtp,3)"
            )


def _in_tiers(row: PublishedRow) -> Case:
    """Case of an engine that keeps experts in tiers; llama.cpp among them as itself."""
    if engine_of(row.engine or row.runtime) is None and LLAMA_CPP.name in row.runtime[:9]:
        return understood(_as_llama_cpp(row))
    runtime, model, where, work, strategy, settings = understood_tiers(row, _machine_of)
    return Case(
        model=model,
        machine=where,
        prompt=work,
        work=work,
        runtime=runtime,
        strategy=strategy,
        settings=settings,
        backend="",
        build="",
        notes=tuple(row.notes),
    )


def _as_llama_cpp(row: PublishedRow) -> PublishedRow:
    """Row of llama.cpp itself in a table of these engines, with the columns that it is read by."""
    layers = re.search(r"-ncmoe (\d+)", row.runtime)
    cells = {
        **row.cells,
        "category": "moe_offload",
        "prompt_len": row.cells.get("prompt_tokens", ""),
    }
    if row.vram_cache_share == 1.0:
        cells["category"] = "resident"
    if layers:
        cells["n_cpu_moe"] = layers[1]
    cache = row.vram_cache_gib
    if cache and cells["category"] == "moe_offload":
        cells["source_note"] = f"{row.source_note}; --moe-cache-mib {cache * 1024:.0f}"
    return PublishedRow(cells)


@lru_cache(maxsize=4096)
def _machine_of(parts: MachineSpec) -> Machine:
    """Machine of a specification; cached, as many rows have the same."""
    return machine(parts)


def _copying(row: PublishedRow) -> Runtime:
    """ik_llama.cpp of the time of a row, where it copies experts to the GPU."""
    if row.date >= run_settings.COPIES_LARGE_SINCE:
        return IK_COPYING
    return IK_COPYING_ALL


def _runtime(row: PublishedRow) -> Runtime:
    """Engine of a row, or the likeliest runtime where it names none."""
    named = engine(row.runtime, row.category)
    if named in (LLAMA_CPP, None) and stated("shared layers", row.source_words):
        return LLAMA_CPP_TENSOR
    if named is not None:
        app = runtime_row(row.runtime)
        if app is not None and app.taken_as:
            row.notes.append(app.taken_as)
        return _with_options(named, row)
    if row.category in STREAMING:
        nearest = VLLM
    else:
        nearest = LLAMA_CPP
    if row.runtime:
        row.notes.append(f"{row.runtime} is not modelled: read as {nearest.name} does")
    return nearest


def _with_options(named: Runtime, row: PublishedRow) -> Runtime:
    """Engine with the options of a row that change how it reads weights."""
    if named is IK_LLAMA_CPP and "split mode graph" in row.source_note:
        return IK_GRAPH
    if named is IK_LLAMA_CPP and run_settings.copies_experts(row):
        return _copying(row)
    if named is KTRANSFORMERS and not row.gpu:
        return LLAMA_CPP
    return named


def _machine(row: PublishedRow, runtime: Runtime) -> MachineSpec:
    """Machine of each copy of the model."""
    parts = stated_machine(row)
    parts = replace(parts, ram_gb=ram_gib(row, runtime, str(parts.gpu)))
    replicas = run_settings.replicas(row)
    if replicas == 1:
        return parts
    row.notes.append(f"{replicas} copies of the model share the requests")
    return replace(parts, gpu_count=max(parts.gpu_count // replicas, 1))


PROGRAMS_OF_GPUS = (ACCELERATE, DEEPSPEED)
"""Runtimes on PyTorch, whose own way on a processor is another one: Transformers in 32 bits was
measured 7.5 times slower there than llama.cpp is predicted."""


def _placed(
    row: PublishedRow, runtime: Runtime, strategy: PlacementStrategy
) -> tuple[Runtime, PlacementStrategy]:
    """Engine and placement of a row; without a GPU the processor computes in place."""
    resident = strategy is PlacementStrategy.GPU_RESIDENT
    if resident and strategy not in runtime.strategies:
        row.notes.append(f"{runtime.name} keeps no weights on the GPU: RAM holds them")
        strategy = PlacementStrategy.CPU_OFFLOAD
    of_llama_cpp = runtime.key == LLAMA_CPP.key
    alone = row.gpu.casefold() == MachineSpec.NO_GPU or (row.category == "cpu" and not of_llama_cpp)
    if not alone:
        return runtime, strategy
    if runtime in PROGRAMS_OF_GPUS:
        raise InputError(
            f"{row.runtime} is modelled on GPUs only; on a processor it computes in another way "
            "than llama.cpp, several times slower. Nothing is predicted."
        )
    if not of_llama_cpp:
        row.notes.append(f"{runtime.name} needs a GPU: read as {LLAMA_CPP.name} does")
    return LLAMA_CPP, PlacementStrategy.CPU_OFFLOAD if resident else strategy


def _settings(row: PublishedRow, model: Model) -> Settings:
    """Stated split, and how the file was read."""
    layers = row.ngl
    moe = row.n_cpu_moe
    note = row.source_note
    percent = figure("percent on the GPU", note)
    if percent is None:
        share = row.fraction_gpu
    else:
        share = percent / 100.0
    if layers is None and share is not None:
        layers = round(share * model.layers)
    by_itself = layers is None or layers >= model.layers
    if moe is None and by_itself and stated("automatic split", note):
        layers = None
    elif moe is None and by_itself and row.category == "moe_offload":
        moe = float(model.layers)
    return Settings(
        gpu_layers=layers,
        cpu_moe=moe,
        gpu_experts=figure("experts on the GPU", row.other_metric),
        most_asked="frequency" in row.runtime.casefold(),
        head_first=layers is None,
        kv_in_ram="-nkvo" in note,
        load_mode=run_settings.load_mode(row),
    )


def _number(value: object) -> float:
    """Number with six digits."""
    plain = float(np.ravel(np.asarray(value))[0])
    if not 0 < plain < np.inf:
        raise InputError(f"A speed comes out as {plain:g}; check the sizes that the row states.")
    return float(f"{plain:.6g}")
