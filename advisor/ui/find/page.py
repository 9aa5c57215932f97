"""Main part of the Find page: target, answer, table, charts, command."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import streamlit as st

from advisor.advice.finder.search import Hit
from advisor.errors import AdvisorError
from advisor.formatting import context_size, money, number, tokens_per_second
from advisor.request.command_line import command
from advisor.ui.find.answer import FindAnswer, TargetChoices
from advisor.ui.find.chart import cost_against_speed
from advisor.ui.find.heat_map import heat_map
from advisor.ui.find.table import MOST_ROWS, hits_table
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.markup import block, notice, show
from advisor.ui.parts.points import points
from advisor.ui.sidebar import uploads
from advisor.ui.sidebar.target_fields import NEW_DESKTOP
from advisor.ui.sidebar.widgets import ask, switch


def target() -> TargetChoices:
    """Inputs of the target."""
    amounts = ("leasttps", "mostmonth", "mostonce", "cardsin")
    values = {}
    for group in (amounts, ("formats", "engine", "caches", "contexts")):
        for column, key in zip(st.columns(len(group), gap="small"), group, strict=True):
            with column:
                values[key] = ask(key)
    return TargetChoices(**values)


def head() -> None:
    """Title and purpose of the page."""
    show(block("oa-title", "Find", "h1"))
    show(block("oa-sub", "Which machine runs a model fast enough, and what it costs.", "p"))


def unanswered(error: AdvisorError | str, problems: Iterable[str]) -> None:
    """Message for inputs that have no answer."""
    for sentence in problems:
        notice(sentence, "warning")
    notice(str(error), "error" if isinstance(error, AdvisorError) else "warning")


def shown(answer: FindAnswer, problems: Iterable[str]) -> None:
    """Table, charts and command of the found machines.

    Args:
        answer: what was found.
        problems: problems with the opened link, one sentence each.
    """
    for sentence in problems:
        notice(sentence, "warning")
    show(block("oa-verdict", verdict(answer), "p"))
    unpriced, every = (switch(key) for key in ("unpriced", "every"))
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
    chosen, target = answer.choices, answer.target
    users = f" for {chosen.users} users" if chosen.users > 1 else ""
    unit = chosen.paying.usd
    limits = (
        f", within {money(target.mostmonth * unit)} a month"
        if target.mostmonth is not None
        else "",
        f", within {money(target.mostonce * unit)} at once" if target.mostonce is not None else "",
    )
    speed = tokens_per_second(target.leasttps)
    sizes = " or ".join(map(context_size, answer.request.contexts)) or chosen.context
    return f"{speed} with {answer.model.name} at {sizes}{users}{''.join(limits)}"


def _told(hit: Hit) -> str:
    old = f", {hit.aged}" if hit.aged else ""
    return (
        f"{hit.title} {hit.offer}, {number(hit.speed.decode)} tokens/s in {hit.speed.format}, "
        f"{money(hit.monthly or 0.0)} a month{old}"
    )


def _rows(answer: FindAnswer, *, unpriced: bool, every: bool) -> list[Hit]:
    rows = answer.findings.hits if every else answer.best
    return [hit for hit in rows if unpriced or hit.monthly is not None]


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
    return NEW_DESKTOP if answer.request.nothing else answer.host.host.name


def _command(answer: FindAnswer) -> None:
    st.subheader("The same on the command line", anchor="command")
    copyable(command(replace(answer.request, model=answer.choices.copied.model), "find"))
    if not uploads.is_given(answer.choices.model):
        show(block("oa-soft", "The address of this page reopens it as it is.", "p"))
