"""Sortable table of the machines that reach the target; a row links to Advise."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from advisor.advice.compare import TITLES
from advisor.advice.finder.search import Hit
from advisor.advice.prices.rows import no_price
from advisor.formatting import context_size, shown_currency
from advisor.ui.find.answer import FindAnswer
from advisor.ui.find.links import advise_link

MOST_ROWS = 400
"""Rows that the table shows; the command prints all."""
HEIGHT = 458
"""Height of the table, twelve rows; it scrolls [pixels]."""


def hits_table(answer: FindAnswer, rows: Sequence[Hit]) -> None:
    """Table, cheapest month first."""
    shown = rows[:MOST_ROWS]
    paid = shown_currency()
    several = len(answer.request.contexts) > 1
    columns = {
        "Machine": [hit.title for hit in shown],
        **({"Context": [context_size(hit.context) for hit in shown]} if several else {}),
        "tokens/s": [hit.speed.decode for hit in shown],
        "A month": [_in(hit.monthly, paid.usd) for hit in shown],
        "At once": [_in(hit.upfront, paid.usd) for hit in shown],
        "Bought or rented": [hit.offer for hit in shown],
        "Format": [hit.speed.format for hit in shown],
        "Advise": [advise_link(hit, answer.request, answer.host) for hit in shown],
        "At least": [hit.speed.low for hit in shown],
        "At most": [hit.speed.high for hit in shown],
        "Weights are": [TITLES[hit.speed.strategy] for hit in shown],
        "First token": [hit.speed.first_token for hit in shown],
        "Runtime": [hit.speed.runtime for hit in shown],
        "KV cache": [hit.kv_type for hit in shown],
        "Price of": [_age(hit) for hit in shown],
    }
    st.dataframe(
        columns,
        hide_index=True,
        height=min(38 + 35 * len(shown), HEIGHT),
        column_config=_columns(paid.sign),
        key="hits",
        alt="Machines that meet the target, the cheapest month first",
    )


def _in(usd: float | None, unit: float) -> float | None:
    return None if usd is None else usd / unit


def _age(hit: Hit) -> str:
    if hit.monthly is None:
        return no_price(hit.machine.gpus[0].name)
    if not hit.price.date:
        return "as you typed" if hit.price.dated else "no date"
    if hit.price.listed:
        return f"{hit.price.date}, at launch"
    return f"{hit.price.date}, old" if hit.stale else hit.price.date


def _columns(sign: str) -> dict[str, Any]:
    """Format and help of each column."""
    config = st.column_config
    speed = "%.1f"
    return {
        "Machine": config.TextColumn(
            width=165, pinned=True,
            help="GPUs in one machine, or a machine that is sold whole.",
        ),
        "Bought or rented": config.TextColumn(
            width=110, help="Bought, or rented by the hour of use."
        ),
        "tokens/s": config.NumberColumn(
            format=speed, width=74, help="Tokens generated in a second for each user, as predicted."
        ),
        "At least": config.NumberColumn(
            format=speed, help="Lower end of the range that should hold the speed 4 times in 5."
        ),
        "At most": config.NumberColumn(format=speed, help="Upper end of that range."),
        "A month": config.NumberColumn(
            format=f"{sign}%,.2f", width=84,
            help="All of a month: what is bought spread over its months, rent by use, power.",
        ),
        "At once": config.NumberColumn(
            format=f"{sign}%,.0f", width=84,
            help="Paid once: cards and the parts they need, or the whole machine.",
        ),
        "Advise": config.LinkColumn(
            display_text="open", width=62, help="Opens Advise with this machine filled in."
        ),
        "Format": config.TextColumn(width="small", help="How the weights are packed."),
        "Weights are": config.TextColumn(
            help="Place of the weights: in the GPU alone, or in part in RAM or on the drive."
        ),
        "First token": config.NumberColumn(
            format="%.2f s", help="Seconds until the first token of a reply."
        ),
        "Runtime": config.TextColumn(help="The program that runs the model."),
        "Context": config.TextColumn(
            width=64, help="Tokens that the cache has room for, for each user."
        ),
        "KV cache": config.TextColumn(width="small", help="Format of the cache."),
        "Price of": config.TextColumn(
            help="Day of the oldest price in it. Old: more than 90 days; it may have changed."
        ),
    }  # fmt: skip
