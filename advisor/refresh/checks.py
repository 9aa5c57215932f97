"""Checks of whole tables: values that contradict each other, a name, siblings or a segment.

They run before a renewal is kept, and in the tests over the package's own tables. A row that fails
is kept out and listed with the reason.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

from advisor.advice.finder.runnable import QualityRow, quality_rows
from advisor.advice.prices.rows import ApiPriceRow, PriceRow, UsualPriceRow
from advisor.catalog.csv_tables import DATA, read
from advisor.errors import AdvisorError
from advisor.machine.rows import GpuRow
from advisor.model.by_name.hub_list import HubRow, RenewedModelRow, counts_weights, is_unpacked
from advisor.model.by_name.known import is_drafting, packed_base
from advisor.model.by_name.listed import Listed, configured, listed, text_parameters
from advisor.model.by_name.names import stated_numbers, take_apart
from advisor.model.model import Described
from advisor.request.money import RateRow, rate_rows


@dataclass(frozen=True, kw_only=True, slots=True)
class Doubt:
    """Row that cannot be right."""

    row: Any  # the row
    why: str  # the reason, in words that name the row


# Models: totals that contradict their sizes or their names, contexts below that of their base.

AGREES = math.log(1.15)
"""Logarithm of how far the weights of files may lie from what a config.json counts: layers that
draft and encoders that no file describes make up to a seventh."""
NAMED = math.log(1.5)
"""Logarithm of how far a total may lie from a name's, which is rounded; where all weights lie
farther, those in use may be meant (E4B)."""
PLAIN = ("BF16-hf", "FP8")  # formats whose files hold a number for each weight


def contradicted_total(described: Described, parameters: int) -> str:
    """Sentence on a config.json whose layers count other weights than its files; empty where they
    agree.
    """
    if not parameters or described.format not in PLAIN:
        return ""
    counted = described.architecture.params + described.architecture.tower
    if abs(math.log(parameters / counted)) <= AGREES:
        return ""
    return (
        f"{described.architecture.name}: its files hold {parameters / 1e9:,.4g} B weights, while "
        f"its config.json describes {counted / 1e9:,.4g} B."
    )


def of_models(rows: Iterable[HubRow | RenewedModelRow]) -> Iterator[Doubt]:
    """Models whose context or number of weights is doubtful.

    The context is shorter than that of the model whose weights they pack, or the weights are not
    those of their files or their name.
    """
    for row in rows:
        why = _shorter_than_base(row) or _of_another_size(row)
        if why:
            yield Doubt(row=row, why=why)


CONTEXT_APART = 1.05
"""How many times a context its base's may be: 128,000 and 131,072 tokens are both called 128k."""


def _shorter_than_base(row: HubRow | RenewedModelRow) -> str:
    """Sentence on a context below that of the base that a model packs; empty for others."""
    base = packed_base(row.name)
    if base is None or base.name == row.name or base.architecture != row.architecture:
        return ""
    alike = (base.layers, base.hidden) == (row.layers, row.hidden)
    if not alike or not 0 < CONTEXT_APART * row.context < base.max_context:
        return ""
    return (
        f"{row.name}: its context of {row.context:,} tokens is below the {base.max_context:,} of "
        f"{base.name}, which it packs"
    )


def _of_another_size(row: HubRow | RenewedModelRow) -> str:
    """Sentence on a model whose sizes contradict its files or its name; empty for others.

    Files decide where they count weights.
    """
    try:
        entry = _described(row)
    except AdvisorError:
        return ""  # refused with the reason where somebody asks for it
    if entry is None or (row.parameters and _agrees(row, entry)):
        return ""
    counted = entry.architecture
    if isinstance(row, HubRow) and is_unpacked(row) and counts_weights(row):
        return (
            f"{row.name}: its files hold {row.parameters / 1e9:,.4g} B weights, its sizes count "
            f"{counted.params / 1e9:,.4g} B"
        )
    if isinstance(row, HubRow) and is_drafting(row):
        return ""  # named by the model that it drafts for
    return contradicted_name(row.name, counted.params, counted.active_params)


def _described(row: HubRow | RenewedModelRow) -> Listed | None:
    """Model as the sizes of a row count it; None where its tensors are counted, or none."""
    if isinstance(row, HubRow):
        return listed(row)
    if row.refused or row.tensors:
        return None
    return configured(row)


