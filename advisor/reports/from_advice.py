"""Report document of an answer."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal

import numpy as np

import advisor
from advisor import formatting, units
from advisor.advice.advise import Answer
from advisor.advice.curves import cost_by_tokens, speed_by_layers
from advisor.advice.table.demand import first_word_of
from advisor.advice.table.option import Option, split
from advisor.advice.task import Task, sentences
from advisor.advice.words.verdict import Advice
from advisor.catalog.records import Size, as_record
from advisor.cost_model.estimate import Assumption, Estimate
from advisor.cost_model.placement import Placement, PlacementStrategy, Tier
from advisor.errors import InputError
from advisor.machine.machine import Disk, Machine
from advisor.reports.charts import speed_words
from advisor.reports.decision import decision, ways
from advisor.reports.document import (
    AssumptionRow,
    OptionRow,
    PlacementCard,
    PlacementKey,
    Record,
    ReportDocument,
    SavingRow,
    SensitivityRow,
    SessionRow,
    SweepSeries,
    TierUse,
    TimePart,
    check_time,
)
from advisor.request.command_line import command
from advisor.request.texts import to_texts
from advisor.runtimes import LLAMA_CPP

if TYPE_CHECKING:
    from advisor.advice.diagnosis.diagnose import Measured

# Measured result compared with the report's prediction.


Outcome = Literal["inside", "above", "below", "no prediction"]
# speeds that a result may have [tokens/s]
SLOWEST = 1e-4
FASTEST = 1e6


@dataclass(frozen=True, kw_only=True)
class MeasuredResult(Record):
    """Measured run."""

    runtime: str  # runtime of the prediction to compare with
    placement: PlacementKey  # placement of that prediction
    decode_tps: float  # decode speed for each user [tokens/s]
    prefill_tps: Size | None = None  # prompt speed [tokens/s]; None where not measured
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
        card = self.card
        speed = self.result.decode_tps
        if card is None or card.decode_tps_low is None or card.decode_tps_high is None:
            return "no prediction"
        if speed < card.decode_tps_low:
            return "below"
        if speed > card.decode_tps_high:
            return "above"
        return "inside"

    @property
    def words(self) -> str:
        """Measurement, prediction and outcome in one sentence."""
        speed = units.tokens_per_second(self.result.decode_tps)
        measured = f"Measured with {self.result.runtime}: {speed}"
        card = self.card
        if card is None or card.decode_tps is None:
            return f"{measured}; the report predicts nothing for this."
        if self.outcome == "no prediction":
            told = ""
        else:
            told = f": {self.outcome} the range"
        return f"{measured}; predicted {speed_words(card)}{told}."


def judged(result: MeasuredResult, document: ReportDocument) -> JudgedResult:
    """Result with the report's prediction for its runtime and placement."""
    place = (result.runtime, result.placement)
    cards = [
        card
        for card in document.placements
        if card.fits and (card.runtime, card.placement) == place
    ]
    return JudgedResult(result=result, card=next(iter(cards), None))


def result_of(
    document: ReportDocument,
    runtime: str | None,
    placement: str | None,
    measured: "Measured",
    note: str = "",
) -> MeasuredResult:
    """Measured run of now for the first prediction that fits, of the named runtime and placement or
    of any.
    """
    fitting = [card for card in document.placements if card.fits]
    fitting.sort(key=lambda card: (not card.shown, -(card.decode_tps or 0.0)))
    named = [
        card
        for card in fitting
        if runtime is None or runtime.casefold() == card.runtime.casefold()
        if placement in (None, card.placement)
    ]
    if not named:
        predicted = ", ".join(
            dict.fromkeys(f"{card.runtime} ({card.placement})" for card in fitting)
        )
        raise InputError(
            f"The report predicts nothing for {runtime or 'any runtime'}, "
            f"{placement or 'anywhere'}; it does for {predicted or 'nothing at all'}."
        )
    return MeasuredResult(
        runtime=named[0].runtime,
        placement=named[0].placement,
        decode_tps=measured.decode,
        prefill_tps=measured.prompt,
        source=measured.source,
        when=datetime.now(UTC).isoformat(timespec="seconds"),
        note=note,
    )


