"""Candidate: a purchase that a person names in a question ("is a 3090 worth it?")."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from advisor.advice.prices.power import HostPartRow, desktop_parts, parts_for
from advisor.advice.prices.price import machines_called
from advisor.advice.table import timed_machines
from advisor.advice.table.choice import BOUGHT, worth_buying
from advisor.advice.table.option import NEW_DESKTOP, Option, OptionKind, Question, by_comparison
from advisor.advice.table.options import (
    cost_of_keeping,
    has_lapsed,
    machine_speed,
    odd_about,
    purchase,
    ram_price,
    refusal,
)
from advisor.advice.table.permitted import why_not_permitted
from advisor.advice.table.thought import without_thinking
from advisor.errors import InputError, UnknownName
from advisor.formatting import counted
from advisor.machine import from_spec
from advisor.machine.identify import machine_by_name
from advisor.machine.machine import Gpu, Machine
from advisor.machine.spec import MachineSpec
from advisor.request.money import in_dock, room_for, slots
from advisor.request.wants import Wants
from advisor.units import GIB

MOST = 5  # candidates of a request, each of which is timed
UNKNOWN = (
    "no card and no machine on sale is called that; names are such as RTX 3090, 2x RTX 5060 Ti "
    "16GB, DGX Spark, 64 GB of RAM."
)
OF_RAM = re.compile(
    r"(\+|another )?\s*(\d+) ?gb (more )?(?:of )?(?:ram|memory|ddr\d)( more)?", re.I
)
"""Name of RAM: "64 GB of RAM" in all, "+32 GB RAM" or "32 GB more RAM" beside what there is."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Purchase that a person names in a question."""

    name: str  # as it was typed
    options: tuple[Option, ...]  # in place of what is owned, added to it, in a new machine, rented
    refusal: str = ""  # why an expert rules it out, or why the request does; empty for none
    worth: bool = False  # whether people would buy it, thinking as the model does by itself
    # the same without thinking, where the model can stop; None where it cannot
    worth_without: bool | None = None
    silent: Option | None = None  # its best purchase without thinking; None likewise
    # waiting of a month that it saves beside the best free setting, without thinking where that
    # may be off [h]; None where it is not known
    saves: float | None = None

    @property
    def best(self) -> Option | None:
        """Purchase that is best by cost and waiting; None where it cannot be bought."""
        bought = [option for option in self.options if option.kind is not OptionKind.RENT]
        return min(bought, key=lambda each: (bool(each.odd), *by_comparison(each)), default=None)


def candidates(
    names: Iterable[str],
    question: Question,
    options: Sequence[Option],
    wants: Wants,
    step: Option | None,
) -> tuple[Candidate, ...]:
    """Purchases of some names, compared with the present machine at its best free setting.

    Raises:
        InputError: more names than are judged.
    """
    typed = [name for name in names if name.strip()]
    if len(typed) > MOST:
        raise InputError(
            f"--also names {len(typed)} purchases; at most {MOST} are judged. Leave some out."
        )
    return tuple(_candidate(name, question, options, wants, step) for name in typed)


def _candidate(
    name: str, question: Question, options: Sequence[Option], wants: Wants, step: Option | None
) -> Candidate:
    cards = _cards(name)
    machines = () if cards else tuple(machines_called(name))
    rows = [option for option in options[1:] if _is_it(option, machines, cards)]
    if not rows and not cards:
        rows = [replace(option, kept=options[0]) for option in _of_other_names(question, name)]
    if cards and not any(option.kind is not OptionKind.RENT for option in rows):
        rows += [replace(option, kept=options[0]) for option in _made(question, cards)]
    if not rows:
        return Candidate(name=name, options=(), refusal="" if cards else UNKNOWN)
    refused = [refusal(question, option) for option in rows]
    allowed = [option for option, why in zip(rows, refused, strict=True) if not why]
    candidate = Candidate(
        name=name,
        options=tuple(sorted(_with_oddities(question, allowed), key=_order)),
        refusal=next(filter(None, refused), ""),
    )
    if candidate.best is None:
        return candidate
    return _judged(replace(candidate, refusal=""), options[0], wants, step)


def _with_oddities(question: Question, rows: Iterable[Option]) -> list[Option]:
    """Options with what is odd about them."""
    return [replace(option, odd=odd_about(question, option)) for option in rows]


def _order(option: Option) -> tuple[int, float, float]:
    """Sort key: by kind as they are listed, then by cost."""
    _, compared, monthly = by_comparison(option)
    return list(OptionKind).index(option.kind), compared, monthly


def _cards(name: str) -> tuple[Gpu, ...]:
    """Cards of a name; none where it is one of a machine."""
    with suppress(InputError, UnknownName):
        machine = from_spec.machine(MachineSpec(gpu=name))
        if not machine.unified and name.strip().casefold() != MachineSpec.NO_GPU:
            return machine.gpus
    return ()


def _of_other_names(question: Question, name: str) -> Iterator[Option]:
    """RAM of a size, and a whole machine that nobody sells now, or that a limit rules out, by its
    name.
    """
    ram = OF_RAM.fullmatch(name.strip())
    if ram is not None:
        yield from _ram(question, ram)
        return
    sold = [called for called in machines_called(name) if not has_lapsed(question, called)]
    for called in sold:
        machine = timed_machines.whole_machines()[called]
        yield from _timed(question, OptionKind.MACHINE, called, machine, machine.gpus, whole=True)
    if sold:
        return
    with suppress(InputError, UnknownName):
        machine = machine_by_name(name)
        if machine.unified and not machine.rented:
            yield from _timed(question, OptionKind.MACHINE, name, machine, machine.gpus, whole=True)