def _agrees(row: HubRow | RenewedModelRow, entry: Listed) -> bool:
    """Whether files hold as many weights as sizes count, with an encoder or without."""
    counted = entry.architecture
    totals = [row.parameters - counted.tower]
    if isinstance(row, HubRow):
        totals.append(text_parameters(row, counted))
    return any(total > 0 and abs(math.log(total / counted.params)) <= AGREES for total in totals)


def contradicted_name(name: str, parameters: float, active: float) -> str:
    """Sentence on a model that is far from every size in its name; empty for others.

    A name may state all weights, or those that a token uses.
    """
    sizes = stated_numbers(take_apart(name))
    apart = (abs(math.log(count / size)) for size in sizes for count in (parameters, active))
    if not sizes or not active or min(apart) <= NAMED:
        return ""
    return (
        f"{name}: its name says {max(sizes) / 1e9:,.4g} B weights, its sizes count "
        f"{parameters / 1e9:,.4g} B"
    )


# Prices: far from those of their segment.

FEWEST = 3  # prices from which a segment has a middle
RENT_BELOW = 10.0
RENT_ABOVE = 4.0
"""How far a rent may lie below and above the middle of its card's: of 306 shipped ones, of cards
with four and more, the farthest are an eighth and 2.8 times it."""
SALE_APART = 2.0
"""How far a price for sale may lie from the middle of its card's and condition's: of 28 shipped
ones, of cards with three and more, none is farther."""
SIBLING_DEARER = 1.5
FEWEST_ABOVE = 2
"""How far a price for sale may lie above the middle of the greater card's, and of how many: of 26
shipped ones with a greater card, the dearest is 1.18 times it."""
API_APART = 4.0
"""How far a price of an API may lie from the middle of its model's: of 12 shipped ones, of models
with three and more, the farthest is 0.39 times it."""


def of_rents(rows: Sequence[PriceRow]) -> Iterator[Doubt]:
    """Doubtful rents: far from the middle of their card's rents."""
    yield from _apart(
        rows,
        segment=lambda row: (row.gpu, row.spot),
        amount=lambda row: row.usd / row.gpu_count,
        within=(RENT_BELOW, RENT_ABOVE),
        named=lambda row: f"{row.provider} {row.gpu}",
    )


def of_sales(rows: Sequence[PriceRow]) -> Iterator[Doubt]:
    """Doubtful prices for sale.

    They are half or double those of their card and condition, or those of a card that is dearer
    than the one above it.
    """
    sales = [row for row in rows if row.kind == "purchase"]
    yield from _apart(
        sales,
        segment=lambda row: (row.gpu, row.condition, row.memory_gib),
        amount=lambda row: row.usd / row.gpu_count,
        within=(SALE_APART, SALE_APART),
        named=lambda row: f"{row.provider} {row.gpu} {row.condition}",
    )
    yield from _dearer_than_above(sales)


def _dearer_than_above(sales: Sequence[PriceRow]) -> Iterator[Doubt]:
    """Prices of cards far above the median price of the next greater card."""
    prices: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in sales:
        prices[row.gpu, row.condition].append(row.usd / row.gpu_count)
    above = defaultdict(list)
    for lesser, greater in siblings({row.gpu for row in sales}):
        above[lesser].append(greater)
    for row in sales:
        for greater in above[row.gpu]:
            of_greater = prices.get((greater, row.condition), [])
            amount = row.usd / row.gpu_count
            if len(of_greater) >= FEWEST_ABOVE and amount > SIBLING_DEARER * median(of_greater):
                yield Doubt(
                    row=row,
                    why=f"{row.provider} {row.gpu} {row.condition} at ${amount:,.4g}, where the "
                    f"greater {greater} is ${median(of_greater):,.4g} in the middle",
                )


def of_calls(rows: Sequence[ApiPriceRow]) -> Iterator[Doubt]:
    """Doubtful prices of APIs: far from the middle of their model's prices."""
    yield from _apart(
        rows,
        segment=lambda row: row.model,
        amount=lambda row: row.usd_per_mtok_in + row.usd_per_mtok_out,
        within=(API_APART, API_APART),
        named=lambda row: f"{row.provider} {row.model_id}",
    )


