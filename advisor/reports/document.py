"""The report document: one comparison as plain data that outlives the version that wrote it.

Nothing here knows models, machines or runtimes; a report of last year opens although they have
changed. Every record checks itself when it is made, so a document that exists can be saved. Numbers
are in SI units (bytes, seconds); tokens/s, US dollars and hours say so.
"""

from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

from advisor.errors import InputError
from advisor.reports.schema import checked

FORMAT = 1
"""Version of the JSON form; a reader refuses a newer one."""

PlacementKey = Literal["gpu-resident", "cpu-offload", "nvme-offload"]
Tier = Literal["VRAM", "RAM", "disk"]

PLACEMENT_NAMES: dict[PlacementKey, str] = {
    "gpu-resident": "In the GPU",
    "cpu-offload": "Offload to RAM",
    "nvme-offload": "Offload to NVMe",
}


@dataclass(frozen=True, kw_only=True)
class Record:
    """A part of a document; its fields are checked against their types when it is made.

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
    """How one runtime does with the model in one place.

    Attributes:
        runtime: as people call it ("llama.cpp").
        placement: where the part lies that VRAM does not hold.
        title: heading of the card.
        fits: everything has room.
        missing_bytes: what is short where it does not fit [B].
        decode_tps: speed for each user [tokens/s]; None where there is none.
        decode_tps_low: lower end of the 80 % range [tokens/s].
        decode_tps_high: upper end [tokens/s].
        ttft_s: time to first token [s].
        ttft_s_low: lower end [s].
        ttft_s_high: upper end [s].
        bottleneck: what binds ("RAM bandwidth"); readers see "bound by" before it.
        explanation: one or two sentences.
        command: shell command that runs the model this way.
    """

    not_negative: ClassVar[tuple[str, ...]] = (
        *("missing_bytes", "decode_tps", "decode_tps_low", "decode_tps_high"),
        *("ttft_s", "ttft_s_low", "ttft_s_high"),
    )

    runtime: str
    placement: PlacementKey
    title: str
    fits: bool
    missing_bytes: float | None = None
    decode_tps: float | None = None
    decode_tps_low: float | None = None
    decode_tps_high: float | None = None
    ttft_s: float | None = None
    ttft_s_low: float | None = None
    ttft_s_high: float | None = None
    bottleneck: str = ""
    explanation: str = ""
    command: str = ""


@dataclass(frozen=True, kw_only=True)
class UpgradeRow(Record):
    """A bigger GPU, what it would do and what it costs.

    Attributes:
        gpu: name.
        count: how many.
        decode_tps: speed for each user [tokens/s]; None where it does not fit.
        low: lower end of the 80 % range [tokens/s].
        high: upper end [tokens/s].
        monthly_usd: [USD/month]; None where no price is known.
        price_note: whose price, of which date, bought or rented.
        saves_hours: waiting saved in a month [h]; below zero where it is slower.
        verdict: a few words.
    """

    not_negative: ClassVar[tuple[str, ...]] = ("count", "decode_tps", "low", "high", "monthly_usd")

    gpu: str
    count: int = 1
    decode_tps: float | None = None
    low: float | None = None
    high: float | None = None
    monthly_usd: float | None = None
    price_note: str = ""
    saves_hours: float | None = None
    verdict: str = ""


@dataclass(frozen=True, kw_only=True)
class TierUse(Record):
    """What one part of the model holds in one tier of memory.

    Attributes:
        placement: which of the cards.
        tier: VRAM, RAM or disk.
        part: "weights", "KV cache", "buffers".
        bytes: size of the part [B].
        capacity_bytes: what the whole tier holds [B]; None where unknown.
    """

    not_negative: ClassVar[tuple[str, ...]] = ("bytes", "capacity_bytes")

    placement: PlacementKey
    tier: Tier
    part: str
    bytes: float
    capacity_bytes: float | None = None


@dataclass(frozen=True, kw_only=True)
class TimePart(Record):
    """Seconds of one token that one part takes.

    Attributes:
        placement: which of the cards.
        part: "GPU", "RAM", "link", "drive".
        seconds: for one token [s].
    """

    not_negative: ClassVar[tuple[str, ...]] = ("seconds",)

    placement: PlacementKey
    part: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class SweepSeries(Record):
    """One line of a chart.

    Attributes:
        name: of the line.
        x_label: of the axis, with its unit.
        y_label: of the axis, with its unit.
        x: positions.
        y: values, as many as positions.
    """

    name: str
    x_label: str
    y_label: str
    x: tuple[float, ...]
    y: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.x) != len(self.y):
            raise InputError(
                f"SweepSeries {self.name[:80]!r} has {len(self.x)} values of x and {len(self.y)} "
                "of y; give as many of both."
            )


@dataclass(frozen=True, kw_only=True)
class AssumptionRow(Record):
    """A figure the answer rests on.

    Attributes:
        what: the quantity.
        value: with its unit.
        kind: measured, given, datasheet, derived or assumed.
        source: who says so.
        date: when, as the source gives it; empty where it does not.
    """

    what: str
    value: str
    kind: str
    source: str
    date: str = ""


@dataclass(frozen=True, kw_only=True)
class ReportDocument(Record):
    """One comparison, complete enough to be read without the program.

    Attributes:
        title: model, format and machine.
        verdict: the answer in a sentence or two.
        created_at: ISO time with its offset.
        version: of the program.
        inputs: query parameters that reopen the comparison.
        placements: the cards, in the order they are shown.
        upgrades: bigger GPUs, in the order they are shown.
        memory: what each tier holds.
        token_time: where the time of a token goes.
        layer_sweep: speed against layers on the GPU.
        cost_curves: cost against tokens per month, one line for each way.
        assumptions: every figure with its origin.
        command: the same comparison on the command line.
        link: address that reopens it; empty where there is none.
        runtime: the one that was asked about; empty for any.

    Raises:
        InputError: a field of the wrong shape; the message names it.
    """

    title: str
    verdict: str
    created_at: str
    version: str
    inputs: dict[str, str]
    placements: tuple[PlacementCard, ...]
    upgrades: tuple[UpgradeRow, ...] = ()
    memory: tuple[TierUse, ...] = ()
    token_time: tuple[TimePart, ...] = ()
    layer_sweep: SweepSeries | None = None
    cost_curves: tuple[SweepSeries, ...] = ()
    assumptions: tuple[AssumptionRow, ...] = ()
    command: str = ""
    link: str = ""
    runtime: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_time(self.created_at)


def to_json(document: ReportDocument) -> dict[str, Any]:
    """The document as JSON can hold it, with the version of this form under `format`."""
    return {"format": FORMAT, **asdict(document)}


def from_json(data: object) -> ReportDocument:
    """The document that `to_json` wrote, in this version or an older one.

    Keys that this version does not know are left out.

    Raises:
        InputError: not a report, one of a newer format, or a field of the wrong shape; the message
            names the field ("report.placements[0].fits").
    """
    if not isinstance(data, dict):
        raise InputError(f"A report is a JSON object, not {type(data).__name__}.")
    version = data.get("format", FORMAT)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InputError(f"report.format is {str(version)[:80]!r}; it should be 1 to {FORMAT}.")
    if version > FORMAT:
        raise InputError(
            f"This report has format {version}; this version of Offload Advisor reads up to "
            f"{FORMAT}. Update it, then open the report again."
        )
    document: ReportDocument = checked(ReportDocument, data, "report")
    return document


def _check_time(when: str) -> None:
    try:
        time = datetime.fromisoformat(when)
        time.astimezone(UTC)
    except (ValueError, OverflowError):
        time = None
    if time is None or time.tzinfo is None:
        raise InputError(
            f"created_at is {when[:80]!r}; give an ISO time with its offset, "
            "2026-11-12T14:03:00+00:00."
        )