def _ram(question: Question, named: re.Match[str]) -> Iterator[Option]:
    """More RAM in the present machine; nothing for a machine whose memory is soldered to it."""
    machine = question.machine
    present = float(machine.host.memory.value)
    more = any(named.group(part) for part in (1, 3, 4))
    size = float(named.group(2)) * GIB + (present if more else 0.0)
    if not question.ownership.owned or machine.unified or size <= present:
        return
    host = replace(machine.host, memory=replace(machine.host.memory, value=size))
    roomier = replace(machine, host=host)
    speed = machine_speed(replace(question, machine=roomier))
    if speed is None:
        return
    price = ram_price(question, size)
    cost = replace(
        cost_of_keeping(question, speed), purchase=float(question.use.spread(price.usd or 0.0))
    )
    name = f"{size / GIB:,.0f} GB of RAM"
    yield question.option(OptionKind.CHANGE, name, speed, cost, price, machine=roomier)


def _is_it(option: Option, machines: Sequence[str], cards: Sequence[Gpu]) -> bool:
    """Whether an option buys or rents some cards, or one of some machines."""
    if option.kind not in (*BOUGHT, OptionKind.RENT):
        return False
    bought = [card.name for card in option.bought]
    wanted = [card.name for card in cards]
    if not cards:
        return option.kind is OptionKind.MACHINE and option.name in machines
    if option.kind is OptionKind.RENT:
        return set(bought) == set(wanted)
    return bought == wanted


def _made(question: Question, cards: tuple[Gpu, ...]) -> Iterator[Option]:
    """Cards in place of those owned, beside them, or in a new desktop where none goes in."""
    ownership = question.ownership
    host = question.machine
    present = host.discrete
    name = counted(len(cards), cards[0].name)
    inside = ownership.owned and not host.unified and room_for(ownership.form, 1)
    if not inside:
        desktop = replace(timed_machines.cardless(), gpus=cards)
        title = f"{NEW_DESKTOP}{name}"
        yield from _timed(question, OptionKind.MACHINE, title, desktop, cards)
        return
    if present and not in_dock(ownership.form) and cards != present:
        yield from _timed(question, OptionKind.REPLACE, name, replace(host, gpus=cards), cards)
    beside = _beside(question, present, cards)
    if beside is not None:
        title = f"{name} in a dock" if in_dock(ownership.form) else name
        yield from _timed(question, OptionKind.ADD, title, beside, cards)


def _beside(question: Question, present: tuple[Gpu, ...], cards: tuple[Gpu, ...]) -> Machine | None:
    """Present machine with further cards; None where it has no room for them."""
    form = question.ownership.form
    dock = in_dock(form)
    count = len(cards) if dock else len(present) + len(cards)
    if not room_for(form, count):
        return None
    added = tuple(map(timed_machines.docked, cards)) if dock else cards
    return replace(question.machine, gpus=Gpu.fastest_first((*present, *added)))


def _timed(
    question: Question,
    kind: OptionKind,
    name: str,
    machine: Machine,
    cards: tuple[Gpu, ...],
    *,
    whole: bool = False,
) -> Iterator[Option]:
    """Purchase with its speed, where the machine with it runs the model; a machine may be sold
    whole.
    """
    speed = machine_speed(replace(question, machine=machine))
    if speed is None:
        return
    parts: tuple[HostPartRow, ...] = ()
    if kind is OptionKind.MACHINE:
        parts = () if whole else desktop_parts(cards)
    else:
        present = question.machine.gpus
        parts = parts_for(
            question.ownership.form, present, machine.gpus, slots(machine), machine.supply
        )
    yield purchase(question, kind, name, machine, cards, parts, speed)


def _judged(candidate: Candidate, kept: Option, wants: Wants, step: Option | None) -> Candidate:
    """Candidate with whether people would buy it."""
    best = candidate.best
    if best is None:
        return candidate
    rows = [replace(kept, kept=None), replace(best, kept=kept)]
    if why := why_not_permitted(best, wants):
        return replace(candidate, refusal=why, saves=_saved(rows, step))
    worth = _is_worth(rows, step)
    if not (wants.may_stop_thinking and kept.use.money.thinking_tokens):
        return replace(candidate, worth=worth, saves=_saved(rows, step))
    silent = without_thinking(rows)
    free = None if step is None else without_thinking([step])[0]
    return replace(
        candidate,
        worth=worth,
        worth_without=_is_worth(silent, free),
        silent=silent[1],
        saves=_saved(silent, free),
    )


def _saved(rows: Sequence[Option], step: Option | None) -> float | None:
    """Waiting in a month that a candidate saves, compared with the present machine at its best free
    setting [h].
    """
    return replace(rows[1], kept=step or rows[0]).hours_saved


def _is_worth(rows: Sequence[Option], step: Option | None) -> bool:
    """Whether people would buy the second of two options beside the first."""
    money = rows[0].use.money
    return bool(worth_buying(rows, money.reading_tps, money.replies_per_day, step))