def _apart(
    rows: Iterable[Any],
    *,
    segment: Callable[[Any], Hashable],
    amount: Callable[[Any], float],
    within: tuple[float, float],
    named: Callable[[Any], str],
) -> Iterator[Doubt]:
    """Rows whose amount lies farther below or above the middle of their segment than `within`."""
    segments: dict[Hashable, list[Any]] = defaultdict(list)
    for row in rows:
        segments[segment(row)].append(row)
    below, above = within
    for alike in segments.values():
        if len(alike) < FEWEST:
            continue
        middle = median(map(amount, alike))
        for row in alike:
            if not middle / below <= amount(row) <= middle * above:
                yield Doubt(
                    row=row,
                    why=f"{named(row)} at ${amount(row):,.4g}, where {len(alike)} ask "
                    f"${middle:,.4g} in the middle",
                )


# Scores and rates: without a source, or far from what counted before.

SCORES = (500, 2500)  # least and most points of a board
JUMP = 150  # points by which a score moves at most from one day of its board to another
RATE_APART = 2.0  # how far a rate of a currency moves at most


def of_scores(rows: Sequence[QualityRow]) -> Iterator[Doubt]:
    """Doubtful scores: without their board, impossible, or far from the score in use."""
    known = quality_rows()
    for row in rows:
        before = known.get(row.model)
        why = ""
        if not (row.scale and row.rated_as and row.date and row.source):
            why = f"{row.model}: a score without its board, its name there or its day"
        elif not (SCORES[0] <= row.score <= SCORES[1] and 0 <= row.plus_minus <= JUMP):
            why = f"{row.model}: {row.score:g} +- {row.plus_minus:g} points cannot be"
        elif before is not None and abs(row.score - before.score) > JUMP:
            why = f"{row.model}: {row.score:g} points after {before.score:g}"
        if why:
            yield Doubt(row=row, why=why)


def of_rates(rows: Sequence[RateRow]) -> Iterator[Doubt]:
    """Doubtful exchange rates: half or double the rate in use."""
    known = rate_rows()
    for row in rows:
        before = known.get(row.currency)
        if before and not 1 / RATE_APART <= row.usd / before.usd <= RATE_APART:
            yield Doubt(row=row, why=f"{row.currency} at ${row.usd:g} after ${before.usd:g}")


# Siblings: a card that is faster, larger or dearer than the one above it.

ABOVE = (" SUPER", " Ti", " Ti SUPER", " XT", " XTX")
"""What the name of a greater card of the same number ends with."""
SIZED = re.compile(r"(.+?)( \d+GB)?")
FIELDS = ("bandwidth_gbs", "memory_gib", "fp16_tflops", "fp32_tflops")
SLACK = 1.02  # rounding of datasheets


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownDifference:
    """One row of data/refresh/siblings.csv: a lesser card that is better in one respect, with the
    reason.
    """

    card: str
    greater: str
    field: str
    reason: str


@cache
def known_differences() -> frozenset[tuple[str, str, str]]:
    """Known differences of cards: the card, the greater card, and the field that is lesser."""
    rows = read(DATA / "refresh/siblings.csv", KnownDifference)
    return frozenset((row.card, row.greater, row.field) for row in rows)


def siblings(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a card and the next greater card of the same number."""
    every = frozenset(names)
    for name in sorted(every):
        match = SIZED.fullmatch(name)
        if match is None:
            continue
        for end in ABOVE:
            for greater in (f"{match[1]}{end}{match[2] or ''}", f"{match[1]}{end}"):
                if greater in every:
                    yield name, greater
                    break


def of_cards(rows: Mapping[str, GpuRow]) -> Iterator[Doubt]:
    """Cards that are faster or larger than the one above them."""
    for name, greater in siblings(rows):
        for field in FIELDS:
            lesser = getattr(rows[name], field)
            more = getattr(rows[greater], field)
            known = (name, greater, field) in known_differences()
            if lesser and more and lesser > SLACK * more and not known:
                yield Doubt(
                    row=rows[name], why=f"{name} has {lesser:g} {field}, {greater} {more:g}"
                )


def of_usual_prices(rows: Mapping[tuple[str, str], UsualPriceRow]) -> Iterator[Doubt]:
    """Cards that are dearer than the one above them."""
    for name, greater in siblings(card for card, _ in rows):
        for condition in ("new", "used"):
            lesser = rows.get((name, condition))
            more = rows.get((greater, condition))
            known = (name, greater, "usd") in known_differences()
            if lesser and more and lesser.usd > more.usd and not known:
                yield Doubt(
                    row=lesser,
                    why=f"{name} {condition} at ${lesser.usd:g}, {greater} at ${more.usd:g}",
                )
