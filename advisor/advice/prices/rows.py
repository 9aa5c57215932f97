"""Rows of the price tables, shipped and fetched: GPUs, whole machines, rents and APIs, with dates.

data/prices has them; data/hardware/machines.csv has prices beside the parts. Prices that a person
fetched (`catalog.renewed`) have the same columns and take precedence over shipped ones. Age counts
from the date in the source: a day, a month or a year, the latter two from their end, so that a
price is called old only if it surely is.
"""

import calendar
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache

from advisor.catalog import renewed
from advisor.catalog.csv_tables import DATA, read, texts
from advisor.machine.catalog import GPUS, MACHINES
from advisor.machine.rows import MachineRow
from advisor.model.by_name.names import take_apart
from advisor.model.model import Model

STALE_DAYS = 90  # age above which a price is called old, also in a verdict [days]
LAPSED_DAYS = 365
"""Age above which a price takes part in no advice [days]: memory cost four times as much after a
year, used cards a quarter more after seven months (data/prices/usual_prices.csv)."""
_ISO = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")


@lru_cache(maxsize=1024)
def last_day(when: str) -> date | None:
    """Last day of an ISO day, month or year; None for other text."""
    match = _ISO.fullmatch(when.strip())
    if match is None:
        return None
    year = int(match[1])
    month = int(match[2] or 12)
    if not 1 <= month <= 12:
        return None
    end = calendar.monthrange(year, month)[1]
    return date(year, month, min(int(match[3] or end), end) or end)


def is_stale(when: str, today: date) -> bool:
    """Whether the price is older than `STALE_DAYS`; one without a date counts as old."""
    day = last_day(when)
    return day is None or (today - day).days > STALE_DAYS


def is_lapsed(row: "PriceRow | None", today: date) -> bool:
    """Whether a price is older than `LAPSED_DAYS`; false for a price without a date."""
    day = last_day(row.date) if row is not None else None
    return day is not None and (today - day).days > LAPSED_DAYS


def oldest(dates: tuple[str, ...]) -> str:
    """Earliest of several dates; empty where a date is missing."""
    days = [last_day(when) for when in dates]
    if not dates or None in days:
        return ""
    return min(dates, key=lambda when: last_day(when) or date.max)


# Renewed tables of rented machines, of APIs and of what is for sale (`refresh`).
RENTS = "rents"
CALLS = "apis"
SALES = "prices"


@cache
def provider_key(provider: str) -> str:
    """Name of a provider in a common spelling: "Vast.ai" and "vastai" are equal."""
    name = re.sub(r"\W", "", provider.split(" (")[0].casefold())
    return {"amazonwebservices": "aws", "lambdalabs": "lambda", "oraclecloud": "oci"}.get(
        name, name
    )


