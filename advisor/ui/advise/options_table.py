"""Table of options, the present machine first, with their chart."""

from collections.abc import Sequence

import streamlit as st
from markupsafe import Markup

from advisor.advice.prices.rows import NO_PRICE
from advisor.advice.table.option import Option, OptionKind, split
from advisor.advice.words.break_even import pays_when
from advisor.advice.words.verdict import aged
from advisor.formatting import hours, money, number, range_of
from advisor.request.money import MoneyInputs
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.advise.options_chart import cost_against_speed
from advisor.ui.advise.what_matters import what_changes_it
from advisor.ui.parts.glossary import explained_in_turn
from advisor.ui.parts.markup import show, table, two_lines
from advisor.ui.parts.points import points

HEADINGS = (
    "What", "Speed", "At once", "A month", "Hours lost", "A million tokens", "Pays", "Price",
)  # fmt: skip
KIND_WORDS = {
    OptionKind.KEEP: "keep",
    OptionKind.CHANGE: "change",
    OptionKind.ADD: "add a card",
    OptionKind.REPLACE: "replace the cards",
    OptionKind.MACHINE: "another machine",
    OptionKind.RENT: "rent",
    OptionKind.API: "call an API",
}


def options(answer: AdviseAnswer) -> None:
    """Table and chart; further options are folded."""
    every = answer.advice.options
    shown, rest = split(every)
    with st.container(key="options"):
        table_place = st.empty()
    also = st.multiselect(
        "Show also", [option.name for option in rest], key="also_options",
        placeholder="RTX 5090, 4 in all, Mac Studio ...",
    )  # fmt: skip
    with table_place:
        chosen = [*shown, *(option for option in rest if option.name in also)]
        show(options_table(chosen, answer.money))
    if rest:
        label = f"{len(rest)} more: dearer, beaten in speed and cost, or without a price"
        with st.expander(label):
            if st.toggle("Show them", key="more_options"):
                show(options_table(rest, answer.money))
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Cost of a month against speed**")
        show(points(cost_against_speed(every)))
    with right:
        what_changes_it(answer)


def options_table(options: Sequence[Option], money: MoneyInputs) -> Markup:
    """Table of options at a use."""
    names = explained_in_turn(option.name for option in options)
    rows = (_row(option, name, money) for option, name in zip(options, names, strict=True))
    return table(HEADINGS, rows, label="Options", numeric=(1, 2, 3, 4, 5))


def _row(option: Option, name: Markup, use: MoneyInputs) -> Sequence[object]:
    return (
        two_lines(name, KIND_WORDS[option.kind]),
        _speed(option),
        "" if option.upfront is None else money(option.upfront),
        _monthly(option),
        "" if option.hours_lost is None else hours(option.hours_lost),
        "" if option.per_million_tokens is None else money(option.per_million_tokens),
        two_lines(_pays(option), pays_when(option, use)),
        _price(option),
    )


def _speed(option: Option) -> Markup | str:
    if option.speed is None:
        return "not on record here" if option.kind is OptionKind.API else "does not run"
    speed = option.speed
    ends = range_of(speed.low, speed.high) if speed.high > speed.low else ""
    return two_lines(f"{number(speed.decode)} tokens/s", ends)


def _monthly(option: Option) -> Markup | str:
    cost = option.cost
    if cost is None:
        return option.price.note or NO_PRICE
    parts = (
        (cost.purchase, "bought"), (cost.tied_up, "tied up"), (cost.rent + cost.starts, "rent"),
        (cost.idle_power + cost.busy_power, "power"), (cost.api, "tokens"),
    )  # fmt: skip
    words = [f"{name} {money(usd)}" for usd, name in parts if usd >= 0.005]
    if option.standing >= 0.005:
        words.append(f"what stands unused {money(option.standing)} besides")
    return two_lines(money(cost.total), ", ".join(words))


def _pays(option: Option) -> str:
    if not option.keeps_up:
        return "cannot keep up"
    if option.kind is OptionKind.KEEP:
        return ""
    return {True: "yes", False: "no", None: "not known"}[option.pays]


def _price(option: Option) -> Markup | str:
    note = option.price.note
    day = f"of {option.price.date}" if option.price.date else ""
    return two_lines(note, aged(option).strip(" ()") or day) if note else ""
