"""Chart of monthly cost against speed, with the Pareto front marked."""

import math
from collections.abc import Sequence

import numpy as np

from advisor.advice.table.option import Option, OptionKind, on_front
from advisor.formatting import money, number, shown_currency, tokens_per_second
from advisor.ui.parts.points import Point, PointChart, PointGroup

SYMBOLS = {
    OptionKind.KEEP: ("star", "keep"),
    OptionKind.CHANGE: ("diamond", "change"),
    OptionKind.ADD: ("circle", "add"),
    OptionKind.REPLACE: ("square", "replace"),
    OptionKind.MACHINE: ("pentagon", "machine"),
    OptionKind.RENT: ("triangle", "rent"),
    OptionKind.API: ("cross", "API"),
}
"""Shape and word of each kind, so that nothing depends on colour alone."""


def _known(options: Sequence[Option]) -> list[tuple[Option, float, float]]:
    """Options with a cost above zero and a speed, as logarithmic axes require."""
    unit = shown_currency().usd
    return [
        (option, option.monthly / unit, option.speed.decode)
        for option in options
        if option.speed is not None and option.monthly
    ]


def _front(rows: Sequence[tuple[Option, float, float]]) -> list[bool]:
    cost = np.array([monthly for _, monthly, _ in rows])
    speed = np.array([decode for _, _, decode in rows])
    return [bool(is_front) for is_front in on_front(cost, speed)]


def cost_against_speed(options: Sequence[Option]) -> PointChart:
    """Chart with a shape per kind of option and a line along the front."""
    rows, paid = _known(options), shown_currency()
    front = sorted(
        (monthly, decode) for (_, monthly, decode), on in zip(rows, _front(rows), strict=True) if on
    )
    return PointChart(
        alt=words(options),
        groups=[_group(rows, kind, at) for at, kind in enumerate(OptionKind)],
        x_label=f"{paid.code} a month",
        y_label="tokens/s",
        x_sign=paid.sign,
        stairs=front,
    )


def _group(rows: Sequence[tuple[Option, float, float]], kind: OptionKind, at: int) -> PointGroup:
    shape, word = SYMBOLS[kind]
    unit = shown_currency().usd
    points = [
        Point(
            x=monthly,
            y=decode,
            tip=f"{option.name}: {number(decode, 3)} tokens/s, {money(monthly * unit)} a month",
        )
        for option, monthly, decode in rows
        if option.kind is kind
    ]
    size = 15 if kind is OptionKind.KEEP else 9
    return PointGroup(name=word, shape=shape, colour=at % 7, points=points, size=size)


def words(options: Sequence[Option]) -> str:
    """Front in words, as the alternative text."""
    rows, unit = _known(options), shown_currency().usd
    on = [row for row, front in zip(rows, _front(rows), strict=True) if front]
    return "Nothing beats in both: " + "; ".join(
        f"{option.name}, {tokens_per_second(decode)} for {money(monthly * unit)} a month"
        for option, monthly, decode in sorted(on, key=lambda row: row[1])
        if math.isfinite(monthly)
    )
