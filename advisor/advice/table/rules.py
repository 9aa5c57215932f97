"""Rules of an expert on cards in machines, and numbers of people who run them.

A firm rule takes an option from the table. Another says what is odd about it: it may be the
cheapest, never the safe choice.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from advisor.advice.prices.power import HostPartRow, powered, workstation_watts
from advisor.catalog.csv_tables import DATA, read
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Form, Gpu, Machine
from advisor.units import memory

LLAMA_CPP = "llama.cpp"
DOCK = "dock"
MANY = 25
MANY_OF_MAKER = 10
"""Publishers of a family of cards from which many run it, a quarter of the most of any family
(data/measurements/what_many_run.csv); fewer where one's cards are of that maker, since drivers and
engines stay."""
SEVERAL = 2
"""Publishers of a family in an engine from which the engine's speed there counts: few figures of
other engines on a maker's cards say little of the next card."""
FEW_RUN = "Few run it"  # beginning of the oddity of a card that few run in llama.cpp
UNLIKE = "Unlike cards: engines that serve many share each layer out evenly, as to the smallest."
"""Oddity of a machine for several users; "a TP group is only as large as its smallest GPU"
(https://github.com/vllm-project/vllm/pull/50735, 2026-08-02)."""
SLOWER = 1.5
"""Factor between rates of memory from which people notice that another card writes slower."""
SAME_MEMORY = 0.95
"""Share of a memory from which another is as large: cards of 12 GB report 11.6 to 12.0 GiB."""
LARGEST_SUPPLY = 1600.0
"""Largest supply of a PC [W]; beyond it stand two, often on a circuit of their own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CardRule:
    """One row of data/hardware/card_rules.csv."""

    rule: str  # name of the rule
    form: str  # forms of machine that it is for, separated by semicolons; empty for any
    host: str  # pattern in the processor's name in lower case; empty for any
    vendor: str  # maker of the card; empty for any
    card: str  # pattern at the start of the card's name; empty for any
    families: str  # families of cards; empty for any
    least_cards: int  # fewest cards in all
    watts_over: float | None  # power of the card above which it strikes [W]; None for any
    first: bool  # whether it is for a machine that has no card yet
    half_height: bool  # whether it strikes cards alone of which none of half height is on record
    firm: bool  # whether it rules the option out; else it says what is odd
    sentence: str  # what strikes
    source: str  # page
    source_date: str  # its date

    def strikes(self, case: "Installed", *, first: bool = False) -> bool:
        """Whether the rule rules out a card in a machine, also as its first card."""
        in_form = not self.form or case.form in self.form.split(";")
        of_family = not self.families or case.family in self.families.split(";")
        enough_cards = case.cards >= self.least_cards and (first or not self.first)
        enough_watts = self.watts_over is None or case.watts > self.watts_over
        if not (in_form and of_family and enough_cards and enough_watts):
            return False
        if self.half_height and case.card in half_height():
            return False
        return (
            self.vendor in ("", case.vendor)
            and re.search(self.host, case.host.casefold()) is not None
            and re.match(self.card, case.card) is not None
        )


class Installed(NamedTuple):
    """Names that a rule reads; a rule judges equal names once."""

    form: Form  # form of the machine
    host: str  # name of its processor
    cards: int  # number of its cards
    card: str  # name of the card that is bought
    vendor: str  # its maker
    family: str  # its family
    watts: float  # its power [W]
    whole: bool  # it is a part of the machine, which is sold whole


def installed(form: Form, machine: Machine, card: Gpu) -> Installed:
    """Names that a rule reads of a card in a machine."""
    return Installed(
        form,
        machine.host.name,
        len(machine.gpus),
        card.name,
        card.vendor,
        card.family,
        card.board_power or 0.0,
        card.unified,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class HalfHeightRow:
    """One row of data/hardware/half_height_cards.csv: a card that is made in half height."""

    gpu: str  # its name
    source: str  # page that says so
    source_date: str  # day on which it was read


@cache
def half_height() -> frozenset[str]:
    """Names of cards of half height, which slim office PCs take."""
    rows = read(DATA / "hardware/half_height_cards.csv", HalfHeightRow)
    return frozenset(row.gpu for row in rows)


@cache
def card_rules() -> tuple[CardRule, ...]:
    """Rules of the table."""
    return read(DATA / "hardware/card_rules.csv", CardRule)


@dataclass(frozen=True, kw_only=True, slots=True)
class ManyRunRow:
    """One row of data/measurements/what_many_run.csv: publishers of a card's figures, by engine."""

    gpu: str
    runtime: str
    publishers: int
    rows: int
    newest: str


