"""Combinations of machine, runtime, placement and formats that are fast enough, as columns.

GGUF formats are ordered by published loss (data/models/format_loss.csv), formats of serving engines
among them by bits. They are computed in this process, on all cores, or on a Dask cluster, with the
same results: tasks are plain records, so nothing but names, numbers and the model's sizes travels.
"""

import importlib
import multiprocessing
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from itertools import groupby, permutations
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from advisor.advice.finder.runnable import AS_TRAINED, BY_LOSS
from advisor.advice.speeds import COLUMNS as SPEED_COLUMNS
from advisor.advice.table.stack import Stack, between_kinds
from advisor.advice.table.timed_machines import COUNTS, cardless, whole_machines
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.runtime import Runtime
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, Refusal, UnknownName
from advisor.failures import NetworkError
from advisor.machine import from_catalog
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.model import Floats, Model
from advisor.model.resolve import dynamic_format
from advisor.request.money import Ownership
from advisor.runtimes import named
from advisor.runtimes import runtime as runtime_named

NAMES = tuple(known.name for known in named())
SEARCHED = tuple(
    known
    for known in named()
    if known.engine != "tiers" and known is not runtime_named("Ollama MLX")
)
"""Runtimes tried for a target: all but Ollama's MLX, which is as fast as MLX, and engines that keep
experts in tiers."""
BY_BITS = frozenset({"Q5_0", "Q4_0", "Q3_K_S"})
"""Formats of the size that 5, 4 and 3 bits have in `IN_BITS`; GGUF has better ones of that size."""
IN_BITS = frozenset(runtime_named(name).name for name in ("MLX", "Ollama MLX", "ExLlamaV3"))
"""Runtimes whose formats are a number of bits, as `format_support.in_groups` matches them."""
PAIRS = ("/".join(pair) for pair in permutations(Model.KV_BYTES_PER_VALUE, 2))
"""Formats of keys and of others of values, which a person may state."""
CACHES = tuple(
    sorted(
        (*Model.KV_BYTES_PER_VALUE, *PAIRS),
        key=lambda kind: -sum(Model.KV_BYTES_PER_VALUE[each] for each in Model.cache_types(kind)),
    )
)
"""Cache formats, largest first."""


def in_formats(model: Model, formats: Iterable[str] = ()) -> Iterator[Model]:
    """Model in some formats, or in every possible one; a model with a single format is
    unchanged.
    """
    able = False
    for form in formats or (AS_TRAINED if model.architecture.expert_type else BY_LOSS):
        with suppress(Refusal, UnknownName):
            if form == model.format or dynamic_format(form):
                yield model
            else:
                yield catalog.in_format(model.architecture, form)
            able = True
    if not able:
        yield model


def cache_types(runtime: Runtime) -> tuple[str, ...]:
    """Cache formats of a runtime, derived from the largest quantized one."""
    least = runtime.quantized_kv_type
    if least == "q8_0":
        return ("f16", "q8_0", "q4_0")
    if least:
        return ("f16", least)
    return ("f16",)


def card_host(host: Machine) -> Machine:
    """Machine that takes GPUs: the given one, one of several joined, or a typical desktop."""
    several = not host.unified and Ownership(form=host.form).takes_cards
    if several:
        return replace(host, nodes=1, network=None)
    return cardless()


def stack_of(host: Machine) -> Stack:
    """Machines of a search: a host with each number of each GPU, and all machines that are sold
    whole.
    """
    return _stack_on(card_host(host))


@lru_cache(maxsize=4)
def _stack_on(host: Machine) -> Stack:
    cards = [from_catalog.gpu(row.name) for row in GPUS.rows().values() if not row.unified]
    several = [
        replace(host, name=card.name, gpus=(card,) * count) for count in COUNTS for card in cards
    ]
    whole = [replace(machine, name=name) for name, machine in whole_machines().items()]
    return Stack([*several, *whole])


STRATEGIES = tuple(PlacementStrategy)
Places = npt.NDArray[np.int_]


