"""Measured result compared with the report's prediction."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from advisor.errors import InputError
from advisor.formatting import range_of, tokens_per_second
from advisor.reports.document.document import ReportDocument, check_time
from advisor.reports.document.parts import PlacementCard, PlacementKey, Record

Outcome = Literal["inside", "above", "below", "no prediction"]
SLOWEST, FASTEST = 1e-4, 1e6
"""Speeds that a result may have [tokens/s]."""


@dataclass(frozen=True, kw_only=True)
class MeasuredResult(Record):
    """Measured run.

    Raises:
        InputError: a field of the wrong type, an impossible speed, or no time.
    """

    not_negative: ClassVar[tuple[str, ...]] = ("prefill_tps",)

    runtime: str  # runtime of the prediction to compare with
    placement: PlacementKey  # placement of that prediction
    decode_tps: float  # decode speed for each user [tokens/s]
    prefill_tps: float | None = None  # prompt speed [tokens/s]; None where not measured
    source: str = "typed"  # "typed", or the tool and its name for the model
    when: str  # ISO time with its offset
    note: str = ""  # remark

    def __post_init__(self) -> None:
        super().__post_init__()
        check_time(self.when, "when")
        if not SLOWEST <= self.decode_tps <= FASTEST:
            raise InputError(
                f"The measured speed is {self.decode_tps:g} tokens/s; allowed is {SLOWEST:g} to "
                f"{FASTEST:,.0f}."
            )


@dataclass(frozen=True, kw_only=True)
class JudgedResult:
    """Measured result with its prediction."""

    result: MeasuredResult  # the measurement
    card: PlacementCard | None  # the prediction; None where the report has none

    @property
    def outcome(self) -> Outcome:
        """Position of the measured speed relative to the range."""
        card, speed = self.card, self.result.decode_tps
        if card is None or card.decode_tps_low is None or card.decode_tps_high is None:
            return "no prediction"
        if speed < card.decode_tps_low:
            return "below"
        return "above" if speed > card.decode_tps_high else "inside"

    @property
    def words(self) -> str:
        """Measurement, prediction and outcome in one sentence."""
        speed = tokens_per_second(self.result.decode_tps)
        measured = f"Measured with {self.result.runtime}: {speed}"
        card = self.card
        if card is None or card.decode_tps is None:
            return f"{measured}; the report predicts nothing for this."
        text = f"{measured}; predicted {tokens_per_second(card.decode_tps)}"
        if card.decode_tps_low is None or card.decode_tps_high is None:
            return f"{text}."
        ends = range_of(card.decode_tps_low, card.decode_tps_high)
        return f"{text} ({ends}): {self.outcome} the range."


def judged(result: MeasuredResult, document: ReportDocument) -> JudgedResult:
    """Result with the report's prediction for its runtime and placement."""
    card = next(
        (
            card
            for card in document.placements
            if (card.runtime, card.placement) == (result.runtime, result.placement) and card.fits
        ),
        None,
    )
    return JudgedResult(result=result, card=card)


def measured_card(
    document: ReportDocument, runtime: str | None = None, placement: str | None = None
) -> PlacementCard:
    """Prediction to compare a result with: the first that fits, of the named ones.

    Args:
        document: document of the report.
        runtime: name of the runtime, ignoring case; None for any.
        placement: None for any.

    Raises:
        InputError: the report has none.
    """
    fitting = [card for card in document.placements if card.fits]
    fitting.sort(key=lambda card: (not card.shown, -(card.decode_tps or 0.0)))
    for card in fitting:
        named = runtime is None or runtime.casefold() == card.runtime.casefold()
        if named and placement in (None, card.placement):
            return card
    known = ", ".join(dict.fromkeys(f"{card.runtime} ({card.placement})" for card in fitting))
    raise InputError(
        f"The report predicts nothing for {runtime or 'any runtime'}, {placement or 'anywhere'}; "
        f"it does for {known or 'nothing at all'}."
    )
