"""A report document from an answer: what the page shows, as plain data."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import numpy as np

import advisor
from advisor.advice.advise import Advice
from advisor.advice.cards import TITLES, card_of
from advisor.advice.offers import MoneyInputs
from advisor.advice.sweeps import CostLine, cost_by_tokens, speed_by_layers
from advisor.advice.upgrades import Upgrade
from advisor.cost_model.assumptions import Assumption as Input
from advisor.cost_model.estimate import Estimate, parts_held
from advisor.cost_model.placement import PlacementStrategy, Tier
from advisor.cost_model.uncertainty import Range
from advisor.cost_model.workload import Workload
from advisor.formatting import number, rate, seconds
from advisor.machine.machine import Machine
from advisor.reports.document import (
    AssumptionRow,
    PlacementCard,
    ReportDocument,
    SweepSeries,
    TierUse,
    TimePart,
    UpgradeRow,
)
from advisor.runtimes import LLAMA_CPP


def document(
    advice: Advice,
    machine: Machine,
    work: Workload,
    money: MoneyInputs,
    *,
    inputs: Mapping[str, str],
    command: str = "",
    link: str = "",
) -> ReportDocument:
    """Everything the first page says about a comparison.

    Args:
        advice: the answer.
        machine: where.
        work: what was asked.
        money: time and prices.
        inputs: query parameters that reopen it.
        command: the same on the command line.
        link: its address.
    """
    shown = [card_of(advice, strategy) for strategy in PlacementStrategy]
    return ReportDocument(
        title=advice.title,
        verdict=advice.verdict,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=advisor.__version__,
        inputs=dict(inputs),
        placements=tuple(_card(one) for one in advice.estimates),
        upgrades=tuple(_upgrade(one) for one in advice.upgrades),
        memory=tuple(use for one in shown if one for use in _memory(one, machine, work)),
        token_time=tuple(part for one in shown if one for part in _times(one)),
        layer_sweep=_layers(advice, machine, work),
        cost_curves=tuple(_curve(line) for line in cost_by_tokens(advice, money)),
        assumptions=_assumptions(advice),
        command=command,
        link=link,
        runtime=advice.chosen.name if advice.chosen else "",
    )


def _card(one: Estimate) -> PlacementCard:
    fits = bool(one.fits)
    speed, first = (one.decode, one.first_token) if fits else (None, None)
    return PlacementCard(
        runtime=one.runtime,
        placement=one.strategy.value,
        title=f"{TITLES[one.strategy]}: {one.runtime}, {one.model.format}",
        fits=fits,
        missing_bytes=None if fits or one.refusal else float(one.missing),
        decode_tps=_end(speed, "value"),
        decode_tps_low=_end(speed, "low"),
        decode_tps_high=_end(speed, "high"),
        ttft_s=_end(first, "value"),
        ttft_s_low=_end(first, "low"),
        ttft_s_high=_end(first, "high"),
        bottleneck=one.bottleneck if fits else "",
        explanation=one.refusal or one.becomes,
        command=one.command,
    )


def _end(figure: Range | None, end: str) -> float | None:
    return None if figure is None else float(getattr(figure, end))


def _upgrade(one: Upgrade) -> UpgradeRow:
    speed = one.estimate.decode
    pays = {True: "pays", False: "does not pay", None: "no price known"}[one.pays]
    return UpgradeRow(
        gpu=one.gpu,
        count=one.count,
        decode_tps=_end(speed, "value"),
        low=_end(speed, "low"),
        high=_end(speed, "high"),
        monthly_usd=one.offer.monthly if one.offer else None,
        price_note=one.offer.note if one.offer else "",
        saves_hours=one.hours_saved,
        verdict=pays if one.holds_all else f"{pays}; holds only a part",
    )


def _memory(one: Estimate, machine: Machine, work: Workload) -> Iterable[TierUse]:
    if one.placement is None:
        return
    capacities = {
        Tier.VRAM: sum(float(gpu.memory.value) for gpu in machine.gpus) or None,
        Tier.RAM: float(machine.host.memory.value),
        Tier.DISK: None,
    }
    for tier, parts in parts_held(one.model, one.placement, work).items():
        for part, size in parts.items():
            yield TierUse(
                placement=one.strategy.value,
                tier=tier.value,
                part=part,
                bytes=size,
                capacity_bytes=capacities[tier],
            )


def _times(one: Estimate) -> Iterable[TimePart]:
    parts = one.step.parts if one.step else {}
    for name, duration in parts.items():
        if float(duration) > 0:
            yield TimePart(placement=one.strategy.value, part=str(name), seconds=float(duration))


def _layers(advice: Advice, machine: Machine, work: Workload) -> SweepSeries | None:
    runtime = advice.chosen or LLAMA_CPP
    asked = next(one.model for one in advice.estimates if one.how is runtime)
    sweep = speed_by_layers(asked, machine, work, runtime)
    if sweep is None:
        return None
    inside = np.flatnonzero(sweep.fits)
    return SweepSeries(
        name=runtime.name,
        x_label="layers on the GPU",
        y_label="tokens/s",
        x=tuple(float(sweep.layers[one]) for one in inside),
        y=tuple(float(sweep.decode[one]) for one in inside),
    )


def _curve(line: CostLine) -> SweepSeries:
    return SweepSeries(
        name=line.name,
        x_label="tokens per month",
        y_label="USD per month",
        x=tuple(map(float, line.tokens)),
        y=tuple(map(float, line.usd)),
    )


def _assumptions(advice: Advice) -> tuple[AssumptionRow, ...]:
    found = dict.fromkeys(
        AssumptionRow(
            what=one.what,
            value=figure_text(one),
            kind=one.figure.kind.value,
            source=one.figure.source,
            date=one.figure.date,
        )
        for estimate in advice.estimates
        for one in estimate.assumptions
    )
    return tuple(found)


def figure_text(one: Input) -> str:
    """An input's value with its unit, as people say it."""
    value = float(np.ravel(one.figure.value)[0])
    if one.unit == "B/s":
        return rate(value)
    if one.unit == "s":
        return seconds(value)
    if one.unit == "FLOP/s":
        return f"{number(value / 1e9)} GFLOP/s"
    return f"{value:.2f}" if one.unit == "share" else f"{number(value)} {one.unit}"
