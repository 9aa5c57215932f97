"""Main part of the page Machines: target, sentence, ten rows and picture, all rows."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from functools import partial
from threading import Lock

import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import buys_of, findings_of
from advisor.advice.finder.combinations import card_host, in_pieces
from advisor.advice.finder.search import Findings, Hit
from advisor.advice.judgement import Judgement, judged
from advisor.advice.table.buys import placed
from advisor.advice.table.option import FELT, Option, OptionKind
from advisor.advice.words.phrases import plain
from advisor.errors import AdvisorError
from advisor.formatting import capitalised, context_size, hours, money
from advisor.request.request import NOTHING, Request
from advisor.runtimes import LLAMA_CPP
from advisor.ui.advise import placements, ways
from advisor.ui.find.all_rows import MOST_ROWS, advise_link, hits_table, rented_hours
from advisor.ui.find.cost_chart import cost_against_speed
from advisor.ui.find.heat_map import heat_map
from advisor.ui.parts import tabs
from advisor.ui.parts.drawing import points
from advisor.ui.parts.markup import (
    block,
    copyable,
    heading,
    joined,
    link,
    notice,
    progress,
    say,
    show,
    table,
    two_lines,
    waiting,
)
from advisor.ui.question import current, inputs, models, presets, this_machine
from advisor.ui.question.answer import current_answer, key_of
from advisor.ui.question.models import Picked
from advisor.units import number, tokens_per_second

# Machines that reach the target, computed once per request.


class Search:
    """Findings of a request, saved for visitors who ask the same."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.findings: Findings | None = None


@st.cache_resource(
    max_entries=32, ttl=3600, show_spinner=False, hash_funcs={Request: repr, Picked: key_of}
)
def _search(
    request: Request,  # noqa: ARG001 - a part of the key
    picked: Picked,  # noqa: ARG001 - a part of the key
    calibrated: int,  # noqa: ARG001 - a part of the key
) -> Search:
    """Search of a request, found or not; `calibrated` changes with every new measurement of this
    machine.
    """
    return Search()


PAUSE = 0.002
"""Pause between two pieces of a search, in which the threads of other visitors go on [s]."""


def answer(
    request: Request, picked: Picked, calibrated: int, told: Callable[[float], None] | None = None
) -> Findings:
    """Answer to a request, computed by the first visitor who asks.

    It is computed in pieces, so that others get their turn; `told` gets the share that is done.
    Raises AdvisorError where the request is impossible.
    """
    search = _search(request, picked, calibrated)

    def between(done: float) -> None:
        time.sleep(PAUSE)
        if told is not None:
            told(done)

    with search.lock:
        if search.findings is None:
            nouns = request.nouns(picked.resolved)
            search.findings = findings_of(nouns, partial(in_pieces, told=between))
        return search.findings


def present_answer() -> Findings:
    """Answer to the visitor's request; raises as `answer`."""
    with waiting("Trying every GPU of the catalogue in every number and format."):
        picked = models.pick(current.present().model)
        with progress() as told:
            return answer(target(), picked, this_machine.calibrated_at(), told)


Cells = tuple[Markup, Markup, Markup, str]
BUDGETS = (500.0, 1000.0, 2000.0, 5000.0)  # budgets to choose from, in the typed currency
FILTERS = ("max_usd_per_month", "max_usd", "format", "kv_type", "runtime", "contexts", "min_tps")
_BUDGET = "budget"
TAB = "machines_tab"
ALL_ROWS = "All rows"
OTHERS = "Other models on these"
TERMINAL = "Command"
FIRST = 10  # rows beside the picture


class OfferKind(StrEnum):
    """Ways to get a machine or an answer, for the visitor to choose from."""

    BUY = "Buy"
    RENT = "Rent"
    BOTH = "Both"
    ADD = "Add to mine"
    API = "API"

    @property
    def offers(self) -> tuple[str, ...]:
        """Kinds of offer of the finder; none for kinds that the options of the present machine
        have.
        """
        both = {"Buy": ("bought",), "Rent": ("rented",), "Both": ("bought", "rented")}
        return both.get(self, ())