@cache
def publishers() -> Mapping[tuple[str, str, str], int]:
    """Number of publishers, by maker, family of cards and engine."""
    counted: Counter[tuple[str, str, str]] = Counter()
    for row in read(DATA / "measurements/what_many_run.csv", ManyRunRow):
        card = GPUS.rows()[row.gpu]
        counted[card.vendor, card.family, row.runtime] += row.publishers
    return counted


def run_by(vendor: str, family: str, engine: str = LLAMA_CPP) -> int:
    """Number of publishers of a family's figures in an engine."""
    return publishers().get((vendor, family, engine), 0)


def counts_in(machine: Machine, engine: str) -> bool:
    """Whether an engine has enough published figures on a machine's cards for its speed to
    count.
    """
    return engine == LLAMA_CPP or all(
        run_by(gpu.vendor, gpu.family, engine) >= SEVERAL for gpu in machine.gpus
    )


SUPPLY = "office supply"  # rule of supplies that cannot power a card
KIT = "developer kit"  # rule of bare boards that are no computers for a desk


def unpowered(odd: Iterable[str]) -> bool:
    """Whether a purchase is odd because the machine's supply cannot power it."""
    sentences = tuple(odd)
    return _names(sentences, SUPPLY) or any(each.startswith(OWN_SUPPLY) for each in sentences)


def is_kit(odd: Iterable[str]) -> bool:
    """Whether a purchase is odd because it is a developer's board."""
    return _names(odd, KIT)


def _names(odd: Iterable[str], rule: str) -> bool:
    """Whether a rule is among what is odd."""
    sentences = set(odd)
    return any(row.sentence in sentences for row in card_rules() if row.rule == rule)


def of_makers(sentence: str) -> bool:
    """Whether a sentence of doubt is about the maker of the card alone."""
    return sentence.startswith((ANOTHER_MAKER, FEW_RUN))


def ruled_out(case: Installed) -> str:
    """Sentence of the first firm rule that strikes a card in a machine; empty for none."""
    if case.whole:
        return ""
    return next(iter(_struck(case, firm=True)), "")


@lru_cache(maxsize=8192)
def _struck(case: Installed, *, firm: bool, first: bool = False) -> tuple[str, ...]:
    """Sentences of the rules that strike, the firm ones or the others."""
    rows = (row for row in card_rules() if row.firm is firm)
    return tuple(row.sentence for row in rows if row.strikes(case, first=first))


def oddities(
    form: Form,
    machine: Machine,
    cards: tuple[Gpu, ...],
    parts: tuple[HostPartRow, ...],
    *,
    before: tuple[Gpu, ...],
    built_anew: bool,
    takes_docks: bool = False,
    users: float = 1.0,
    maker: str = "",
) -> Iterator[str]:
    """Sentences of an expert's doubts about buying or renting cards for some users.

    Parts of a machine that is built anew are no change; where its kind has a port for a dock, a
    dock raises no doubt. `maker` is that of the present GPU, also of one inside a processor.
    """
    had = () if built_anew else before
    first = not (before or built_anew)
    for card in {card.name: card for card in cards}.values():
        if not card.unified:
            yield from _of_makers(card, had, maker)
        yield from _struck(installed(form, machine, card), firm=False, first=first)
    if users > 1 and any(gpu.name != machine.gpus[0].name for gpu in machine.gpus):
        yield UNLIKE
    if had and machine.gpus[: len(had)] != had and _slower(cards, had):
        yield _reads_slower(had)
    if _memory(machine.gpus) < SAME_MEMORY * _memory(had):
        yield _less_memory(machine.gpus, had)
    yield from _of_parts(parts, built_anew=built_anew, takes_docks=takes_docks)
    if not built_anew:
        yield from _of_own_supply(machine, before)


