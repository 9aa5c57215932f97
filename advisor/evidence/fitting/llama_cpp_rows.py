"""Published rows of llama.cpp and its forks side by side, timed by the cost model itself."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import Scope, fitted_constants
from advisor.catalog.csv_tables import DATA
from advisor.cost_model.processors import matrices, peak_16_bit, vectors
from advisor.cost_model.schedule import Schedule
from advisor.cost_model.timing import StepTime, schedule_seconds
from advisor.errors import AdvisorError
from advisor.evidence.fitting.llama_cpp.parameters import PARAMETERS
from advisor.evidence.fitting.vectorize import path, stacked, steps, values_of
from advisor.evidence.published import sources
from advisor.evidence.published.doubts import FASTEST, SLOWEST, Bound, doubtful
from advisor.evidence.published.engines import engine
from advisor.evidence.published.machine import ram_in_theory
from advisor.evidence.published.predict import Case, understood
from advisor.evidence.published.row import PublishedRow, published_rows
from advisor.machine import backends, from_catalog
from advisor.machine.machine import Gpu, Host, Link, Machine
from advisor.machine.quantity import given
from advisor.model.model import Floats
from advisor.runtimes import MLX

FILES = (
    DATA / "measurements" / "llama_cpp.csv",
    DATA / "measurements" / "llama_cpp_more.csv",
)
"""Published rows, in the order they are read."""
FRAMEWORKS = DATA / "measurements" / "frameworks_more.csv"
"""File whose rows of MLX are read with them: it places and reads a model as llama.cpp does, with
kernels of its own, so that only factors of its build differ."""
FITTED = ("resident", "cpu", "moe_offload", "partial")
"""Categories whose speeds are fitted."""
GENERATED, READ = "generation", "prompt"
"""What of a row is timed: a token, or a prompt."""


@dataclass(frozen=True, kw_only=True)
class TimedRow:
    """One speed of one row.

    Attributes:
        row: as it stands in its file.
        case: what it describes.
        timed: `GENERATED` or `READ`.
        seconds: of a step, or of the whole prompt [s].
    """

    row: PublishedRow
    case: Case
    timed: str
    seconds: float

    @cached_property
    def schedule(self) -> Schedule:
        """How the runtime reads the model for what was timed."""
        if self.timed == READ:
            return self.case.prompt_phases.prefill
        return self.case.phases.decode

    @property
    def scope(self) -> Mapping[str, str]:
        """Names that constants may differ by, by column; hardware by its kind."""
        case, host = self.case, self.case.machine.host
        return {
            "gpu": case.machine.gpus[0].family if case.machine.gpus else "",
            "segment": from_catalog.ram_segment(host.name),
            "vectors": vectors(host),
            "matrices": matrices(host),
            "decode_class": case.model.decode_class,
            "backend": case.backend or backends.of_machine(case.machine),
            "build": case.runtime.build or case.build,
        }


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Rows of one shape as one case, every number an array of shape (rows,).

    Attributes:
        at: their places among all rows.
        schedule: of what was timed.
        machine: all of theirs; its RAM gives the peak, or what was stated.
        ram_stated: the RAM rate is sustained, so that no share of a peak applies.
    """

    at: npt.NDArray[np.int64]
    schedule: Schedule
    machine: Machine
    ram_stated: npt.NDArray[np.bool_]

    def seconds(self, constants: "ConstantColumns | TableColumns | Bound") -> StepTime:
        """What the cost model says of these rows, shape (rows,)."""
        share = np.minimum(constants.value("ram_sustained_share"), from_catalog.MOST_SUSTAINED)
        host = self.machine.host
        rate = host.bandwidth.value * np.where(self.ram_stated, 1.0, share)
        machine = replace(self.machine, host=replace(host, bandwidth=given(rate)))
        return schedule_seconds(self.schedule, machine, constants)  # type: ignore[arg-type]


class ConstantColumns:
    """Values of fitted constants for each of some rows, in place of the table's single ones.

    Args:
        values: by constant, each of shape (rows,).
    """

    def __init__(self, values: Mapping[str, Floats]) -> None:
        self._values = values

    def value(self, constant: str, family: str = "") -> Floats | float:
        """The constant of each row, shape (rows,); the table's where it is not fitted here."""
        fitted = self._values.get(constant)
        return _table_value(constant, family) if fitted is None else fitted