def document(
    advice: Advice,
    machine: Machine,
    inputs: Mapping[str, str],
    *,
    command: str = "",
    caveats: Iterable[str] = (),
) -> ReportDocument:
    """Report document with everything that the Advise page shows."""
    question = advice.question
    shown = _shown(advice)
    option = advice.in_question
    shown_options, _ = split(advice.options, advice.named)
    notes = (*caveats, *_chosen(advice), advice.judged_without_thinking)
    currency = formatting.shown_currency()
    return ReportDocument(
        title=advice.title,
        verdict=advice.verdict,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=advisor.__version__,
        inputs=dict(inputs),
        placements=tuple(
            placement_card(estimate, shown=any(estimate is card for card in shown))
            for estimate in advice.estimates
        ),
        options=tuple(_option(advice.as_judged(option)) for option in shown_options),
        memory=memory_use(advice, machine),
        token_time=token_time(advice),
        layer_sweep=layer_sweep(advice, machine),
        cost_curves=cost_curves(advice),
        session=session_row(advice.task) if advice.task else None,
        turns_on=option.name if option else "",
        what_changes=advice.what_changes,
        sensitivity=sensitivity(advice),
        assumptions=_assumptions(advice.estimates, shown),
        command=command,
        runtime=advice.chosen.name if advice.chosen else "",
        model=question.model.name,
        gpu=gpu_names(machine),
        request=_request_in_words(advice, machine),
        caveats=tuple(filter(None, notes)),
        currency=currency.code,
        usd_per_unit=currency.usd,
    )


def _request_in_words(advice: Advice, machine: Machine) -> dict[str, str]:
    """Request of an answer in words, by the names of its facts."""
    model = advice.question.model
    work = advice.question.work
    money = advice.question.money
    return {
        "model": model.name,
        "format": model.format,
        "machine": machine.name,
        "GPU": gpu_names(machine),
        "processor": machine.host.name,
        "RAM": units.memory(float(machine.host.memory.value)),
        "RAM speed": formatting.rate(float(machine.host.bandwidth.value)),
        "drive": _drive(machine.disk),
        "runtime": advice.chosen.name if advice.chosen else "any",
        "context": f"{float(work.context):,.0f} tokens",
        "prompt": f"{float(work.prompt):,.0f} tokens",
        "reply": f"{float(work.output):,.0f} tokens",
        "users": f"{float(work.users):,.0f}",
        "cache type": work.kv_type,
        "replies a day": f"{money.replies_per_day:,.0f}",
        "worth of an hour": formatting.money(money.usd_per_hour_of_time),
    }


def answer_document(answer: Answer, certainty: str = "") -> ReportDocument:
    """Report document of an answer, which holds its whole request, defaults included."""
    request = answer.nouns.request
    with formatting.money_shown_in(request.paying):
        made = document(
            answer.advice,
            answer.nouns.machine,
            to_texts(request, defaults=True),
            command=command(request),
            caveats=answer.caveats,
        )
        return replace(made, decision=decision(answer), ways=ways(answer), certainty=certainty)


def _chosen(advice: Advice) -> Iterator[str]:
    """Sentences on the purchase, if any, on the cheapest one beside it, and on what both are
    counted with.
    """
    safe = advice.choice.safe
    cheapest = advice.choice.cheapest
    yield f"Safe choice: {_priced(safe) if safe else 'buy nothing'}. {advice.choice.reason}"
    if cheapest is not None and cheapest is not safe:
        yield " ".join((f"Cheapest: {_priced(cheapest)}.", *cheapest.odd))
    yield advice.summary.assumptions


def _priced(option: Option) -> str:
    """Name, price at once, and the date and source of that price."""
    price = option.price
    day = f" of {price.date}" if price.date else ""
    if price.sources:
        page = f", {price.sources[0]}"
    else:
        page = ""
    return f"{option.name} for {formatting.money(option.upfront or 0.0)}{day}{page}"


def _shown(advice: Advice) -> list[Estimate]:
    """Estimates of the first page, one for each placement that has any."""
    cards = (advice.card(strategy) for strategy in PlacementStrategy)
    return [card for card in cards if card is not None]


def gpu_names(machine: Machine) -> str:
    """GPUs of a machine in words: "2x RTX 3090", "no GPU"."""
    counts = Counter(gpu.name for gpu in machine.gpus)
    return " + ".join(formatting.counted(count, name) for name, count in counts.items()) or "no GPU"


def _drive(drive: Disk | None) -> str:
    if drive is None:
        return "unknown"
    return ", ".join(filter(None, (drive.name, formatting.rate(float(drive.sequential.value)))))


def placement_card(estimate: Estimate, *, shown: bool) -> PlacementCard:
    """Card of a runtime and placement."""
    fits = bool(estimate.fits)
    several = float(estimate.work.users) > 1
    card = as_record(
        "card",
        SimpleNamespace(all=estimate, run=estimate if fits else None),
        title=f"{estimate.strategy.heading}: {estimate.runtime.name}, {estimate.model.format}",
        fits=fits,
        missing_bytes=None if fits or estimate.refusal else float(estimate.missing),
        mean_load_ttft_s=first_word_of(estimate) if fits and several else None,
        bottleneck=estimate.bottleneck if fits else "",
        explanation=estimate.refusal or estimate.format_note,
        shown=shown,
    )
    return PlacementCard(**card)