OWN_SUPPLY = "Its maker's own power supply"  # beginning of what is odd about a machine's supply


def _of_own_supply(machine: Machine, before: tuple[Gpu, ...]) -> Iterator[str]:
    """What the supply of a workstation does not power, as no usual one takes its place."""
    if machine.supply is None or not machine.supply.proprietary:
        return
    has = machine.supply.watts
    sockets = machine.host.sockets
    needs = workstation_watts(machine.discrete, sockets)
    if needs <= max(has or powered(before), workstation_watts(before, sockets)):
        return
    if has:
        yield f"{OWN_SUPPLY} gives {has:,.0f} W, {needs:,.0f} W are needed, and no usual one fits."
    else:
        yield f"{OWN_SUPPLY} must give {needs:,.0f} W: look it up, as no usual one fits."


def lesser(cards: tuple[Gpu, ...], had: tuple[Gpu, ...]) -> tuple[str, ...]:
    """Sentences of doubt about cards that are slower or smaller than the cards that they replace.

    They are no reason against cards that replace a dear card which is sold for them.
    """
    return _reads_slower(had), _less_memory(cards, had)


def many_run(cards: Iterable[Gpu], had: Sequence[Gpu]) -> bool:
    """Whether many people run cards like the bought ones in place of the present ones."""
    return not any(sentence for card in cards for sentence in _of_makers(card, tuple(had)))


def _slower(cards: Iterable[Gpu], had: Sequence[Gpu]) -> bool:
    """Whether each of some cards reads its memory notably slower than the first that one has."""
    most = float(had[0].bandwidth.value)
    return all(SLOWER * float(card.bandwidth.value) < most for card in cards)


def _reads_slower(had: Sequence[Gpu]) -> str:
    return f"It reads its memory slower than {had[0].name}: what fits that runs slower on it."


def _less_memory(cards: Iterable[Gpu], had: Iterable[Gpu]) -> str:
    return (
        f"It has less memory than what you have, {memory(_memory(cards))} for "
        f"{memory(_memory(had))}: larger models and longer contexts no longer fit."
    )


def _memory(cards: Iterable[Gpu]) -> float:
    """Memory of cards together [B]."""
    return sum(float(card.memory.value) for card in cards)


ANOTHER_MAKER = "Another maker's card"
FEW_RUN = "Few run it"
"""Beginnings of what is odd about a card's maker."""


def _of_makers(card: Gpu, had: tuple[Gpu, ...], maker: str = "") -> Iterator[str]:
    """Another maker's card, or one that few run."""
    same = card.vendor == (had[0].vendor if had else maker)
    if had and not same:
        yield f"{ANOTHER_MAKER}: drivers and engines change with {had[0].vendor}'s."
    count = run_by(card.vendor, card.family)
    if count < (MANY_OF_MAKER if same else MANY):
        if count != 1:
            few = f"{count} publishers have"
        else:
            few = "one publisher has"
        yield f"{FEW_RUN}: {few} figures of {card.vendor}'s {card.family} in llama.cpp."


def _of_parts(
    parts: tuple[HostPartRow, ...], *, built_anew: bool, takes_docks: bool
) -> Iterator[str]:
    """Parts that change more than a card does."""
    supplies = [part for part in parts if part.part == "psu"]
    if len(supplies) > 1 or any(part.size > LARGEST_SUPPLY for part in supplies):
        yield "It takes two power supplies, often on a circuit of their own."
    if any(part.part == DOCK for part in parts) and not takes_docks:
        yield "It stands in a dock, which wants OCuLink or Thunderbolt and gives it four lanes."
    changed = [part for part in parts if part.part in ("board", "case", "riser")]
    if changed and not built_anew:
        yield f"Your machine needs more than the card: {changed[0].name.casefold()}."
