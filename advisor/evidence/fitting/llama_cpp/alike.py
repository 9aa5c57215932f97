"""Rows with schedules of the same shape as one case of arrays, and constants of each row."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import Scope, fitted_constants
from advisor.cost_model.processors import peak_16_bit
from advisor.cost_model.schedule import Schedule
from advisor.cost_model.timing import StepTime, schedule_seconds
from advisor.evidence.fitting.llama_cpp.parameters import PARAMETERS
from advisor.evidence.fitting.llama_cpp.timed_row import TimedRow
from advisor.evidence.fitting.vectorize import path, stacked, steps, values_of
from advisor.evidence.published.machine import ram_in_theory
from advisor.evidence.published.row import Bound
from advisor.machine import from_catalog
from advisor.machine.machine import Gpu, Host, Link, Machine
from advisor.machine.quantity import given
from advisor.model.model import Floats


@dataclass(frozen=True, kw_only=True)
class Alike:
    """Rows of the same shape as one case; every number is an array of shape (rows,)."""

    at: npt.NDArray[np.int64]  # indices of the rows among all rows
    schedule: Schedule  # schedule of the timed part
    machine: Machine  # machine, with the RAM's theoretical bandwidth, or the stated one
    # whether the RAM bandwidth is a stated, sustained one, to which no share applies
    ram_stated: npt.NDArray[np.bool_]

    def seconds(self, constants: "ConstantColumns | TableColumns | Bound") -> StepTime:
        """Predicted time of these rows, shape (rows,)."""
        share = np.minimum(constants.value("ram_sustained_share"), from_catalog.MOST_SUSTAINED)
        host = self.machine.host
        rate = host.bandwidth.value * np.where(self.ram_stated, 1.0, share)
        machine = replace(self.machine, host=replace(host, bandwidth=given(rate)))
        return schedule_seconds(self.schedule, machine, constants)  # type: ignore[arg-type]  # arrays stand for numbers


class ConstantColumns:
    """Constants with one value per row where they are fitted; others have the table's value.

    Args:
        values: fitted constants by name, each of shape (rows,).
    """

    def __init__(self, values: Mapping[str, Floats]) -> None:
        self._values = values

    def value(self, constant: str, family: str = "") -> Floats | float:
        """Value of a constant in each row, shape (rows,), or the table's single value."""
        fitted = self._values.get(constant)
        return _table_value(constant, family) if fitted is None else fitted


@cache
def _table_value(constant: str, family: str) -> float:
    return fitted_constants().bound(Scope(runtime="llama.cpp")).value(constant, family)


class TableColumns:
    """Constants of the shipped table for rows of different scopes.

    Args:
        scopes: scope of each row, as `TimedRow.scope` gives it.
    """

    def __init__(self, scopes: Sequence[Mapping[str, str]]) -> None:
        self._scopes = scopes

    def value(self, constant: str, family: str = "") -> Floats:
        """Value of a constant in each row, shape (rows,)."""
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


def by_shape(timed: Sequence[TimedRow]) -> Iterator[Alike]:
    """Rows grouped by the shape of their schedule and machine."""
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
    """RAM bandwidth [B/s] and whether it is stated; else it is the theoretical one."""
    peak = ram_in_theory(timed.row, timed.case.machine.host.name)
    if peak is None:
        return float(timed.case.machine.host.bandwidth.value), True
    return peak, False


def _machines(machines: Sequence[Machine], ram: Sequence[float]) -> Machine:
    """Machines of several rows as one, with the parts that times depend on."""
    cards = zip(*(machine.gpus for machine in machines), strict=True)
    hosts = [machine.host for machine in machines]
    host = Host(
        name="",
        cores=np.array([host.cores for host in hosts], dtype=float),  # type: ignore[arg-type]  # arrays stand for numbers
        sockets=np.array([host.sockets for host in hosts], dtype=float),  # type: ignore[arg-type]  # arrays stand for numbers
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
        tensor_flops={
            "fp16": np.array([float(peak_16_bit(card)) for card in cards]),  # type: ignore[dict-item]  # arrays stand for numbers
            "fp32": np.array([float(card.tensor_flops.get("fp32", 0.0)) for card in cards]),  # type: ignore[dict-item]  # arrays stand for numbers
        },
        dot_products=np.array([float(card.dot_products) for card in cards]),  # type: ignore[arg-type]  # arrays stand for numbers
        link=Link(
            name="",
            pinned=values_of([link.pinned for link in links]),
            pageable=values_of([link.pageable for link in links]),
            zero_copy=values_of([link.zero_copy for link in links]),
        ),
        peer=values_of(peers) if len(peers) == len(cards) else None,
        peer_access=cards[0].peer_access,
    )