LAUNCH = "launch MSRP"  # seller of rows with a maker's list price at launch
STREET = "street"
"""Beginning of the seller of rows with a low or high price of shops; `instance` names them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PriceRow:
    """One row of data/prices/prices.csv: `usd` for `gpu_count` GPUs, per hour or once.

    `memory_gib` is given where a chip is sold with several sizes of memory and the price is for one
    of them. The condition is new, used, either ("used or new"), or listed by the maker ("list").
    """

    gpu: str
    kind: str
    provider: str
    instance: str
    condition: str
    gpu_count: int
    memory_gib: float | None
    usd: float
    currency: str
    per: str
    spot: bool
    date: str
    retrieved: str
    source: str


def rows_for_sale(gpu: str) -> tuple[PriceRow, ...]:
    """Purchase prices of a GPU, without high prices of shops.

    Of a chip with several sizes of memory they are those of the smallest.
    """
    every = (row for row in price_rows() if row.gpu == gpu and row.kind == "purchase")
    rows = [row for row in every if not row.provider.endswith("high")]
    smallest = min((row.memory_gib for row in rows if row.memory_gib), default=None)
    return tuple(row for row in rows if row.memory_gib == smallest)


def standing(row: PriceRow) -> tuple[bool, date, float]:
    """Key that sorts purchase prices; the price with the largest key is used.

    Prices of shops come before a maker's at launch, newer before older, and of one day the lowest.
    """
    return row.provider != LAUNCH, last_day(row.date) or date.min, -row.usd / row.gpu_count


@cache
def price_rows() -> tuple[PriceRow, ...]:
    """Rents and purchase prices; fetched purchase prices are among them."""
    return (*renewed.rows(SALES, PriceRow), *read(DATA / "prices/prices.csv", PriceRow))


def skypilot_names() -> Mapping[str, str]:
    """Names of GPUs among SkyPilot's accelerators, by the name in the catalogue.

    A semicolon separates names that clouds use for the same card.
    """
    return texts("prices/skypilot_gpus.csv", "gpu", "accelerators")


OF_A_SIBLING = "of a lesser card, without figures of its own"
"""Said of a price at least as high as that of a lesser card of the same family."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UsualPriceRow:
    """One row of data/prices/usual_prices.csv: usual cost of a card in one condition, with its
    range.

    Three cheapest offers count 1.15 times, deals 1.12, what was sold or tracked as it is; weights
    by kind of figure are halved every 60 days; older figures follow their segment's index; siblings
    of a family stand in their order (pooled where figures do not).
    """

    gpu: str
    condition: str  # new or used
    usd: float
    low: float
    high: float
    figures: int
    note: str
    date: str  # of the newest figure
    retrieved: str
    source: str  # of the newest figure

    @property
    def _figures(self) -> str:
        """Number of its figures, in words; empty for a single one."""
        if self.figures == 0:
            return OF_A_SIBLING
        if self.figures > 1:
            return f"of {self.figures} figures"
        return ""

    @property
    def as_price(self) -> PriceRow:
        """Row in the form of data/prices/prices.csv."""
        return PriceRow(
            gpu=self.gpu,
            kind="purchase",
            provider="usual price",
            instance=self._figures,
            condition=self.condition,
            gpu_count=1,
            memory_gib=None,
            usd=self.usd,
            currency="USD",
            per="once",
            spot=False,
            date=self.date,
            retrieved=self.retrieved,
            source=self.source,
        )


@cache
def usual_prices() -> Mapping[tuple[str, str], UsualPriceRow]:
    """Usual prices by card and condition."""
    rows = read(DATA / "prices/usual_prices.csv", UsualPriceRow)
    return {(row.gpu, row.condition): row for row in rows}


def usual_range(row: PriceRow) -> tuple[float | None, float | None]:
    """Ends of the range of a usual price [USD]; None for other prices."""
    usual = usual_prices().get((row.gpu, row.condition))
    if usual is None or row.provider != usual.as_price.provider:
        return None, None
    return usual.low, usual.high


def usual_price(gpu: str, condition: str = "") -> PriceRow | None:
    """Usual price of a card in a condition; without one new where it is sold new and is no older
    than `SOLD_NEW_YEARS`, used for others.

    None without figures.
    """
    new = usual_prices().get((gpu, "new"))
    used = usual_prices().get((gpu, "used"))
    if condition:
        row = usual_prices().get((gpu, condition))
    elif used is not None and _is_out_of_production(used):
        row = used
    else:
        row = new or used
    if row is None:
        return None
    return row.as_price


SOLD_NEW_YEARS = 4.0
"""Age of a card from which new ones are what shops have left over, and people buy used ones: an RTX
3060 12GB, of January 2021, costs $470 new and $220 used (data/prices/usual_prices.csv); a series is
made for two years, and its maker's warranty lasts three [years]."""


def _is_out_of_production(row: UsualPriceRow) -> bool:
    """Whether a card was older than `SOLD_NEW_YEARS` when its price was seen."""
    released = last_day(GPUS.find(row.gpu).released)
    seen = last_day(row.date)
    if released is None or seen is None:
        return False
    return (seen - released).days > SOLD_NEW_YEARS * DAYS_PER_YEAR


