"""Candidates of the search: every GPU in every number in one host, and every whole machine."""

from dataclasses import dataclass, replace
from functools import lru_cache

from advisor.advice.fleet.fleet import Fleet
from advisor.advice.options.elsewhere import whole_machines
from advisor.advice.options.timed_cards import COUNTS
from advisor.machine import from_catalog, from_spec
from advisor.machine.catalog import gpu_rows
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.request.ownership import Ownership, form_of


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Machine that is tried.

    Attributes:
        name: name of its GPU, or of the whole machine.
        machine: the machine, with its GPUs.
        whole: sold as a whole machine.
    """

    name: str
    machine: Machine
    whole: bool = False

    @property
    def count(self) -> int:
        """Number of GPUs."""
        return len(self.machine.gpus)


def candidates(host: Machine) -> list[Candidate]:
    """Candidates for a host.

    Args:
        host: machine whose processor, RAM and drive stay, as of `card_host`.
    """
    host = card_host(host)
    rows = (row for row in gpu_rows().values() if not row.unified)
    cards = [from_catalog.gpu(row.name) for row in rows]
    several = [
        Candidate(name=card.name, machine=replace(host, name=card.name, gpus=(card,) * count))
        for count in COUNTS
        for card in cards
    ]
    whole = [Candidate(name=name, machine=m, whole=True) for name, m in whole_machines()]
    return [*several, *whole]


def card_host(host: Machine) -> Machine:
    """Machine that takes GPUs: the given one, or a typical desktop for one that takes none."""
    return host if takes_cards(host) else from_spec.machine(MachineSpec())


def takes_cards(machine: Machine) -> bool:
    """Whether several cards can be put into a machine."""
    return not machine.unified and Ownership(form=form_of(machine)).takes_cards


class _Host:
    """Machine as a dictionary key, since records that contain tables have no hash."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._key = repr(machine)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Host) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def fleet_of(host: Machine) -> tuple[list[Candidate], Fleet]:
    """Candidates for a host and their stacks, cached for the next search."""
    return _fleet_of(_Host(host))


@lru_cache(maxsize=4)
def _fleet_of(host: _Host) -> tuple[list[Candidate], Fleet]:
    tried = candidates(host.machine)
    return tried, Fleet([candidate.machine for candidate in tried])