@cache
def _table_value(constant: str, family: str) -> float:
    return fitted_constants().bound(Scope(runtime="llama.cpp")).value(constant, family)


class TableColumns:
    """Values of the shipped table for each of some rows, whatever their scopes.

    Args:
        scopes: names of each row, as `TimedRow.scope`.
    """

    def __init__(self, scopes: Sequence[Mapping[str, str]]) -> None:
        self._scopes = scopes

    def value(self, constant: str, family: str = "") -> Floats:
        """The constant of each row, shape (rows,)."""
        parameter = PARAMETERS.get(constant)
        return np.array(
            [
                _value_in(
                    constant,
                    names[parameter.hardware] if parameter and not family else family,
                    names["decode_class"],
                    names["backend"],
                    names["build"],
                )
                for names in self._scopes
            ]
        )


@cache
def _value_in(constant: str, family: str, decode_class: str, backend: str, build: str) -> float:
    scope = Scope(runtime="llama.cpp", decode_class=decode_class, backend=backend, build=build)
    return fitted_constants().bound(scope).value(constant, family)


@dataclass(frozen=True, kw_only=True)
class Rows:
    """All rows that are fitted together; arrays have shape (rows,).

    Attributes:
        timed: one by one.
        groups: source and hardware of each.
        scopes: names that constants may differ by.
        seconds: measured [s].
        alike: the same by shape.
        doubted: rows beside them whose speed no physics explains.
    """

    timed: tuple[TimedRow, ...]
    groups: tuple[str, ...]
    scopes: tuple[Mapping[str, str], ...]
    seconds: Floats
    alike: tuple[Alike, ...]
    doubted: tuple[TimedRow, ...] = ()

    @property
    def read(self) -> npt.NDArray[np.bool_]:
        """Rows that time a prompt."""
        return np.array([row.timed == READ for row in self.timed])

    def steps(self, values: Mapping[str, Floats]) -> Iterator[tuple[Alike, StepTime]]:
        """What the cost model says, shape by shape.

        Args:
            values: each fitted constant for each row, shape (rows,).
        """
        for part in self.alike:
            constants = ConstantColumns({name: value[part.at] for name, value in values.items()})
            yield part, part.seconds(constants)

    def predicted(self, values: Mapping[str, Floats]) -> Floats:
        """What the cost model says of each row [s]."""
        total = np.empty(len(self.timed))
        for part, time in self.steps(values):
            total[part.at] = time.total
        return total

    def bound(self, constants: Bound) -> Floats:
        """What it says with the same constants for all rows [s]."""
        total = np.empty(len(self.timed))
        for part in self.alike:
            total[part.at] = part.seconds(constants).total
        return total


@cache
def published() -> tuple[PublishedRow, ...]:
    """Every row of `FILES`, then those of MLX."""
    own = (row for path in FILES for row in published_rows(path))
    apple = (row for row in published_rows(FRAMEWORKS) if engine(row.runtime, row.category) is MLX)
    return (*own, *apple)


def rows_of(table: Iterable[PublishedRow]) -> Rows:
    """The rows that teach something, their tokens first and then their prompts."""
    cases = [(row, case) for row in table if (case := _taught(row))]
    rows = side_by_side(list(_timed(cases)))
    doubts = doubtful(rows.seconds, rows.bound(FASTEST), rows.bound(SLOWEST))
    kept = [row for row, doubt in zip(rows.timed, doubts, strict=True) if not doubt]
    doubted = tuple(row for row, doubt in zip(rows.timed, doubts, strict=True) if doubt)
    return replace(side_by_side(kept), doubted=doubted)


def doubted_by_sources(table: Iterable[PublishedRow]) -> tuple[TimedRow, ...]:
    """The rows that their own sources doubt, as if they did not."""
    told = (PublishedRow({**row.cells, "doubtful": ""}) for row in table if row.doubtful)
    return tuple(_timed([(row, case) for row in told if (case := _taught(row))]))


def _timed(cases: Sequence[tuple[PublishedRow, Case]]) -> Iterator[TimedRow]:
    for what in (GENERATED, READ):
        for row, case in cases:
            seconds = _seconds(row, case, what)
            if seconds:
                yield TimedRow(row=row, case=case, timed=what, seconds=seconds)


