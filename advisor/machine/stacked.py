"""Stacking of machines: several as one with arrays as numbers, so that one estimate covers all.

Machines can be stacked if they differ in numbers only: equal numbers of GPUs, instruction sets and
kinds of quantities, and the same network, by which frameworks divide a model. Names of families
and vendors that differ become tuples, one for each machine, by which constants are looked up.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np

from advisor.catalog.constants import in_common
from advisor.machine.backends import OperatingSystem
from advisor.machine.machine import Disk, Gpu, Host, Machine
from advisor.units import Quantity

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True)
class KindParts:
    """Properties that tell with which machines a machine can be stacked, looked up once."""

    machine: Machine
    one_card: bool  # its GPUs are cards of one kind
    every: Hashable  # properties that count in each kind
    outside: Hashable  # those of links, processor and drive

    @staticmethod
    def of(machine: Machine) -> "KindParts":
        """Properties of a machine."""
        host = machine.host
        disk = machine.disk
        network = machine.network
        times = (network.rate, network.reduce, network.message) if network else ()
        return KindParts(
            machine,
            of_one_card(machine),
            (
                machine.driven,
                (id(host.engine), machine.nodes, host.numa, host.threads, host.thread_excess),
                host.numa and (host.cores, host.sockets),
                (machine.backend, machine.driver, machine.build),
                machine.system == OperatingSystem.WINDOWS,
                host.segment,
                tuple(figure and float(figure.value) for figure in times),
                id(machine.known),
                disk is None,
            ),
            (
                tuple(gpu.link.pinned.kind for gpu in machine.gpus),
                (_maker(host), host.segment, host.instruction_sets, host.bandwidth.kind),
                disk and (disk.sequential.kind, disk.mapped is None, disk.read_ahead.value),
            ),
        )

    def kind(self, *, kernels: bool, resident: bool, counts: bool = False) -> Hashable:
        """Key of machines that can be stacked.

        With `kernels` the order of GPUs by speed must agree too, for frameworks that divide layers
        among GPUs; llama.cpp's GPUs work one after another. With `resident` the GPUs hold the whole
        model, so that links, processor and drive take no part in a step. With `counts` machines
        with several numbers of one kind of card can be stacked.
        """
        machine = self.machine
        together = counts and self.one_card
        several = len(machine.gpus) > 1 and not together
        return (
            together or tuple((gpu.unified, gpu.of_ram) for gpu in machine.gpus),
            kernels and several and _by_rate(machine),
            kernels and machine.nodes > 1 and _rates(machine),
            self.every,
            resident or self.outside,
        )


def _rates(machine: Machine) -> tuple[float, ...]:
    """Bandwidth of each GPU's memory [B/s]."""
    return tuple(float(gpu.bandwidth.value) for gpu in machine.gpus)


def _by_rate(machine: Machine) -> Hashable:
    """Order of the GPUs that share layers by their speed: they wait for the slowest."""
    return tuple(map(int, np.argsort(_rates(machine), kind="stable")))


def of_one_card(machine: Machine) -> bool:
    """Whether all GPUs of a machine are cards of one kind, in one machine."""
    gpus = machine.gpus
    return bool(gpus) and _all_equal(gpus) and not machine.unified and machine.nodes == 1


def card_of(machine: Machine) -> Hashable:
    """Key of a machine's kind of card, which is the same for any number of cards."""
    return tuple(map(id, (machine.gpus[0], machine.host, machine.disk)))


def stacked(machines: Sequence[Machine]) -> Machine:
    """Machines of a kind as one, with values of shape (machines,) where they differ."""
    first = machines[0]
    if len(machines) == 1:
        return first
    return replace(
        first,
        name=f"{len(machines)} machines",
        gpus=_gpus([machine.gpus for machine in machines]),
        host=_as_one(
            [machine.host for machine in machines],
            *("cores", "sockets", "clock", "memory", "bandwidth"),
            name=f"{_maker(first.host)}hosts",
        ),
        disk=None if first.disk is None else _disk([m.disk for m in machines if m.disk]),
    )