@dataclass(frozen=True, kw_only=True)
class RunSetup:
    """Setup of a run without its machine, as plain data that can be sent to a worker."""

    runtime: str = ""  # name of the runtime
    models: tuple[Model, ...] = ()  # model in one or several formats
    forms: tuple[int, ...] = ()  # index of each format among those tried
    caches: tuple[str, ...] = ()  # cache formats, largest first; of its runtime where none is given
    work: Workload  # request; its context may be an array of shape (contexts,)
    min_tps: float  # lowest decode speed for each user [tokens/s]
    all_caches: bool = True  # smaller cache formats even where a larger one is enough
    skip: tuple[int, ...] = ()  # indices of machines to leave out, such as those over the budget

    @property
    def size(self) -> int:
        """Number of combinations per machine: formats x placements x contexts x cache formats."""
        placements = len(runtime_named(self.runtime).strategies)
        return len(self.forms) * placements * np.size(self.work.context) * len(self.caches)


@dataclass(frozen=True, kw_only=True)
class Combinations:
    """Combinations that are fast enough, each column of shape (rows,)."""

    candidate: Places  # index of the machine in `stack_of`, later of the option to have it
    runtime: Places  # index in `NAMES`
    strategy: Places  # index in `STRATEGIES`
    form: Places  # index of the weights' format among those tried
    cache: Places  # index of the cache format in `CACHES`
    context: Floats  # context of each user [tokens]
    decode: Floats  # decode speed for each user [tokens/s]
    low: Floats  # lower end of its range [tokens/s]
    high: Floats  # upper end of its range [tokens/s]
    first_token: Floats  # time to first token [s]
    load: Floats  # time to read the file from the drive; NaN where unknown [s]
    machines: Floats  # number of equal machines that together serve all users
    arrangement: npt.NDArray[np.object_]  # GPUs in use; empty for all of a machine as one
    tried: int  # number of combinations tried
    costed: int = 0  # number of those that were placed and timed; bounds excluded the others

    @property
    def loading(self) -> Floats:
        """Time to load the file, 0 where unknown [s]."""
        return np.nan_to_num(self.load)

    @property
    def waiting(self) -> float:
        """Users in the queue: none, as a search counts enough machines for all."""
        return 0.0

    def at(self, rows: Places | npt.NDArray[np.bool_]) -> "Combinations":
        """Selection of the rows."""
        return replace(self, **{name: getattr(self, name)[rows] for name in COLUMNS})


COLUMNS = tuple(
    field.name for field in fields(Combinations) if field.name not in ("tried", "costed")
)


def cases(
    common: RunSetup, models: Sequence[Model], runtimes: Iterable[Runtime], *, stated: bool = False
) -> list[RunSetup]:
    """Setups of all runtimes with their formats of weights and cache, or the stated ones."""
    setups = []
    for runtime in runtimes:
        every = stated or len(models) == 1 or runtime.name in IN_BITS
        forms = [at for at, model in enumerate(models) if every or model.format not in BY_BITS]
        alone = [(form,) for form in forms]
        for together in [tuple(forms)] if runtime.takes_several_formats else alone:
            several = tuple(models[at] for at in together)
            caches = common.caches
            setup = replace(common, runtime=runtime.name, models=several, forms=together)
            setups.append(replace(setup, caches=caches or cache_types(runtime)))
    return setups