DAYS_PER_YEAR = 365.25


REASONS = {
    "laptop": "sold only within laptops",
    "processor": "part of a processor",
    "mac": "sold only within Macs, none of which has a dated price",
    "computer": "sold only within whole computers",
    "device": "sold only to makers of devices",
    "server": "sold only within servers",
    "cloud": "only for rent",
    "modified": "rebuilt by third parties, without a dated price",
    "page": "no dated page has one",
}
"""Sentence part of each reason."""
NO_PRICE = "no price on record"


def no_price(gpu: str) -> str:
    """Remark on a GPU without a price, with the reason where it is known."""
    reason = texts("prices/without_price.csv", "gpu", "reason").get(gpu)
    if reason:
        return f"{NO_PRICE}: {REASONS[reason]}"
    if rows_for_sale(gpu):
        return "no price of the last year on record"
    return NO_PRICE


AT_LAUNCH = 6
"""A price this many months from a chip's release is taken as the launch price: Macs come with a
chip for months after its first one."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineForSale:
    """Machine sold whole."""

    name: str  # common name, with its memory
    price: PriceRow  # price row of its chip
    preset: MachineRow | None = None  # of data/hardware/machines.csv, where it is there


@cache
def machines_for_sale() -> Mapping[str, MachineForSale]:
    """Machines with unified memory for sale, by name, with the newer price of the two tables."""
    presets = [
        MachineForSale(name=_sized(row), price=_price_of(row), preset=row)
        for row in MACHINES.rows().values()
        if row.per == "once" and row.usd and GPUS.find(row.gpu).unified
    ]
    # Machines of prices.csv are named as their seller lists them.
    listed = [
        MachineForSale(
            name=f"{row.instance.removesuffix(', whole machine').removesuffix(', without storage')}"
            f" ({row.gpu})",
            price=row,
        )
        for row in price_rows()
        if row.kind == "purchase"
        and not row.provider.endswith("high")
        and GPUS.find(row.gpu).unified
    ]
    machines: dict[tuple[str, float | None, str], MachineForSale] = {}
    for machine in (*listed, *presets):
        key = (machine.price.gpu, machine.price.memory_gib, machine.name.split()[0])
        before = machines.get(key)
        if before is None or standing(machine.price) > standing(before.price):
            machines[key] = machine
    return {machine.name: machine for machine in machines.values()}


def _sized(row: MachineRow) -> str:
    size = f"{row.ram_gib:g}"
    named = f"{size}GB" in row.name.replace(" ", "") or row.ram_gib is None
    if named:
        return row.name
    return f"{row.name}, {size} GB"


def _price_of(row: MachineRow) -> PriceRow:
    """Price of a preset, dated where it stands on the page of the parts."""
    if row.source == row.price_source:
        date = row.source_date
    else:
        date = ""
    per_hour = row.per == "hour"
    released = last_day(GPUS.find(row.gpu).released)
    dated = last_day(date)
    launch = False
    if released is not None and dated is not None and not per_hour:
        months = 12 * (dated.year - released.year) + dated.month - released.month
        launch = abs(months) <= AT_LAUNCH
    if per_hour:
        provider = row.note.split(";")[0]
        condition = ""
    elif launch:
        provider = LAUNCH
        condition = "list"
    else:
        provider = "retail"
        condition = "new"
    return PriceRow(
        gpu=row.gpu,
        kind="rent" if per_hour else "purchase",
        provider=provider,
        instance=row.name,
        condition=condition,
        gpu_count=row.gpu_count,
        memory_gib=None if per_hour else row.ram_gib,
        usd=row.usd or 0.0,
        currency="USD",
        per=row.per,
        spot=False,
        date=date,
        retrieved=row.retrieved,
        source=row.price_source,
    )


@cache
def rent_rows() -> tuple[PriceRow, ...]:
    """Available machines for rent, cheapest first; fetched rows replace a provider's."""
    fresh = renewed.rows(RENTS, PriceRow)
    rows = [row for row in price_rows() if row.kind == "rent"]
    clouds = [_price_of(row) for row in MACHINES.rows().values() if row.per == "hour" and row.usd]
    asked_again = {provider_key(row.provider) for row in fresh}
    older = [row for row in (*rows, *clouds) if provider_key(row.provider) not in asked_again]
    lasting = (row for row in (*fresh, *older) if not row.spot)
    return tuple(sorted(lasting, key=lambda row: row.usd))


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiPriceRow:
    """One row of data/prices/api_prices.csv.

    `usd_per_mtok_cached` is given where cached input has a price of its own, `decode_tps` where a
    speed is published.
    """

    model: str
    provider: str
    model_id: str
    usd_per_mtok_in: float
    usd_per_mtok_out: float
    usd_per_mtok_cached: float | None
    decode_tps: float | None
    date: str
    retrieved: str
    source: str
    speed_source: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiFirstTokenRow:
    """One row of data/prices/api_first_tokens.csv: measured median time to the first token [s]."""

    provider: str
    model_id: str
    seconds: float