def choose() -> OfferKind:
    """Least speed, way to get it, and other filters."""
    with st.container(horizontal=True, key="target", vertical_alignment="bottom", gap="medium"):
        now = current.present().max_usd
        st.session_state[_BUDGET] = now if now in BUDGETS else None
        st.pills(
            "Budget",
            BUDGETS,
            format_func=money,
            **current.taking(
                _BUDGET, lambda usd: current.change(f"Budget: {_budget(usd)}", max_usd=usd)
            ),
        )
        kind = st.segmented_control(
            "How to get it",
            list(OfferKind),
            default=OfferKind.BUY,
            key="offers",
            required=True,
            bind="query-params",
            format_func=str,
        )
        tabs.popped("Other filters", "filters", _filters)
        presets.undo()
    return kind


def _budget(usd: float | None) -> str:
    if usd is None:
        return "any"
    return money(usd)


def _filters() -> None:
    inputs.several(FILTERS)
    st.toggle(
        "GPUs go into a new desktop",
        current.present().nothing,
        key="new_desktop",
        on_change=_take_desktop,
    )
    st.toggle("Also what has no price on record", key="unpriced", persist_state="session")
    st.toggle("Every format and runtime of a machine", key="every", persist_state="session")


def _take_desktop() -> None:
    new = st.session_state["new_desktop"]
    current.change("GPUs: new desktop", cards_owned=NOTHING if new else None)


def target(request: Request | None = None) -> Request:
    """Request of the page, with a least speed and in one runtime.

    The speed is reading speed where none is stated; trying all runtimes takes some seconds.
    """
    request = request or current.present()
    return replace(
        request,
        min_tps=request.min_tps or request.reading_tps,
        runtime=request.runtime or _usual_runtime(request),
    )


SERVES_MANY = "vLLM"  # runtime for several users where nothing is owned


def _usual_runtime(request: Request) -> str:
    """llama.cpp for one user; for several the one that serves them best on what one has."""
    if request.users == 1:
        return LLAMA_CPP.name
    with suppress(AdvisorError):
        best = current_answer().advice.best
        if best is not None and not request.nothing:
            return best.runtime.name
    return SERVES_MANY


def _owned() -> Option | None:
    """Option of the present machine, by the advice on it; None without a machine."""
    with suppress(AdvisorError):
        if not current.present().nothing:
            return current_answer().advice.options[0]
    return None


def _above_owned() -> float:
    """Speed from which a machine is surely faster than the present one [tokens/s]; 0 without one,
    or where a least speed is stated.
    """
    owned = _owned()
    if owned is None or current.present().min_tps:
        return 0.0
    return FELT * owned.decode


def shown(answer: Findings, kind: OfferKind) -> None:
    """Show the sentence, ten rows and the picture, and the tabs."""
    for sentence in current.visit().problems:
        notice(sentence, "warning")
    if not kind.offers:
        _options(kind)
        return
    first, rest, way = verdict(answer, kind)
    level = placements.tone(_level(_first(answer, kind)))
    rows = _rows(answer, kind)
    chosen = [hit for hit in answer.best if hit.offer in kind.offers]
    way = f"{answer.overload} {way} {_in_tiers(answer, kind)}".strip()
    parts = [heading(first, rest, f"oa-{level}-text"), block("oa-way", f"{way} {_safe()}", "p")]
    if kind is OfferKind.BUY and (bought := _budgeted()):
        parts = [bought, block("oa-way", f"{first} {rest} {way}", "p")]
    if rows:
        picture = points(cost_against_speed(chosen, _owned()))
        named = rows[:FIRST]
        ten = _listed(named, (_row(answer, hit) for hit in named))  # each opens Advise
        sides = ten + block("oa-beside", picture)
        parts.append(block("oa-sides", sides))
    with st.container(key="best_machines"):
        show(joined(parts))
    if rows:
        bodies: Mapping[str, Callable[[], None]] = {
            OTHERS: lambda: heat_map(answer, rows),
            ALL_ROWS: lambda: _all(answer, rows),
            TERMINAL: lambda: _command(answer),
        }
        tabs.opened(bodies, TAB)


