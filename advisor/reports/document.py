"""Report document: one comparison as plain data, readable by later versions.

Nothing here knows models, machines or runtimes; a report of last year opens although they have
changed.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

from advisor.catalog.records import Size, checked
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import InputError
from advisor.formatting import Currency, money
from advisor.units import number

# Parts of a report document: cards, options, memory, time, lines and figures.
#
# Every record checks itself when it is made, so a document that exists can be saved. Numbers are in
# SI units (bytes, seconds); tokens/s, US dollars and hours say so.


PlacementKey = Literal["gpu-resident", "cpu-offload", "nvme-offload"]
Tier = Literal["VRAM", "RAM", "disk"]
OptionKind = Literal["keep", "change", "add", "replace", "machine", "rent", "api"]  # kind of option


@dataclass(frozen=True, kw_only=True)
class Record:
    """Part of a document, its fields checked against their types on creation.

    Raises:
        InputError: a field of the wrong shape, a number that is not finite, or one below zero
            where that has no meaning; the message names the field.
    """

    def __post_init__(self) -> None:
        for part in fields(self):
            where = f"{type(self).__name__}.{part.name}"
            value = checked(part.type, getattr(self, part.name), where)
            object.__setattr__(self, part.name, value)


@dataclass(frozen=True, kw_only=True)
class PlacementCard(Record):
    """Prediction of one runtime in one placement."""

    runtime: str  # name of the runtime ("llama.cpp")
    placement: PlacementKey  # where the part outside VRAM lies
    title: str  # heading of the card
    fits: bool  # everything has room
    missing_bytes: Size | None = None  # missing memory where it does not fit [B]
    decode_tps: Size | None = None  # speed for each user [tokens/s]; None where it does not run
    decode_tps_low: Size | None = None  # lower end of the 80 % range [tokens/s]
    decode_tps_high: Size | None = None  # upper end [tokens/s]
    ttft_s: Size | None = None  # time to first token [s]
    ttft_s_low: Size | None = None  # lower end [s]
    ttft_s_high: Size | None = None  # upper end [s]
    mean_load_ttft_s: Size | None = None  # of several users at their mean load; None for one [s]
    bottleneck: str = ""  # what limits the speed ("RAM bandwidth"); shown after "limited by"
    explanation: str = ""  # one or two sentences
    command: str = ""  # shell command that starts the runtime this way
    shown: bool = False  # the card represents its placement on the first page

    @property
    def obstacle(self) -> str:
        """Reason why it does not run: missing memory, or another one."""
        short = self.missing_bytes is not None or not self.explanation
        if short:
            return "does not fit"
        return "not possible"


@dataclass(frozen=True, kw_only=True)
class SensitivityRow(Record):
    """Input of the verdict, with the gain of the option in question at both of its ends."""

    name: str  # name of the input ("price", "replies a day")
    low: float  # low end of its interval, in its own unit
    high: float  # high end
    # left over per month, compared with the present machine, at the low end [USD/month]
    gain_low_usd: float
    gain_high_usd: float  # the same at the high end [USD/month]


@dataclass(frozen=True, kw_only=True)
class OptionRow(Record):
    """Way to run the model: the present machine, or something to change, buy or rent."""

    kind: OptionKind  # kind of option
    name: str  # name of the change, GPUs, machine or service
    # speed for each user [tokens/s]; None where it does not fit or is unknown
    decode_tps: Size | None = None
    decode_tps_low: Size | None = None  # lower end of the 80 % range [tokens/s]
    decode_tps_high: Size | None = None  # upper end [tokens/s]
    # paid once, less the resale value of what is replaced [USD]; None without a known price
    upfront_usd: float | None = None
    # paid or written off each month, power included [USD/month]; None without a known price
    monthly_usd: Size | None = None
    # cost of generated tokens [USD]; None without a known price
    usd_per_million_tokens: Size | None = None
    hours_lost: Size | None = None  # waiting per month [h]; None where not computed
    saves_hours: float | None = None  # waiting saved per month [h]; negative where it is slower
    pays: bool | None = None  # it costs less than the waiting that it saves; None without a price
    price_note: str = ""  # seller, purchase or rent, and date of the price
    price_date: str = ""  # date when the price was read; may be empty
    verdict: str = ""  # judgement in a few words


@dataclass(frozen=True, kw_only=True)
class TierUse(Record):
    """Bytes of one part of the model in one tier of memory."""

    placement: PlacementKey  # placement of the card
    tier: Tier  # VRAM, RAM or disk
    part: str  # "weights", "KV cache", "buffers"
    bytes: Size  # size of the part [B]
    capacity_bytes: Size | None = None  # capacity of the whole tier [B]; None where unknown


@dataclass(frozen=True, kw_only=True)
class TimePart(Record):
    """Seconds of one token that one part takes."""

    placement: PlacementKey  # placement of the card
    part: str  # a key of `TIME_PARTS` ("in_place"), or words
    seconds: Size  # for one token [s]


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
class SavingRow(Record):
    """Setting that shortens a session."""

    change: str  # the setting in words
    cost: str  # its cost in words
    saves_s: float  # time that it saves [s]


@dataclass(frozen=True, kw_only=True)
class SessionRow(Record):
    """Session of an agent: the time of its task, and the settings that save most."""

    words: tuple[str, ...]  # the answer in sentences
    turns: int  # replies of the model
    task_s: float  # time of the task [s]
    task_s_low: float  # lower end of its range [s]
    task_s_high: float  # upper end [s]
    reread_share: float  # share of it that goes to reading again
    saves: tuple[SavingRow, ...] = ()  # settings that save most
    speeds: tuple[SweepSeries, ...] = ()  # speed of replies and prompts over the turns


@dataclass(frozen=True, kw_only=True)
class AssumptionRow(Record):
    """Figure that the answer depends on."""

    what: str  # name of the figure
    value: str  # with its unit
    kind: str  # measured, given, datasheet, derived or assumed
    source: str  # origin of the value
    date: str = ""  # date as the source gives it; may be empty
    shown: bool = False  # a placement of the first page rests on it


@dataclass(frozen=True, kw_only=True)
class DecisionRow(Record):
    """Decision of a report, each part a sentence or a few words."""

    question: str  # what is to be decided
    recommendation: str  # what to do, in a line
    cost: str  # paid at once
    decided_by: str  # input that matters most of those that somebody chose
    because: str  # reasons
    changes_if: str  # inputs at which it would be another
    risk: str  # what may be otherwise
    next_step: str  # what to do first


@dataclass(frozen=True, kw_only=True)
class WayRow(Record):
    """Way to improve the answer, in short."""

    kind: str  # "Free", "Buy", "Rent" or "API"
    name: str  # model, format, purchase or provider
    decode_tps: Size | None = None  # its speed [tokens/s]; None where it is not published
    upfront_usd: float | None = None  # paid once [USD]
    monthly_usd: Size | None = None  # paid by the month [USD/month]
    note: str = ""  # when it pays


# Words for the keys in a report: placements, tiers, parts of time, options.
#
# A document keeps keys ("in_place"); every page and file shows these words.

PLACEMENTS: dict[PlacementKey, str] = {
    strategy.value: strategy.heading for strategy in PlacementStrategy
}
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
}

INPUTS: Mapping[str, tuple[str, Callable[[float], str], str]] = {
    "speed now": ("what you have", number, "tokens/s"),
    "speed then": ("its speed", number, "tokens/s"),
    "price": ("its price", money, "a month"),
    "replies a day": ("replies a day", number, ""),
    "worth of an hour": ("worth of an hour", money, ""),
}
"""Words for the inputs of a verdict, how their values are said, and the unit behind these."""


def interval(row: SensitivityRow) -> str:
    """Ends of an input's interval: "$24 to $48 a month"."""
    _, say, unit = INPUTS.get(row.name, (row.name, number, ""))
    return f"{say(row.low)} to {say(row.high)} {unit}".strip()


