"""Parts of a report document: cards, options, memory, time, lines and figures.

Every record checks itself when it is made, so a document that exists can be saved. Numbers are in
SI units (bytes, seconds); tokens/s, US dollars and hours say so.
"""

from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from advisor.advice.compare import TITLES
from advisor.errors import InputError
from advisor.formatting import money, number
from advisor.reports.document.field_types import checked

PlacementKey = Literal["gpu-resident", "cpu-offload", "nvme-offload"]
Tier = Literal["VRAM", "RAM", "disk"]
OptionKind = Literal["keep", "change", "add", "replace", "machine", "rent", "api", "upgrade"]
"""Kind of option; "upgrade" is a bigger GPU, bought or rented, in reports of format 1."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """Part of a document, its fields checked against their types on creation.

    Raises:
        InputError: a field of the wrong shape, a number that is not finite, or one below zero
            where that has no meaning; the message names the field.
    """

    not_negative: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            where = f"{type(self).__name__}.{field.name}"
            value = checked(field.type, getattr(self, field.name), where)
            object.__setattr__(self, field.name, value)
            if field.name in self.not_negative and value is not None and value < 0:
                raise InputError(f"{where} is {value}; it cannot be below zero.")


@dataclass(frozen=True, kw_only=True)
class PlacementCard(Record):
    """Prediction of one runtime in one placement."""

    not_negative: ClassVar[tuple[str, ...]] = (
        *("missing_bytes", "decode_tps", "decode_tps_low", "decode_tps_high"),
        *("ttft_s", "ttft_s_low", "ttft_s_high"),
    )

    runtime: str  # name of the runtime ("llama.cpp")
    placement: PlacementKey  # where the part outside VRAM lies
    title: str  # heading of the card
    fits: bool  # everything has room
    missing_bytes: float | None = None  # missing memory where it does not fit [B]
    decode_tps: float | None = None  # speed for each user [tokens/s]; None where it does not run
    decode_tps_low: float | None = None  # lower end of the 80 % range [tokens/s]
    decode_tps_high: float | None = None  # upper end [tokens/s]
    ttft_s: float | None = None  # time to first token [s]
    ttft_s_low: float | None = None  # lower end [s]
    ttft_s_high: float | None = None  # upper end [s]
    bottleneck: str = ""  # what limits the speed ("RAM bandwidth"); shown after "bound by"
    explanation: str = ""  # one or two sentences
    command: str = ""  # shell command that starts the runtime this way
    shown: bool = False  # the card represents its placement on the first page

    @property
    def obstacle(self) -> str:
        """Reason why it does not run: missing memory, or another one."""
        short = self.missing_bytes is not None or not self.explanation
        return "does not fit" if short else "not possible"


@dataclass(frozen=True, kw_only=True)
class SensitivityRow(Record):
    """Input of the verdict, and the gain of the option in question at its ends."""

    name: str  # name of the input ("price", "replies a day")
    low: float  # low end of its interval, in its own unit
    high: float  # high end
    # left over per month, compared with the present machine, at the low end [USD/month]
    gain_low_usd: float
    gain_high_usd: float  # the same at the high end [USD/month]


@dataclass(frozen=True, kw_only=True)
class OptionRow(Record):
    """Way to run the model: the present machine, or something to change, buy or rent."""

    not_negative: ClassVar[tuple[str, ...]] = (
        *("decode_tps", "decode_tps_low", "decode_tps_high", "monthly_usd"),
        *("usd_per_million_tokens", "hours_lost"),
    )

    kind: OptionKind  # kind of option
    name: str  # name of the change, GPUs, machine or service
    # speed for each user [tokens/s]; None where it does not fit or is unknown
    decode_tps: float | None = None
    decode_tps_low: float | None = None  # lower end of the 80 % range [tokens/s]
    decode_tps_high: float | None = None  # upper end [tokens/s]
    # paid once, less the resale value of what is replaced [USD]; None without a known price
    upfront_usd: float | None = None
    # paid or written off each month, power included [USD/month]; None without a known price
    monthly_usd: float | None = None
    # cost of generated tokens [USD]; None without a known price
    usd_per_million_tokens: float | None = None
    hours_lost: float | None = None  # waiting per month [h]; None where not computed
    saves_hours: float | None = None  # waiting saved per month [h]; negative where it is slower
    pays: bool | None = None  # it costs less than the waiting that it saves; None without a price
    price_note: str = ""  # seller, purchase or rent, and date of the price
    price_date: str = ""  # date when the price was read; may be empty
    verdict: str = ""  # judgement in a few words


@dataclass(frozen=True, kw_only=True)
class TierUse(Record):
    """Bytes of one part of the model in one tier of memory."""

    not_negative: ClassVar[tuple[str, ...]] = ("bytes", "capacity_bytes")

    placement: PlacementKey  # placement of the card
    tier: Tier  # VRAM, RAM or disk
    part: str  # "weights", "KV cache", "buffers"
    bytes: float  # size of the part [B]
    capacity_bytes: float | None = None  # capacity of the whole tier [B]; None where unknown


@dataclass(frozen=True, kw_only=True)
class TimePart(Record):
    """Seconds of one token that one part takes."""

    not_negative: ClassVar[tuple[str, ...]] = ("seconds",)

    placement: PlacementKey  # placement of the card
    part: str  # a key of `words.TIME_PARTS` ("in_place"), or words
    seconds: float  # for one token [s]


@dataclass(frozen=True, kw_only=True)
class SweepSeries(Record):
    """Line of a chart."""

    name: str  # name in the legend
    x_label: str  # label with its unit
    y_label: str  # label with its unit
    x: tuple[float, ...]  # positions
    y: tuple[float, ...]  # values at the positions

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.x) != len(self.y):
            raise InputError(
                f"SweepSeries {self.name[:80]!r} has {len(self.x)} values of x and {len(self.y)} "
                "of y; give as many of both."
            )


@dataclass(frozen=True, kw_only=True)
class AssumptionRow(Record):
    """Figure that the answer rests on."""

    what: str  # name of the figure
    value: str  # with its unit
    kind: str  # measured, given, datasheet, derived or assumed
    source: str  # origin of the value
    date: str = ""  # date as the source gives it; may be empty
    shown: bool = False  # a placement of the first page rests on it


# Words for the keys in a report: placements, tiers, parts of time, options.
#
# A document keeps keys ("in_place"); every page and file shows these words.

PLACEMENTS: dict[PlacementKey, str] = {strategy.value: title for strategy, title in TITLES.items()}
TIERS: dict[Tier, str] = {"VRAM": "VRAM", "RAM": "RAM", "disk": "drive"}
MEMORY_PARTS = ("weights", "KV cache", "buffers")
TIME_PARTS = {
    "resident": "read from GPU memory",
    "in_place": "read from RAM by the CPU",
    "streamed": "copied over the link",
    "paged": "read from the drive",
    "staged": "drive, then link",
    "layers": "fixed cost of the layers",
    "crossings": "hand-overs between CPU and GPU",
    "token": "fixed cost of a token",
}
"""Words for the parts of a token's time, in the order of their colours."""
OPTIONS: dict[OptionKind, str] = {
    "keep": "what you have",
    "change": "change",
    "add": "add",
    "replace": "replace",
    "machine": "another machine",
    "rent": "rent",
    "api": "API",
    "upgrade": "bigger GPU",
}

INPUTS = {
    "speed now": ("what you have", "tokens/s"),
    "speed then": ("its speed", "tokens/s"),
    "price": ("its price", "a month"),
    "replies a day": ("replies a day", ""),
    "worth of an hour": ("worth of an hour", ""),
}
"""Words for the inputs of a verdict, and the unit behind their values."""
IN_MONEY = ("price", "worth of an hour")
"""Inputs that are amounts of money."""


def interval(row: SensitivityRow) -> str:
    """Ends of an input's interval: "$24 to $48 a month"."""
    _, unit = INPUTS.get(row.name, (row.name, ""))
    amount = money if row.name in IN_MONEY else number
    return f"{amount(row.low)} to {amount(row.high)} {unit}".strip()


def input_name(row: SensitivityRow) -> str:
    """Words for an input; an unknown one as it is."""
    return INPUTS.get(row.name, (row.name, ""))[0]


def time_part(key: str) -> str:
    """Words for a part of a token's time; an unknown key is shown with spaces."""
    return TIME_PARTS.get(key, key.replace("_", " "))