IN_PLACE = "in place of your cards"


def verdict(answer: Findings, kind: OfferKind = OfferKind.BOTH) -> tuple[str, str, str]:
    """Cheapest machine in coloured words, its speed, and the second line."""
    best = _first(answer, kind)
    if best is None:
        return (
            "Nothing with a price on record is fast enough.",
            "",
            f"Wanted: {_wish(answer)}. Lower the speed, raise the budget, or allow any format, "
            "runtime and cache.",
        )
    to = "buy" if best.offer == "bought" else "rent"
    users = answer.request.users
    if users > 1:
        each = f" for each of {users} users"
    else:
        each = ""
    speed = f" {number(best.decode)} tokens a second{each}, {_level(best)}."
    able = [hit for hit in answer.best if hit.priced and hit.offer in kind.offers]
    machines = len({hit.name for hit in able})
    if machines > 1:
        counted = f"{machines} machines reach"
    else:
        counted = "One machine reaches"
    others = (hit for hit in answer.best if hit.priced and hit.offer != best.offer)
    others = (hit for hit in answer.best if hit.priced and hit.offer != best.offer)
    beside = next(others, None)
    told = _with_margin(answer, able, best)
    if beside is not None:
        way = "rent" if to == "buy" else "buy"
        told += f" Cheapest to {way}: {beside.title}, {_price(beside)}."
    cost = f"{_price(best)}, in {best.speed.format}"
    if best.kind is OptionKind.REPLACE:
        how = IN_PLACE
    else:
        how = f"to {to}"
    return (
        f"Cheapest {how}: {best.title},",
        speed,
        f"{capitalised(cost)}. {counted} {_wish(answer)}.{told}",
    )


def _in_tiers(answer: Findings, kind: OfferKind) -> str:
    """Sentences on engines with experts in tiers, on the present machine and on cheaper ones; empty
    with a chosen runtime, or without purchases.
    """
    if kind is not OfferKind.BUY or current.present().runtime:
        return ""
    findings = answer.in_any_engine
    told = []
    if findings.free is not None:
        told.append(f"Free, on what you have: {_in_engine(findings.free)}.")
    if findings.in_tiers:
        least = tokens_per_second(findings.least_in_tiers)
        hit = findings.in_tiers[0]
        told.append(
            f"Cheaper at {least}, with experts in tiers: {hit.title} in {hit.speed.runtime}, "
            f"{_in_engine(hit)}, {money(hit.upfront or 0.0)}."
        )
    return " ".join(told)


def _in_engine(hit: Hit) -> str:
    """Engine's speed and what it asks."""
    speed = f"{number(hit.decode)} tokens a second"
    asks = hit.price.note.removeprefix("free, ")
    if hit.kind is OptionKind.CHANGE:
        return f"{hit.name}, {speed}, {asks}"
    return f"{speed}, {asks}"


def _with_margin(answer: Findings, able: Iterable[Hit], best: Hit) -> str:
    """Cheapest that is fast enough by more than predictions err, where the cheapest is not."""
    wanted = FELT * answer.request.min_tps
    if best.decode >= wanted:
        return ""
    hit = next((hit for hit in able if hit.decode >= wanted), None)
    if hit is None:
        return ""
    speed = tokens_per_second(hit.decode)
    cost = money(hit.monthly or 0.0)
    return f" It is hardly fast enough; surer: {hit.title}, {speed} for {cost} a month."


def _first(answer: Findings, kind: OfferKind) -> Hit | None:
    """Cheapest machine that many people run, or the cheapest of all; None without any."""
    least = _above_owned()
    able = (hit for hit in answer.best if hit.priced and hit.offer in kind.offers)
    fast = [hit for hit in able if hit.decode >= least]
    return min(fast, key=lambda hit: bool(answer.oddities(hit)), default=None)


def _level(row: Option | None) -> Judgement:
    speed = None if row is None else row.speed
    return judged(speed, current.present().reading_tps)