def combinations(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
    """Combinations that are fast enough, each machine in the first placement that fits."""
    return in_pieces(host, wanted, lambda _: None)


def in_pieces(
    host: Machine, wanted: Sequence[RunSetup], told: Callable[[float], None]
) -> Combinations:
    """Result of `combinations`, computed in pieces so that other work gets its turn.

    Between two pieces, some hundredths of a second apart, `told` gets the share that is done, 0 to
    1.
    """
    stack = stack_of(host)
    count = sum(len(case.caches) for case in wanted)
    parts: list[Combinations] = []
    pieces = _pieces(stack, wanted)
    for done in range(count):
        with between_kinds(partial(told, done / count)):
            parts += next(pieces)
    return joined(parts, sum(case.size for case in wanted) * len(stack.machines))


def _pieces(stack: Stack, wanted: Sequence[RunSetup]) -> Iterator[list[Combinations]]:
    """Combinations of each setup with each of its cache formats."""
    for case in wanted:
        contexts = np.unique(np.asarray(case.work.context, dtype=float))
        reached = np.zeros((len(case.forms) * len(contexts), len(stack.machines)), dtype=bool)
        reached[:, list(case.skip)] = True
        for cache in case.caches:
            work = replace(case.work, context=contexts, kv_type=cache)
            parts = []
            for request, rows in _in_cache(stack, case, work, reached.copy()):
                if not case.all_caches:
                    reached[request, rows.candidate] = True
                parts.append(rows)
            yield parts


def joined(parts: Sequence[Combinations], tried: int) -> Combinations:
    """Rows of several combinations, one after the other."""
    costed = sum(part.costed for part in parts)
    if not parts:
        nothing = {name: np.zeros(0, dtype=int) for name in COLUMNS}
        return Combinations(**nothing, tried=tried, costed=costed)
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    return Combinations(**columns, tried=tried, costed=costed)


def _in_cache(
    stack: Stack, case: RunSetup, work: Workload, placed: npt.NDArray[np.bool_]
) -> Iterator[tuple[Places, Combinations]]:
    """Combinations of a setup that are fast enough with one cache format, where nothing is placed
    yet, shape (formats x contexts, machines).
    """
    runtime = runtime_named(case.runtime)
    users = float(work.users)
    contexts = np.asarray(work.context)
    for at, strategy in enumerate(STRATEGIES):
        if strategy not in runtime.strategies or placed.all():
            continue
        speeds = stack.fast_speeds(
            case.models, work, runtime, strategy, skip=placed, least=case.min_tps
        )
        with np.errstate(invalid="ignore"):
            fast = speeds.fits & ~placed & (speeds.decode >= case.min_tps)
        placed |= speeds.fits
        request, candidate = np.nonzero(fast)
        form, context = np.divmod(request, len(contexts))
        alike = np.ones(len(candidate), dtype=int)
        rows = Combinations(
            candidate=candidate,
            runtime=alike * NAMES.index(runtime.name),
            strategy=alike * at,
            form=np.array(case.forms)[form],
            cache=alike * CACHES.index(work.kv_type),
            context=contexts[context],
            **{name: getattr(speeds, name)[fast] for name in SPEED_COLUMNS[:-1]},
            machines=np.ceil(users / (users - speeds.waiting[fast])),
            arrangement=speeds.arrangements[fast],
            tried=0,
            costed=int(np.count_nonzero(~np.isnan(speeds.decode))),
        )
        yield request, rows


Compute = Callable[[Machine, Sequence[RunSetup]], Combinations]


def on_cores(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
    """Combinations that are fast enough, computed on all cores.

    A runtime is computed by one process, so that no constant is looked up twice.
    """
    tasks = [list(setups) for _, setups in groupby(wanted, key=lambda setup: setup.runtime)]
    workers = min(os.cpu_count() or 1, len(tasks))
    if workers < 2 or not _forks():
        return combinations(host, wanted)
    stack_of(host)
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("fork")) as pool:
        parts = list(pool.map(partial(combinations, host), tasks))
    return joined(parts, sum(part.tried for part in parts))


def _forks() -> bool:
    """Whether this process can be forked safely."""
    return sys.platform == "linux" and threading.active_count() == 1


WAIT = 10.0  # seconds until a scheduler without an answer, or without workers, is given up [s]


def on_cluster(address: str) -> Compute:
    """Function that computes cases on the workers of the cluster of a scheduler
    ("tcp://127.0.0.1:8786").

    Raises:
        InputError: the package `distributed` is not installed.
    """
    try:
        distributed = importlib.import_module("distributed")
    except ImportError as error:
        raise InputError(
            "--scheduler needs the package distributed; pip install 'offload-advisor[dask]', or "
            "leave the option out."
        ) from error

    def compute(host: Machine, wanted: Sequence[RunSetup]) -> Combinations:
        with _client(distributed, address) as client:
            by_call = groupby(wanted, key=lambda setup: (setup.runtime, setup.forms))
            tasks = [list(setups) for _, setups in by_call]
            futures = client.map(combinations, [host] * len(tasks), tasks, pure=False)
            parts = client.gather(futures)
        return joined(parts, sum(part.tried for part in parts))

    return compute


DASK_PORT = 8786  # port of a scheduler where its address has none


def _client(distributed: Any, address: str) -> Any:
    """Connection to a scheduler, "tcp://host:8786" or without the protocol, with workers."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        if parts.scheme in ("tcp", "tls"):
            # A client that finds nobody waits twice as long, and prints a traceback.
            socket.create_connection((parts.hostname, parts.port or DASK_PORT), WAIT).close()
        client = distributed.Client(address, timeout=WAIT, set_as_default=False)
        client.wait_for_workers(1, timeout=WAIT)
    except (OSError, ValueError, TimeoutError) as error:
        raise NetworkError(
            f"No Dask scheduler with workers answers at {address[:80]!r}; start one with "
            "`dask scheduler` and `dask worker` beside this version of offload-advisor, or leave "
            "--scheduler out."
        ) from error
    return client
