"""Report document: one comparison as plain data, readable by later versions.

Nothing here knows models, machines or runtimes; a report of last year opens although they have
changed.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from advisor.errors import InputError
from advisor.formatting import Currency
from advisor.reports.document.field_types import checked
from advisor.reports.document.parts import (
    AssumptionRow,
    OptionRow,
    PlacementCard,
    Record,
    SensitivityRow,
    SweepSeries,
    TierUse,
    TimePart,
)

FORMAT = 2
"""Version of the JSON form; a reader refuses a newer one. Format 1 had upgrades for options."""
_OPTION_KEYS = {"low": "decode_tps_low", "high": "decode_tps_high"}
"""Fields of an upgrade of format 1 whose name changed."""


@dataclass(frozen=True, kw_only=True)
class ReportDocument(Record):
    """One comparison, readable without the program.

    Raises:
        InputError: a field of the wrong shape; the message names it.
    """

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
    """Document of JSON content, of this version or an older one.

    Keys that this version does not know are left out.

    Raises:
        InputError: not a report, one of a newer format, or a field of the wrong shape; the message
            names the field ("report.placements[0].fits").
    """
    if not isinstance(data, Mapping):
        raise InputError(f"A report is a JSON object, not {type(data).__name__}.")
    version = _format(data)
    document: ReportDocument = checked(
        ReportDocument, _forward(data) if version == 1 else data, "report"
    )
    return document


def _format(data: Mapping[str, Any]) -> int:
    """Version of JSON content.

    Raises:
        InputError: no version, or one that is newer than the program.
    """
    version = data.get("format", FORMAT)
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InputError(f"report.format is {str(version)[:80]!r}; it should be 1 to {FORMAT}.")
    if version > FORMAT:
        raise InputError(
            f"This report has format {version}; this version of Offload Advisor reads up to "
            f"{FORMAT}. Update it, then open the report again."
        )
    return version


def _forward(data: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of format 1 under their present names."""
    changed = {"options": _options(data["upgrades"])} if "upgrades" in data else {}
    inputs = data.get("inputs")
    if isinstance(inputs, Mapping):
        changed |= {name: inputs[name] for name in ("model", "gpu") if name in inputs}
    return {**data, **changed}


def _options(upgrades: object) -> object:
    if not isinstance(upgrades, list):
        return upgrades
    return [_option(row) if isinstance(row, Mapping) else row for row in upgrades]


def _option(upgrade: Mapping[str, Any]) -> dict[str, Any]:
    """Option from an upgrade of format 1; the number of GPUs becomes part of its name."""
    row = {_OPTION_KEYS.get(key, key): value for key, value in upgrade.items()}
    count, gpu = row.pop("count", 1), row.pop("gpu", None)
    name = f"{count}x {gpu}" if isinstance(gpu, str) and count != 1 else gpu
    return {"kind": "upgrade", **row} | ({} if name is None else {"name": name})


def check_time(when: str, field: str) -> None:
    """Refuse text that is not a time.

    Raises:
        InputError: not an ISO time with its offset.
    """
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
