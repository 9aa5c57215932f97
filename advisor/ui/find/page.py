"""Main part of the Find page: target, answer, table, charts, command."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from advisor.advice.finder.search import Hit
from advisor.formatting import context_size, money, number, tokens_per_second
from advisor.request.request import NOTHING, Request
from advisor.runtimes import LLAMA_CPP
from advisor.ui.find.answer import FindAnswer
from advisor.ui.find.chart import cost_against_speed
from advisor.ui.find.heat_map import heat_map
from advisor.ui.find.table import MOST_ROWS, hits_table
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.markup import block, notice, show
from advisor.ui.parts.points import points
from advisor.ui.question import current, inputs, uploads

ANY_SPEED = (3.0, 6.0, 10.0, 20.0, 40.0)
"""Least speeds to choose from [tokens/s]."""
OFFERS = ("Buy", "Rent", "Both")
FILTERS = ("max_usd_per_month", "max_usd", "format", "kv_type", "runtime", "contexts", "min_tps")
_SPEED, _OFFER = "least_speed", "offers"


def head() -> None:
    """Purpose of the page, and the least speed."""
    show(block("oa-title", "Machines", "h1"))
    show(block("oa-sub", "Which machine runs a model fast enough, and what it costs.", "p"))
    with st.container(horizontal=True, key="target", vertical_alignment="bottom", gap="medium"):
        now = target().min_tps
        st.session_state[_SPEED] = now if now in ANY_SPEED else None
        st.pills(
            "At least, tokens a second", ANY_SPEED, key=_SPEED, on_change=_take_speed,
            format_func="{:g}".format,
        )  # fmt: skip
        st.segmented_control("Offers", OFFERS, default="Both", key=_OFFER, required=True)
        part = st.popover("Other filters", on_change="rerun", key="filters")
        if part.open:
            with part:
                inputs.several(FILTERS)
                st.toggle(
                    "Cards go into a new desktop", current.present().nothing, key="new_desktop",
                    on_change=_take_desktop,
                )  # fmt: skip


def _take_speed() -> None:
    if speed := st.session_state[_SPEED]:
        current.change(f"Least speed: {number(speed)}", min_tps=speed)


def _take_desktop() -> None:
    new = st.session_state["new_desktop"]
    current.change("Cards: new desktop", cards_owned=NOTHING if new else None)


def target() -> Request:
    """The request with a least speed, reading speed where none is stated, and in llama.cpp where no
    runtime is: trying all takes some seconds.
    """
    request = current.present()
    return replace(
        request, min_tps=request.min_tps or request.reading_tps,
        runtime=request.runtime or LLAMA_CPP.name,
    )  # fmt: skip


def shown(answer: FindAnswer) -> None:
    """Table, charts and command of the found machines."""
    for sentence in current.problems():
        notice(sentence, "warning")
    show(block("oa-verdict", verdict(answer), "p"))
    with st.container(horizontal=True, key="find_switches"):
        unpriced = st.toggle("Also what has no price on record", key="unpriced")
        every = st.toggle("Every format and runtime of a machine", key="every")
    rows = _rows(answer, unpriced=unpriced, every=every)
    if rows:
        _table_and_chart(answer, rows)
        heat_map(answer)
    _command(answer)


def verdict(answer: FindAnswer) -> str:
    """Answer in words: the cheapest machine, and the fastest for its cost."""
    able = [hit for hit in answer.best if hit.may_win]
    if not able:
        return (
            f"Nothing with a price on record reaches {_wish(answer)}. Lower the speed, raise the "
            "budget, or allow any format, runtime and cache."
        )
    cheapest = min(able, key=lambda hit: hit.order)
    machines = len({(hit.name, hit.count) for hit in able})
    owned = [hit for hit in able if hit.offer == "bought"]
    to_buy = min(owned, key=lambda hit: hit.order, default=None)
    parts = [
        f"{machines} machine{'s' if machines > 1 else ''} reach {_wish(answer)}."
        if machines > 1
        else f"One machine reaches {_wish(answer)}.",
        f"Cheapest: {_told(cheapest)}.",
    ]
    if to_buy is not None and to_buy is not cheapest:
        parts.append(f"Cheapest to buy: {_told(to_buy)}, {money(to_buy.upfront or 0.0)} at once.")
    return " ".join(parts)


def _wish(answer: FindAnswer) -> str:
    chosen = answer.request
    users = f" for {chosen.users} users" if chosen.users > 1 else ""
    unit = chosen.paying.usd
    limits = (
        f", within {money(chosen.max_usd_per_month * unit)} a month"
        if chosen.max_usd_per_month is not None
        else "",
        f", within {money(chosen.max_usd * unit)} at once" if chosen.max_usd is not None else "",
    )
    speed = tokens_per_second(chosen.min_tps)
    sizes = " or ".join(map(context_size, chosen.contexts or (float(chosen.context),)))
    return f"{speed} with {answer.model.name} at {sizes}{users}{''.join(limits)}"


def _told(hit: Hit) -> str:
    old = f", {hit.aged}" if hit.aged else ""
    return (
        f"{hit.title} {hit.offer}, {number(hit.speed.decode)} tokens/s in {hit.speed.format}, "
        f"{money(hit.monthly or 0.0)} a month{old}"
    )


def _rows(answer: FindAnswer, *, unpriced: bool, every: bool) -> list[Hit]:
    rows = answer.findings.hits if every else answer.best
    wanted = {"Buy": ("bought",), "Rent": ("rented",)}.get(
        str(st.session_state.get(_OFFER)), ("bought", "rented")
    )
    return [hit for hit in rows if (unpriced or hit.monthly is not None) and hit.offer in wanted]


def _table_and_chart(answer: FindAnswer, rows: Sequence[Hit]) -> None:
    hits_table(answer, rows)
    more = f"The first {MOST_ROWS} of {len(rows):,} rows. " if len(rows) > MOST_ROWS else ""
    show(
        block(
            "oa-soft", f"{more}Click a heading to sort. {answer.findings.tried:,} combinations "
            f"of machine, format, cache, placement and context were tried; "
            f"{answer.findings.costed:,} had to be timed, and exact bounds exclude the others. "
            f"Cards go into {_host(answer)}.", "p",
        )
    )  # fmt: skip
    st.subheader("Cost of a month against speed", anchor="front")
    show(points(cost_against_speed(answer.best, answer.front)))


def _host(answer: FindAnswer) -> str:
    """Host of the cards, in words."""
    return "a new desktop" if answer.request.nothing else answer.host.host.name


def _command(answer: FindAnswer) -> None:
    st.subheader("The same on the command line", anchor="command")
    copyable(uploads.command_of(answer.request, "find"))
    if not uploads.is_given(answer.request.model):
        show(block("oa-soft", "The address of this page reopens it as it is.", "p"))