def _price(hit: Hit) -> str:
    """Words on the price at once, or on the hours of a rent, with the cost of a month."""
    monthly = f"{money(hit.monthly or 0.0)} a month"
    if rented_for := rented_hours(hit):
        return f"{monthly} for {hours(rented_for)} of rent{hit.aged}"
    return f"{money(hit.upfront or 0.0)} at once, {monthly} with power{hit.aged}"


def _wish(answer: Findings) -> str:
    chosen = answer.request
    if chosen.users > 1:
        users = f" for {chosen.users} users"
    else:
        users = ""
    unit = chosen.paying.usd
    limits = (
        f", within {money(chosen.max_usd_per_month * unit)} a month"
        if chosen.max_usd_per_month is not None
        else "",
        f", within {money(chosen.max_usd * unit)} at once" if chosen.max_usd is not None else "",
    )
    speed = tokens_per_second(chosen.min_tps)
    sizes = " or ".join(map(context_size, chosen.contexts or (float(chosen.context),)))
    return f"{speed} with {answer.question.model.title} at {sizes}{users}{''.join(limits)}"


def _safe() -> str:
    """Sentence on the safe choice for the present machine, as on Advise; empty where Advise has no
    answer.
    """
    with suppress(AdvisorError):
        choice = current_answer().advice.choice
        if choice.safe is None:
            return f"For what you have, the safe choice is to buy nothing. {choice.reason}"
        name = plain(choice.safe.name)
        if choice.safe.is_free_setting:
            return f"Before anything is bought, free: {name}."
        cost = money(choice.safe.upfront or 0.0)
        return f"The safe choice for what you have: {name}, {cost}. {choice.reason}"
    return ""


def _budgeted() -> Markup:
    """Safe choice, then best buy, cheapest and fastest within the budget, by the rules of
    Advise; empty where Advise has no answer, or nothing is owned.
    """
    with suppress(AdvisorError):
        answer = current_answer()
        advice = answer.advice
        if answer.nouns.request.nothing:
            return Markup()
        picks = buys_of(answer)
        have = number(advice.options[0].decode) if advice.options[0].speed else "nothing"
        title = f"For {answer.nouns.model.title} you have {have} tokens a second."
        rows = [_buy(name, option) for name, option in picks.named]
        named = [option for _, option in picks.named]
        told = _safe() or ""
        if not rows:
            told += " Nothing within the budget is notably faster at a price of this half-year."
        return joined(
            (
                heading(title, "", "oa-partly-text"),
                block("oa-way", told, "p"),
                *((_listed(named, rows, "Buys within the budget"),) if rows else ()),
            )
        )
    return Markup()


def _buy(name: str, option: Option) -> Cells:
    """Best buy, cheapest or fastest: into the present machine, or a new one."""
    row = _option(option)
    title = two_lines(f"{name}: {plain(option.name)}", f"{placed(option)}, {option.price.note}")
    return (title, *row[1:])


def _rows(answer: Findings, kind: OfferKind) -> list[Hit]:
    """Machines that are shown, those that many run before odd ones."""
    state = st.session_state
    if state.get("every"):
        rows = answer.hits
    else:
        rows = answer.best
    unpriced = state.get("unpriced")
    least = _above_owned()
    able = [
        hit
        for hit in rows
        if (unpriced or hit.monthly is not None)
        and hit.offer in kind.offers
        and hit.decode >= least
    ]
    return sorted(able, key=lambda hit: bool(answer.oddities(hit)))


HEADINGS = ("Machine", "tokens/s", "A month", "At once")


def _listed(
    options: Sequence[Option],
    rows: Iterable[Sequence[object]],
    label: str = "The cheapest month first",
) -> Markup:
    """Table of the few options that are named, with the months of old prices above it; two on a
    page need labels of their own.
    """
    return block("oa-ten", _old(options) + table(HEADINGS, rows, label=label, numeric=(1, 2, 3)))


