"""Owned hardware, and what fits into it.

A laptop, a Mac or a mini PC takes no card inside; one may stand beside it on a cable, but for a
Mac, whose system has no drivers for it. A desktop takes as many as its board, case and power supply
allow, and more with others in their place.
"""

from dataclasses import dataclass
from enum import StrEnum

from advisor.catalog.inputs import OWNERSHIP
from advisor.catalog.limits import check_all
from advisor.errors import InputError
from advisor.machine.catalog import host_rows
from advisor.machine.machine import Gpu, Machine


class Form(StrEnum):
    """Form of a machine."""

    DESKTOP = "desktop"
    LAPTOP = "laptop"
    MAC = "mac"
    MINI = "mini"
    SERVER = "server"


OWN_ROOM = {Form.DESKTOP: 2, Form.LAPTOP: 0, Form.MAC: 0, Form.MINI: 0, Form.SERVER: 8}
"""Cards that the machine is taken to hold as it is; assumed."""
MOST_CARDS = {Form.DESKTOP: 8, Form.LAPTOP: 0, Form.MAC: 0, Form.MINI: 0, Form.SERVER: 8}
"""Cards that it holds with another board, case and power supply."""
BESIDE = (Form.LAPTOP, Form.MINI)
"""Forms that take a single card in a dock on a cable."""
DOCK_LINK = (4, 4)
"""PCI Express generation and lanes of an OCuLink cable; Thunderbolt carries less."""


@dataclass(frozen=True, kw_only=True)
class Ownership:
    """Ownership of the machine.

    Attributes:
        form: form of the machine.
        resale: resale value of its cards, or of a whole machine without cards [USD].
        rented_at: rent [USD/h]; None for an owned machine.

    Raises:
        InputError: an amount outside its limits, or a resale value of a rented machine.
    """

    form: Form = Form.DESKTOP
    resale: float = 0.0
    rented_at: float | None = None

    def __post_init__(self) -> None:
        check_all(OWNERSHIP, vars(self))
        if self.rented_at is not None and self.resale:
            raise InputError(
                f"A machine rented at ${self.rented_at:g} an hour cannot be sold for "
                f"${self.resale:g}; give --rented-at or --resale, not both."
            )

    @property
    def owned(self) -> bool:
        """Whether it is owned, not rented."""
        return self.rented_at is None


def form_of(machine: Machine) -> Form:
    """Form of a machine, derived from the names of its parts."""
    names = " ".join((machine.name, *(gpu.name for gpu in machine.gpus)))
    if any(gpu.vendor == "Apple" for gpu in machine.gpus):
        return Form.MAC
    if "Laptop" in names:
        return Form.LAPTOP
    if machine.unified:
        return Form.MINI
    row = host_rows().get(machine.host.name)
    return Form.SERVER if row is not None and row.segment == "server" else Form.DESKTOP


def in_dock(form: Form) -> bool:
    """Whether a further card must stand beside the machine, in a dock."""
    return form in BESIDE


def room_for(form: Form, cards: int) -> bool:
    """Whether the machine can have a number of cards, with further parts."""
    return cards <= (1 if in_dock(form) else MOST_CARDS[form])


def discrete(machine: Machine) -> tuple[Gpu, ...]:
    """Cards with memory of their own."""
    return tuple(gpu for gpu in machine.gpus if not gpu.unified)