def input_name(row: SensitivityRow) -> str:
    """Words for an input; an unknown name is unchanged."""
    if row.name in INPUTS:
        return INPUTS[row.name][0]
    return row.name


def time_part(key: str) -> str:
    """Words for a part of a token's time; an unknown key is shown with spaces."""
    return TIME_PARTS.get(key, key.replace("_", " "))


FORMAT = 2  # version of the JSON form; a reader refuses another one


@dataclass(frozen=True, kw_only=True)
class ReportDocument(Record):
    """Comparison of a report, readable without the program."""

    title: str  # model, format and machine
    verdict: str  # the answer in a sentence or two
    created_at: str  # ISO time with its offset
    version: str  # version of the program
    inputs: dict[str, str]  # query parameters that reopen the comparison
    placements: tuple[PlacementCard, ...]  # the cards, in the order they are shown
    # ways to run it faster or cheaper, the present machine first
    options: tuple[OptionRow, ...] = ()
    memory: tuple[TierUse, ...] = ()  # bytes in each tier of memory
    token_time: tuple[TimePart, ...] = ()  # seconds of one token by part
    layer_sweep: SweepSeries | None = None  # speed against layers on the GPU
    cost_curves: tuple[SweepSeries, ...] = ()  # cost against tokens per month, a line per option
    session: SessionRow | None = None  # session of an agent; None where none was asked for
    turns_on: str = ""  # option that the verdict turns on; empty where none can be compared
    what_changes: str = ""  # inputs at which that option starts or stops to pay, in words
    # inputs of the verdict, the one with the largest effect first
    sensitivity: tuple[SensitivityRow, ...] = ()
    assumptions: tuple[AssumptionRow, ...] = ()  # every figure with its origin
    command: str = ""  # the same comparison on the command line
    link: str = ""  # address that reopens it; empty where there is none
    runtime: str = ""  # chosen runtime; empty for any
    model: str = ""  # name of the model; empty where unknown
    gpu: str = ""  # name of the GPU, or "no GPU"; empty where unknown
    # the request in words: model, machine, prompt, users, money
    request: dict[str, str] = field(default_factory=dict)
    # remarks for the reader: what a name was taken for, origin of sizes
    caveats: tuple[str, ...] = ()
    decision: DecisionRow | None = None  # for who signs; None in reports of before
    ways: tuple[WayRow, ...] = ()  # ways to make it better, one of each kind
    certainty: str = ""  # how sure the answer is, in a sentence or two
    # code of the currency in which amounts are shown; they are stored in US dollars
    currency: str = "USD"
    usd_per_unit: float = 1.0  # value of one unit of that currency [USD]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_time(self.created_at, "created_at")
        if not 1e-6 < self.usd_per_unit < 1e6:
            raise InputError(
                f"usd_per_unit is {self.usd_per_unit:g}; a unit of {self.currency[:20]!r} is worth "
                "more than 0 and less than 1,000,000 US dollars."
            )

    @property
    def shown_in(self) -> Currency:
        """Currency of the shown amounts."""
        return Currency(code=self.currency, usd=self.usd_per_unit)


