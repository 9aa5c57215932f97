"""The parts of a report document: cards, options, memory, time, lines and figures.

Every record checks itself when it is made, so a document that exists can be saved. Numbers are in
SI units (bytes, seconds); tokens/s, US dollars and hours say so.
"""

from dataclasses import dataclass, fields
from typing import ClassVar, Literal

from advisor.errors import InputError
from advisor.reports.schema import checked

PlacementKey = Literal["gpu-resident", "cpu-offload", "nvme-offload"]
Tier = Literal["VRAM", "RAM", "disk"]
OptionKind = Literal["keep", "change", "add", "replace", "machine", "rent", "api", "upgrade"]
"""What is done; "upgrade" is a bigger GPU, bought or rented, in reports of format 1."""


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
        shown: it stands for its placement on the first page.
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
    shown: bool = False

    @property
    def obstacle(self) -> str:
        """Why it does not run here: memory that is short, or another reason."""
        short = self.missing_bytes is not None or not self.explanation
        return "does not fit" if short else "not possible"


@dataclass(frozen=True, kw_only=True)
class OptionRow(Record):
    """A way to run the model: what is there now, or what would be changed, bought or rented.

    Attributes:
        kind: what is done.
        name: of the change, the GPUs, the machine or the service.
        decode_tps: speed for each user [tokens/s]; None where it does not fit or is not known.
        decode_tps_low: lower end of the 80 % range [tokens/s].
        decode_tps_high: upper end [tokens/s].
        upfront_usd: paid once, less what is sold [USD]; None where no price is known.
        monthly_usd: paid or written off each month, power included [USD/month]; None likewise.
        usd_per_million_tokens: of generated tokens [USD]; None likewise.
        hours_lost: waiting in a month [h]; None where it was not worked out.
        saves_hours: waiting saved in a month [h]; below zero where it is slower.
        pays: it costs less than the waiting it saves; None without a price.
        price_note: whose price, bought or rented, of which date.
        price_date: when the price was read; empty where there is none.
        verdict: a few words.
    """

    not_negative: ClassVar[tuple[str, ...]] = (
        *("decode_tps", "decode_tps_low", "decode_tps_high", "monthly_usd"),
        *("usd_per_million_tokens", "hours_lost"),
    )

    kind: OptionKind
    name: str
    decode_tps: float | None = None
    decode_tps_low: float | None = None
    decode_tps_high: float | None = None
    upfront_usd: float | None = None
    monthly_usd: float | None = None
    usd_per_million_tokens: float | None = None
    hours_lost: float | None = None
    saves_hours: float | None = None
    pays: bool | None = None
    price_note: str = ""
    price_date: str = ""
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
        part: a key of `words.TIME_PARTS` ("in_place"), or words.
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
        shown: a placement of the first page rests on it.
    """

    what: str
    value: str
    kind: str
    source: str
    date: str = ""
    shown: bool = False