def with_counts(machines: Sequence[Machine], counts: Sequence[int]) -> Machine:
    """Machines with one kind of card and several numbers of it, together as one machine."""
    single = stacked([replace(machine, gpus=machine.gpus[:1]) for machine in machines])
    if len(counts) == 1:
        several = None
    else:
        several = np.array(counts)[:, np.newaxis]
    return replace(single, gpus=single.gpus * (1 if len(counts) > 1 else counts[0]), counts=several)


def _all_equal(parts: Sequence[Part]) -> bool:
    return all(part is parts[0] for part in parts)


def _gpus(each: Sequence[tuple[Gpu, ...]]) -> tuple[Gpu, ...]:
    """Stacked GPUs of machines with as many GPUs each; stacked once where all are of one kind."""
    if all(_all_equal(gpus) for gpus in each):
        if each[0]:
            return (_gpu([gpus[0] for gpus in each]),) * len(each[0])
        return ()
    return tuple(_gpu(gpus, at) for at, gpus in enumerate(zip(*each, strict=True)))


def _gpu(gpus: Sequence[Gpu], at: int = 0) -> Gpu:
    """GPUs at the same place of their machines as one GPU."""
    first = gpus[0]
    if _all_equal(gpus):
        return first
    kinds = dict.fromkeys(kind for gpu in gpus for kind in gpu.tensor_flops)
    return replace(
        first,
        name=f"{len(gpus)} GPUs at {at}",
        tensor_flops={
            kind: _array([gpu.tensor_flops.get(kind, 0.0) for gpu in gpus]) for kind in kinds
        },
        link=_as_one([gpu.link for gpu in gpus], *LINK_RATES, name="links"),
        board_power=None,
        peer=_peer([gpu.peer for gpu in gpus]),
        **_names(gpus, "vendor", "vendors"),
        **_names(gpus, "family", "families"),
        **_arrays(gpus, "memory", "bandwidth", "dot_products", "peer_access"),
    )


def _names(gpus: Sequence[Gpu], single: str, several: str) -> dict[str, Any]:
    """Name that GPUs share, in one field; different names, one for each GPU, in the other."""
    names = in_common(getattr(gpu, single) for gpu in gpus)
    if isinstance(names, str):
        return {single: names, several: ()}
    return {single: "", several: names}


def _peer(links: Sequence[Quantity | None]) -> Quantity | None:
    """Rates between GPUs, 0 where they have no link of their own; None where none has."""
    known = [link for link in links if link is not None]
    if len(known) in (0, len(links)):
        return _array(known) if known else None
    values = [0.0 if link is None else float(link.value) for link in links]
    return replace(known[0], value=np.array(values))


LINK_RATES = ("pinned", "pageable", "zero_copy")


def _as_one(parts: Sequence[Part], *figures: str, **named: Any) -> Part:
    """Parts as one, with arrays over them as figures; the first part where all are equal."""
    if _all_equal(parts):
        return parts[0]
    single: Any = parts[0]
    return cast(Part, replace(single, **_arrays(parts, *figures), **named))


APPLE = "Apple "  # prefix of the names of hosts with constants of their own


def _maker(host: Host) -> str:
    if host.name.startswith(APPLE):
        return APPLE
    return ""


def _disk(disks: Sequence[Disk]) -> Disk:
    if all(disk.mapped is not None for disk in disks):
        return _as_one(disks, "sequential", "mapped", name="drives")
    return _as_one(disks, "sequential", name="drives", mapped=None)


def _arrays(parts: Sequence[Part], *names: str) -> dict[str, Any]:
    """Figures of parts by name, as arrays over the parts."""
    return {name: _array([getattr(part, name) for part in parts]) for name in names}


def _array(figures: Sequence[Any]) -> Any:
    """Numbers as an array, typed as the scalar that it replaces, since the cost model takes both;
    quantities as one, with an array where they differ.
    """
    first = figures[0]
    if not isinstance(first, Quantity):
        return np.array(figures, dtype=float)
    values = [float(figure.value) for figure in figures]
    if len(set(values)) == 1:
        return first
    return replace(first, value=np.array(values))