def to_json(document: ReportDocument) -> dict[str, Any]:
    """Document as JSON content, with its version under `format`."""
    return {"format": FORMAT, **asdict(document)}


def from_json(data: object) -> ReportDocument:
    """Document of JSON content.

    Keys that this version does not know are left out.

    Raises:
        InputError: not a report, one of another format, or a field of the wrong shape; the message
            names the field ("report.placements[0].fits").
    """
    if not isinstance(data, Mapping):
        raise InputError(f"A report is a JSON object, not {type(data).__name__}.")
    version = data.get("format", FORMAT)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InputError(f"report.format is {str(version)[:80]!r}; it should be {FORMAT}.")
    if version != FORMAT:
        if version > FORMAT:
            remedy = "Update it, then open the report again."
        else:
            remedy = "It is older than the first release: ask for the comparison again."
        raise InputError(
            f"This report has format {version}; this version of Offload Advisor reads format "
            f"{FORMAT}. {remedy}"
        )
    document: ReportDocument = checked(ReportDocument, data, "report")
    return document


def check_time(when: str, field: str) -> None:
    """Refuse text that is not a time."""
    try:
        time = datetime.fromisoformat(when)
        time.astimezone(UTC)
    except (ValueError, OverflowError):
        time = None
    if time is None or time.tzinfo is None:
        raise InputError(
            f"{field} is {when[:80]!r}; give an ISO time with its offset, "
            "2026-11-12T14:03:00+00:00."
        )