def api_day(row: ApiPriceRow) -> str:
    """Date of an API's price: the day of the row, or that of the package where the row has none."""
    return row.date or row.retrieved


USUAL_API_FIRST_TOKEN = 0.5
"""Time to the first token of an API for which none is on record [s]: 0.05 to 0.5 s is called
typical (https://deploybase.ai/articles/ai-inference-speed-comparison-tokens-per-second-by-provider,
2026), 0.4 to 0.6 s of Together and Fireworks under usual load
(https://managedmodels.com/inference/model-serving-latency-benchmarks, 2026). It is the provider's,
whatever machine one owns."""


@cache
def api_first_tokens() -> Mapping[tuple[str, str], float]:
    """Times to the first token by provider and its name of the model [s]."""
    rows = read(DATA / "prices/api_first_tokens.csv", ApiFirstTokenRow)
    return {(row.provider, row.model_id): row.seconds for row in rows}


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiUsualSpeedRow:
    """One row of data/prices/api_usual_speeds.csv: medians of a model's providers, measured by
    Artificial Analysis.
    """

    model: str
    measured_as: str
    decode_tps: float
    first_token_s: float
    date: str
    retrieved: str
    source: str


API_SPREAD = 4.0
"""How far a provider lies from the median of a model's: those with a published speed of their own
reach up to 4.2 times it (Fireworks, gpt-oss-120b; Groq 3.1 to 3.4 times)."""


@cache
def api_usual_speeds() -> Mapping[str, ApiUsualSpeedRow]:
    """Usual speeds by the model's name, without its publisher."""
    rows = read(DATA / "prices/api_usual_speeds.csv", ApiUsualSpeedRow)
    return {row.model: row for row in rows}


@cache
def api_price_rows() -> Mapping[str, tuple[ApiPriceRow, ...]]:
    """Rows by the model's name, without its publisher; fetched rows replace shipped ones."""
    fresh = {(row.provider, row.model_id): row for row in renewed.rows(CALLS, ApiPriceRow)}
    rows: dict[str, list[ApiPriceRow]] = {}
    for row in read(DATA / "prices/api_prices.csv", ApiPriceRow):
        rows.setdefault(row.model, []).append(fresh.get((row.provider, row.model_id), row))
    return {model: tuple(of_model) for model, of_model in rows.items()}


def api_offers(model: Model) -> Sequence[ApiPriceRow]:
    """Offers of APIs for a model's own weights, not for others of its layers."""
    prices = api_price_rows()
    published = prices.get(model.published_as.rpartition("/")[2])
    if published is not None:
        return published
    rows = prices.get(model.name.rpartition("/")[2], ())
    if model.published_as == model.name:
        return rows
    words = take_apart(model.published_as).weight_words
    return [row for row in rows if words <= take_apart(row.model_id).weight_words]