def _old(options: Iterable[Option]) -> Markup:
    """Sentence on the months of old prices, which the table marks; empty where none is old."""
    dates = sorted(option.price.date[:7] for option in options if option.aged)
    if not dates:
        return Markup()
    if dates[0] == dates[-1]:
        months = dates[0]
    else:
        months = f"{dates[0]} to {dates[-1]}"
    return block("oa-soft", f"* old prices, of {months}", "p")


def _row(answer: Findings, hit: Hit) -> Cells:
    name = link(advise_link(hit, answer.request), hit.title)
    where = f"{hit.speed.format}, {hit.speed.strategy.heading}"
    if not hit.keeps_up:
        where = f"{where}, cannot keep up"
    if odd := answer.oddities(hit):
        where = f"{where}. Odd: {odd[0]}"
    if rented_for := rented_hours(hit):
        return _cells(hit, name, where, f"{hours(rented_for)} of rent", "rented")
    return _cells(hit, name, where)


def _cells(option: Option, name: Markup | str, where: str, told: str = "", once: str = "") -> Cells:
    """Name, speed, month, and what is paid at once, each with words below."""
    speed = option.speed
    month = option.monthly
    mark = "*" if option.aged else ""
    if speed is None:
        words = "not on record here"
    else:
        words = placements.BADGES[_level(option)][0]
    return (
        two_lines(name, where),
        two_lines(number(speed.decode) if speed else "", words),
        two_lines("no price" if month is None else f"{money(month)}{mark}", told),
        once or (f"{money(option.upfront)}{mark}" if option.upfront else ""),
    )


def _options(kind: OfferKind) -> None:
    """Show the options of Advise of a kind: cards for the present machine, or APIs."""
    if kind is OfferKind.ADD:
        kinds = (OptionKind.ADD,)
    else:
        kinds = (OptionKind.API,)
    answer = current_answer()
    least = target().min_tps
    rows = [
        option
        for option in answer.advice.options
        if option.kind in kinds
        and option.monthly is not None
        and (option.speed is None or option.speed.decode >= least)
    ]
    rows.sort(key=lambda option: (option.speed is None, option.monthly or 0.0))
    if kind is OfferKind.ADD:
        what = "added to what you have"
    else:
        what = "by API"
    wish = f"{tokens_per_second(least)} with {answer.nouns.model.title}"
    if not rows:
        show(heading(f"Nothing on record {what} gives {wish}.", "", "oa-bad-text"))
        return
    best = rows[0]
    level = _level(best)
    if best.speed:
        speed = f" {number(best.decode)} tokens a second, {level}."
        tone = placements.tone(level)
    else:
        speed = ""
        tone = "partly"
    first = f"Cheapest {what}: {plain(ways.spelled(best))}{',' if speed else '.'}"
    show(heading(first, speed, f"oa-{tone}-text"))
    if kind is OfferKind.API:
        say("Your texts leave your house. Speeds are the providers' own.", "oa-way")
    show(_listed(rows, map(_option, rows)))


def _option(option: Option) -> Cells:
    name: Markup | str = plain(ways.spelled(option))
    if option.machine is not None and option.machine.gpus:
        stated = ways.parts_of(option.machine, current.present())
        name = link(current.link(replace(current.present(), **stated)), name)
    return _cells(option, name, "; ".join(option.odd) or option.price.note)


def _all(answer: Findings, rows: Sequence[Hit]) -> None:
    hits_table(answer, rows)
    new = answer.request.nothing
    machine = answer.question.machine
    if new:
        host = "a new desktop"
    else:
        host = card_host(machine).host.name
    if len(rows) > MOST_ROWS:
        more = f"The first {MOST_ROWS} of {len(rows):,} rows. "
    else:
        more = ""
    say(
        f"{more}Click a heading to sort. {answer.rows.tried:,} combinations "
        f"of machine, format, cache, placement and context were tried; "
        f"{answer.rows.costed:,} had to be timed, and exact bounds exclude the others. "
        f"GPUs go into {host}."
    )


def _command(answer: Findings) -> None:
    copyable(models.command_of(answer.request, "find"))
    if not models.is_given(answer.request.model):
        say("The address of this page reopens it as it is.")