def side_by_side(timed: Sequence[TimedRow]) -> Rows:
    """Rows with their cases stacked by shape."""
    return Rows(
        timed=tuple(timed),
        groups=tuple(sources.group_of(row.row) for row in timed),
        scopes=tuple(row.scope for row in timed),
        seconds=np.array([row.seconds for row in timed]),
        alike=tuple(_by_shape(timed)),
    )


def _taught(row: PublishedRow) -> Case | None:
    """What a row describes; None where it teaches nothing."""
    if row.category not in FITTED or row.doubtful:
        return None
    case = case_of(row)
    if case is None or not case.runtime.computes_in_ram or case.runtime.key != "llama.cpp":
        return None
    return case if _split_stated(row, case) else None


@lru_cache(maxsize=8192)
def case_of(row: PublishedRow) -> Case | None:
    """What a row describes; None where that is not understood."""
    try:
        return understood(row)
    except AdvisorError:
        return None


def _split_stated(row: PublishedRow, case: Case) -> bool:
    """The row says what lay in RAM, and in which: without either it teaches nothing of them."""
    if row.category != "partial":
        return True
    layers = case.settings.gpu_layers
    return layers is not None and bool(np.all(layers < case.model.layers)) and bool(row.cpu)


def stated_tps(row: PublishedRow, timed: str) -> float:
    """Published speed of what was timed, all users together; 0 where there is none [tokens/s]."""
    return (row.pp_tps if timed == READ else row.tg_tps or row.tg_tps_total) or 0.0


def _seconds(row: PublishedRow, case: Case, timed: str) -> float | None:
    """Time of a step for all users, or of all their prompts [s]; None where it was not taken.

    Sweeps over the threads of the generation time their prompt with another number of threads.
    """
    speed = stated_tps(row, timed)
    if not speed or (timed == READ and "given threads" in row.source_note):
        return None
    fresh = np.maximum(case.prompt.fresh, 1.0) if timed == READ else 1.0
    users = case.prompt.users if timed == READ else case.work.users
    return float(fresh * users) / speed


def _by_shape(timed: Sequence[TimedRow]) -> Iterator[Alike]:
    places: dict[Hashable, list[int]] = {}
    schedules = [row.schedule for row in timed]
    for place, (row, schedule) in enumerate(zip(timed, schedules, strict=True)):
        machine = row.case.machine
        shape = steps(schedule), schedule.workers, len(machine.gpus), path(machine)
        places.setdefault(shape, []).append(place)
    for at in places.values():
        rams = [_ram(timed[place]) for place in at]
        yield Alike(
            at=np.array(at),
            schedule=stacked([schedules[place] for place in at]),
            machine=_machines([timed[place].case.machine for place in at], [r for r, _ in rams]),
            ram_stated=np.array([stated for _, stated in rams]),
        )


def _ram(timed: TimedRow) -> tuple[float, bool]:
    """RAM bandwidth: as stated and true, else in theory and false [B/s]."""
    peak = ram_in_theory(timed.row, timed.case.machine.host.name)
    if peak is None:
        return float(timed.case.machine.host.bandwidth.value), True
    return peak, False


def _machines(machines: Sequence[Machine], ram: Sequence[float]) -> Machine:
    """Machines as one, as far as times depend on them."""
    cards = zip(*(machine.gpus for machine in machines), strict=True)
    hosts = [machine.host for machine in machines]
    host = Host(
        name="",
        cores=np.array([host.cores for host in hosts], dtype=float),  # type: ignore[arg-type]
        sockets=np.array([host.sockets for host in hosts], dtype=float),  # type: ignore[arg-type]
        memory=given(1.0),
        bandwidth=given(np.array(ram)),
    )
    return Machine(name="", gpus=tuple(map(_cards, cards)), host=host, disk=None)


def _cards(cards: Sequence[Gpu]) -> Gpu:
    peers = [card.peer for card in cards if card.peer]
    links = [card.link for card in cards]
    return Gpu(
        name="",
        vendor="",
        family="",
        memory=given(1.0),
        bandwidth=values_of([card.bandwidth for card in cards]),
        tensor_flops={"fp16": np.array([float(peak_16_bit(card)) for card in cards])},  # type: ignore[dict-item]
        link=Link(
            name="",
            pinned=values_of([link.pinned for link in links]),
            pageable=values_of([link.pageable for link in links]),
            zero_copy=values_of([link.zero_copy for link in links]),
        ),
        peer=values_of(peers) if len(peers) == len(cards) else None,
        peer_access=cards[0].peer_access,
    )
