"""Candidate: a purchase that a person names in a question ("is a 3090 worth it?")."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from advisor.advice.prices.power import desktop_parts, parts_for
from advisor.advice.table import timed_machines
from advisor.advice.table.choice import BOUGHT, worth_buying
from advisor.advice.table.option import Option, OptionKind, Question, by_comparison
from advisor.advice.table.options import machine_speed, odd_about, purchase, refusal
from advisor.advice.table.permitted import why_not_permitted
from advisor.advice.table.thought import without_thinking
from advisor.errors import InputError, UnknownName
from advisor.formatting import counted
from advisor.machine import from_spec
from advisor.machine.machine import Gpu, Machine
from advisor.machine.spec import MachineSpec
from advisor.request.money import discrete, in_dock, room_for, slots
from advisor.request.wants import Wants

MOST = 5  # candidates of a request, each of which is timed
UNKNOWN = (
    "no card and no machine on sale is called that; names are such as RTX 3090, 2x RTX 5060 Ti "
    "16GB, DGX Spark."
)


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
    """Candidates by their names, beside the present machine and its best free setting.

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
    rows = [option for option in options[1:] if _is_it(option, name, cards)]
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


def _is_it(option: Option, name: str, cards: Sequence[Gpu]) -> bool:
    """Whether an option buys or rents what a name says."""
    if option.kind not in (*BOUGHT, OptionKind.RENT):
        return False
    bought = [card.name for card in option.bought]
    wanted = [card.name for card in cards]
    if not cards:
        return option.kind is OptionKind.MACHINE and name.casefold() in option.name.casefold()
    if option.kind is OptionKind.RENT:
        return set(bought) == set(wanted)
    return bought == wanted


def _made(question: Question, cards: tuple[Gpu, ...]) -> Iterator[Option]:
    """Cards in place of those owned, beside them, or in a new desktop where none goes in."""
    ownership = question.ownership
    host = question.machine
    present = discrete(host)
    name = counted(len(cards), cards[0].name)
    inside = ownership.owned and not host.unified and room_for(ownership.form, 1)
    if not inside:
        desktop = replace(timed_machines.cardless(), gpus=cards)
        title = f"New desktop with {name}"
        yield from _timed(question, OptionKind.MACHINE, title, desktop, cards)
        return
    if present and not in_dock(ownership.form) and cards != present:
        yield from _timed(question, OptionKind.REPLACE, name, replace(host, gpus=cards), cards)
    beside = _beside(question, present, cards)
    if beside is not None:
        title = f"{name} in a dock" if in_dock(ownership.form) else name
        yield from _timed(question, OptionKind.ADD, title, beside, cards)


def _beside(question: Question, present: tuple[Gpu, ...], cards: tuple[Gpu, ...]) -> Machine | None:
    """The present machine with further cards; None where it has no room for them."""
    form = question.ownership.form
    dock = in_dock(form)
    count = len(cards) if dock else len(present) + len(cards)
    if not room_for(form, count):
        return None
    added = tuple(map(timed_machines.docked, cards)) if dock else cards
    return replace(question.machine, gpus=Gpu.fastest_first((*present, *added)))


def _timed(
    question: Question, kind: OptionKind, name: str, machine: Machine, cards: tuple[Gpu, ...]
) -> Iterator[Option]:
    """A purchase with its speed, where the machine with it runs the model."""
    speed = machine_speed(replace(question, machine=machine))
    if speed is None:
        return
    if kind is OptionKind.MACHINE:
        parts = desktop_parts(cards)
    else:
        present = question.machine.gpus
        parts = parts_for(question.ownership.form, present, machine.gpus, slots(machine))
    yield purchase(question, kind, name, machine, cards, parts, speed)


def _judged(candidate: Candidate, kept: Option, wants: Wants, step: Option | None) -> Candidate:
    """A candidate with whether people would buy it."""
    best = candidate.best
    if best is None:
        return candidate
    if why := why_not_permitted(best, wants):
        return replace(candidate, refusal=why)
    rows = [replace(kept, kept=None), replace(best, kept=kept)]
    worth = _is_worth(rows, step)
    if not (wants.may_stop_thinking and kept.use.money.thinking_tokens):
        return replace(candidate, worth=worth)
    silent = without_thinking(rows)
    free = None if step is None else without_thinking([step])[0]
    return replace(candidate, worth=worth, worth_without=_is_worth(silent, free), silent=silent[1])


def _is_worth(rows: Sequence[Option], step: Option | None) -> bool:
    """Whether people would buy the second of two options beside the first."""
    money = rows[0].use.money
    return bool(worth_buying(rows, money.reading_tps, money.replies_per_day, step))