def _option(option: Option) -> OptionRow:
    date = option.price.date
    note = ", ".join(filter(None, (option.price.note, f"priced {date}" if date else "")))
    pays = {True: "pays", False: "does not pay", None: ""}[option.pays]
    return OptionRow(**as_record("option_row", option, price_note=note, verdict=pays))


def memory_use(advice: Advice, machine: Machine) -> tuple[TierUse, ...]:
    """Bytes in each tier, in the placements of the first page; shared memory is one tier."""
    room = {
        Tier.VRAM: float(machine.gpu_memory) or None,
        Tier.RAM: float(machine.host.memory.value),
    }
    return tuple(
        TierUse(
            placement=card.strategy.value,
            tier=tier.value,
            part=part,
            bytes=size,
            capacity_bytes=room.get(tier),
        )
        for card in _shown(advice)
        if card.placement is not None
        for tier, parts in _bytes_by_tier(card, card.placement, advice, machine).items()
        for part, size in parts.items()
    )


def _bytes_by_tier(
    card: Estimate, placement: Placement, advice: Advice, machine: Machine
) -> Mapping[Tier, Mapping[str, float]]:
    """Bytes by tier and part; where processor and GPU share their memory, all of it is RAM."""
    held = placement.parts_held(card.model, advice.question.work)
    if not machine.unified:
        return held
    shared: dict[str, float] = {}
    for tier in (Tier.VRAM, Tier.RAM):
        for part, size in held.pop(tier, {}).items():
            shared[part] = shared.get(part, 0.0) + size
    return {Tier.RAM: shared, **held}


def token_time(advice: Advice) -> tuple[TimePart, ...]:
    """Time of a token by part, in the placements of the first page."""
    parts = []
    for card in _shown(advice):
        if card.step is None or not card.fits:
            continue
        for name, duration in card.step.parts.items():
            seconds = float(duration)
            if seconds > 0:
                part = TimePart(placement=card.strategy.value, part=str(name), seconds=seconds)
                parts.append(part)
    return tuple(parts)


def layer_sweep(advice: Advice, machine: Machine) -> SweepSeries | None:
    """Speed against layers on the GPU; None where none can be placed."""
    runtime = advice.chosen or LLAMA_CPP
    model = next(estimate.model for estimate in advice.estimates if estimate.runtime is runtime)
    sweep = speed_by_layers(model, machine, advice.question.work, runtime)
    return sweep and _series(runtime.name, ("layers on the GPU", "tokens/s"), *sweep)


def _series(
    name: str, labels: tuple[str, str], x: Iterable[float], y: Iterable[float]
) -> SweepSeries:
    """Line of a chart, with the labels of its axes."""
    ends = {"x_label": labels[0], "y_label": labels[1]}
    return SweepSeries(name=name, **ends, x=tuple(map(float, x)), y=tuple(map(float, y)))


def session_row(task: Task) -> SessionRow:
    """Session of an agent, with its speeds over the turns."""
    return SessionRow(
        words=tuple(sentences(task)),
        turns=task.session.turns,
        task_s=task.seconds,
        task_s_low=float(task.range.low),
        task_s_high=float(task.range.high),
        reread_share=task.reread_share,
        saves=tuple(SavingRow(**as_record("saving", saved)) for saved in task.saves),
        speeds=tuple(
            _series(name, ("tokens of the conversation", "tokens/s"), task.context, speed)
            for name, speed in (("replies", task.decode_tps), ("prompts", task.prefill_tps))
        ),
    )


def cost_curves(advice: Advice) -> tuple[SweepSeries, ...]:
    """Cost of a month against its tokens."""
    labels = ("tokens per month", "USD per month")
    return tuple(_series(name, labels, *line) for name, line in cost_by_tokens(advice).items())


def sensitivity(advice: Advice) -> tuple[SensitivityRow, ...]:
    """Inputs of the verdict, first the one with the largest effect on the option in question."""
    return tuple(SensitivityRow(**as_record("sensitivity_row", bar)) for bar in advice.what_matters)


def _assumptions(
    estimates: Iterable[Estimate], shown: Iterable[Estimate]
) -> tuple[AssumptionRow, ...]:
    """Every figure once, marked if a placement on the page rests on it."""
    first = {_figure(row) for card in shown for row in card.assumptions}
    every = dict.fromkeys(_figure(row) for estimate in estimates for row in estimate.assumptions)
    return tuple(replace(row, shown=row in first) for row in every)


def _figure(row: Assumption) -> AssumptionRow:
    return AssumptionRow(**as_record("assumption_row", row, value=figure_text(row)))


def figure_text(assumption: Assumption) -> str:
    """Value and unit of an input in words."""
    value = float(np.ravel(assumption.figure.value)[0])
    unit = assumption.unit
    if unit == "share":
        return f"{value:.2f}"
    return formatting.quantity(value, unit)
