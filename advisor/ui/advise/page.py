"""The Advise page: verdict, placements, ways out, certainty, and tabs drawn when opened."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice.compare import TITLES, decode_tps
from advisor.advice.prices.rows import NO_PRICE, is_stale
from advisor.advice.table.option import Option, OptionKind, on_front, split
from advisor.advice.table.sensitivity import in_question, what_changes
from advisor.advice.words.verdict import (
    Judgement,
    VerdictText,
    aged,
    context_notes,
    pays_when,
    price_notes,
)
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import Refusal
from advisor.evidence.accuracy.coverage import CoverageRow, coverage_like
from advisor.evidence.accuracy.regimes import description
from advisor.formatting import (
    hours,
    money,
    number,
    percent,
    range_of,
    shown_currency,
    tokens_per_second,
)
from advisor.machine.quantity import Provenance
from advisor.reports import charts, from_advice
from advisor.reports.document import SensitivityRow, input_name, interval
from advisor.request.money import MoneyInputs
from advisor.ui.advise import (
    explanation,
    placements,
    ways,
)
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts import unforeseen
from advisor.ui.parts.glossary import explained_in_turn, term
from advisor.ui.parts.markup import (
    block,
    copyable,
    heading,
    joined,
    notice,
    plain_words,
    show,
    table,
    two_lines,
)
from advisor.ui.parts.palette import palette
from advisor.ui.question import chips, current, presets, this_machine, uploads

if TYPE_CHECKING:
    from advisor.ui.parts.plane import Scale
    from advisor.ui.parts.points import PointChart, PointGroup

# Table of cheaper changes, and the age of a price.


def price_note(note: str, today: date | None = None) -> str:
    """Price note of a report, with a warning for an old price."""
    dated = re.search(r"(?:priced|read) (\d{4}(?:-\d\d){0,2})", note)
    old = dated is not None and is_stale(dated[1], today or datetime.now(UTC).date())
    return f"old price: {note}" if old else note


def what_ifs(answer: AdviseAnswer) -> None:
    """Changes other than a bigger GPU, largest gain first."""
    changes = answer.advice.what_ifs
    if not changes:
        show(block("oa-soft", "No smaller change makes it notably faster.", "p"))
        return
    row = Markup("<div><span>{}</span><span>{}</span><b>{}</b></div>")
    names = explained_in_turn(change.words for change in changes[:7])
    rows = (
        row.format(
            two_lines(name, change.cost),
            f"+{100 * (change.gain - 1):.0f} %",
            tokens_per_second(change.speed.decode),
        )
        for name, change in zip(names, changes[:7], strict=True)
    )
    show(block("oa-list", joined(rows)))


# SkyPilot task file that rents a GPU of the table, in a folded part.


def task_file(answer: AdviseAnswer) -> None:
    """Choice among the rented GPUs and the file; nothing if none is rented."""
    if not any(option.kind is OptionKind.RENT for option in answer.advice.options):
        return
    part = st.expander("Rent one with SkyPilot", key="open_renting", on_change="rerun")
    if not part.open:
        return
    with part:
        from advisor.advice import skypilot

        _task(skypilot.rented_estimates(answer.advice.question, answer.advice.options))


def _task(rented: Mapping[str, Estimate]) -> None:
    """File of a chosen machine, at first the one that leaves most of those with a name there."""
    from advisor.advice import skypilot

    if st.session_state.get("rented") not in rented:
        able = (name for name, estimate in rented.items() if skypilot.has_name(estimate))
        st.session_state["rented"] = next(able, next(iter(rented)))
    name = st.selectbox("GPU to rent", rented, key="rented")
    try:
        text = skypilot.task(rented[name])
    except Refusal as refusal:
        notice(str(refusal))
        return
    show(block("oa-soft", f"A task file for {skypilot.VERSION}. {ABOUT}", "p"))
    copyable(text)
    st.download_button(
        "Download task.yaml", text, "task.yaml", "application/yaml", on_click="ignore",
        key="task_file",
    )  # fmt: skip


ABOUT = (
    "It takes the cheapest GPU of this kind among the clouds you have keys for, which may not be "
    "the one whose price stands above. Rent runs until you end it."
)


# How certain the answer is: runs like it, what is assumed, and what makes it surer.

MANY, NEAR, FAIR = 30, 0.1, 0.25
"""Measured runs, and median errors, from which an answer is called surer."""
LEVELS = {3: "High certainty.", 2: "Middling certainty.", 1: "Low certainty."}


def line(answer: AdviseAnswer, best: Estimate | None) -> None:
    """One line with its action."""
    if best is None:
        return
    row = coverage_like(best)
    of_ram = best.strategy is not PlacementStrategy.GPU_RESIDENT or answer.machine.unified
    assumed = of_ram and answer.machine.host.bandwidth.kind is Provenance.ASSUMED
    with st.container(
        horizontal=True, key="certainty", vertical_alignment="center",
        horizontal_alignment="distribute",
    ):  # fmt: skip
        show(_words(dots(row, assumed=assumed), joined(_sentences(row, answer, assumed=assumed))))
        if answer.request.here:
            this_machine.measure("certainty")


def dots(row: CoverageRow | None, *, assumed: bool) -> int:
    """Certainty as one to three dots, by runs like this one and by what is assumed."""
    if row is None or row.median_error > FAIR:
        return 1
    sure = row.rows >= MANY and row.median_error <= NEAR and not assumed
    return 3 if sure else 2


def _words(level: int, sentences: Markup) -> Markup:
    mark = "\u25cf" * level + "\u25cb" * (3 - level)
    return Markup("<p><span class='oa-dots' aria-hidden='true'>{}</span><b>{}</b> {}</p>").format(
        mark, LEVELS[level], sentences
    )


def _sentences(row: CoverageRow | None, answer: AdviseAnswer, *, assumed: bool) -> Iterable[Markup]:
    if row is None:
        yield Markup("No published run is like this one. ")
    else:
        runs = term(f"{row.rows} measured runs like this", description(row.regime))
        yield Markup("{}, half within {}. ").format(runs, percent(row.median_error))
    if assumed:
        here = answer.request.here
        do = "measuring it takes seconds" if here else "set it above if you know it"
        yield Markup("The memory speed is assumed; {}. ").format(do)
    seen = this_machine.seen() if answer.request.here else None
    if seen is not None and seen.stale:
        yield Markup("{}").format(seen.stale)


# Chart of monthly cost against speed, with the Pareto front marked.

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


def cost_against_speed(options: Sequence[Option]) -> "PointChart":
    """Chart with a shape per kind of option and a line along the front."""
    from advisor.ui.parts.points import PointChart

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


def _group(rows: Sequence[tuple[Option, float, float]], kind: OptionKind, at: int) -> "PointGroup":
    from advisor.ui.parts.points import Point, PointGroup

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


# Sensitivity of the verdict: what would change it, and a tornado chart of its inputs.

ENDS = ("at the low end", "at the high end")


def what_changes_it(answer: AdviseAnswer) -> None:
    """Sensitivity of the option in the verdict, else of the one that pays at the fewest replies."""
    advice = answer.advice
    option, rows = in_question(advice.options, advice.choice.safe), from_advice.sensitivity(advice)
    if option is None:
        return
    st.markdown(f"**What the verdict depends on**: {option.name}")
    changes = what_changes(option, advice.options[0], advice.question.money)
    show(block("oa-soft", changes, "p"))
    show(tornado(rows, option.gain or 0.0))


def tornado(inputs: Sequence[SensitivityRow], middle: float) -> Markup:
    """Bars to both ends of what an option gains; the upright line is where it gains nothing.

    Args:
        inputs: gains at the ends of each input's range, widest first.
        middle: gain with all inputs as they are [USD/month].
    """
    from advisor.ui.parts.plane import Scale

    edges = [middle, 0.0, *(end for row in inputs for end in (row.gain_low_usd, row.gain_high_usd))]
    scale = Scale(low=min(edges), high=max(edges))
    rows = joined(_row(row, middle, scale) for row in inputs)
    return joined((block("oa-bars oa-tornado", rows), _legend()))


def _row(row: SensitivityRow, middle: float, scale: "Scale") -> Markup:
    ends = row.gain_low_usd, row.gain_high_usd
    words = Markup("<p>{}: <b>{} to {} more a month</b></p>").format(
        f"{input_name(row)}, {interval(row)}", *map(money, ends)
    )
    zero = Markup("<u style='left:{:.2f}%'></u>").format(scale.place(0.0))
    html = Markup("{}<div class='oa-track' aria-hidden='true'>{}{}</div>")
    return html.format(words, joined(_arms(ends, middle, scale)), zero)


def _arms(ends: tuple[float, float], middle: float, scale: "Scale") -> Iterable[Markup]:
    arm = Markup("<i title='{}: {}' style='left:{:.2f}%;width:{:.2f}%;background:{}'></i>")
    for name, end, colour in zip(ENDS, ends, palette().series, strict=False):
        near, far = sorted((scale.place(middle), scale.place(end)))
        yield arm.format(name, money(end), near, far - near, colour)


def _legend() -> Markup:
    item = Markup("<span><i style='background:{}'></i>{}</span>")
    keys = [item.format(colour, name) for name, colour in zip(ENDS, palette().series, strict=False)]
    keys.append(Markup("<span>\u2502 costs as much as what you have</span>"))
    return block("oa-key", joined(keys))


# Table of options, the present machine first, with their chart.

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
    from advisor.ui.parts.points import points

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
    rows = (_option_row(option, name, money) for option, name in zip(options, names, strict=True))
    return table(HEADINGS, rows, label="Options", numeric=(1, 2, 3, 4, 5))


def _option_row(option: Option, name: Markup, use: MoneyInputs) -> Sequence[object]:
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
        return plain_words(option.price.note) or NO_PRICE
    parts = (
        (cost.purchase, "bought"), (cost.tied_up, "tied up"), (cost.rent + cost.starts, "rent"),
        (cost.storage, "storage"),
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
    return two_lines(plain_words(note), aged(option).strip(" ()") or day) if note else ""


TABS = "advise_tab"
"""Session key of the open tab."""


def shown(answer: AdviseAnswer) -> None:
    """One answer, from what was understood down to the tabs."""
    advice = answer.advice
    best = advice.best
    chips.row(answer.machine, answer.resolved.model, answer.work, answer.resolved.taken_as)
    presets.machines()
    _notices(answer)
    verdict(advice.summary)
    placements.row(answer, best)
    ways.row(answer, open_tab)
    line(answer, best)
    _tabs(answer)


def _notices(answer: AdviseAnswer) -> None:
    model, machine = answer.resolved.model, answer.machine
    uncertain = answer.resolved.notes if model.architecture.shape_uncertainty else ()
    lengths = context_notes(model, answer.work)
    prices = price_notes(answer.advice.question)
    for sentence in (*current.problems(), *lengths, *prices, *uncertain):
        notice(sentence, "warning")
    if machine.software_notes and answer.request.stated().keys() & {"driver", "build", "numa"}:
        notice(" ".join(machine.software_notes))


TONES = {"good": "oa-good-text", "partly": "oa-partly-text", "bad": "oa-bad-text"}


def verdict(words: VerdictText) -> None:
    """The two lines, and what they are counted with."""
    first, colon, rest = words.gives.partition(":")
    tone = TONES[placements.tone(words.judgement)]
    if words.judgement is Judgement.NOTHING or not colon:
        first, rest = words.gives, ""
    else:
        first = f"{first}:"
    lines = (block("oa-way", words.way, "p"), block("oa-soft", words.assumptions, "p"))
    with st.container(key="told"):
        show(block("oa-told", joined((heading(first, rest, tone), *lines))))


def open_tab(title: str) -> None:
    """Open a tab (for callbacks)."""
    st.session_state[TABS] = title


def _tabs(answer: AdviseAnswer) -> None:
    bodies: Mapping[str, Callable[[AdviseAnswer], None]] = {
        "Run it": _run,
        ways.COSTS: _costs,
        "Where the time goes": _time,
        "All runtimes": _runtimes,
        "Sources": _sources,
    }
    tabs = st.tabs(list(bodies), key=TABS, on_change="rerun")
    # What only one tab draws is imported there, so that the page opens without it.
    for tab, body in zip(tabs, bodies.values(), strict=True):
        if tab.open:
            with tab:
                body(answer)


def _run(answer: AdviseAnswer) -> None:
    """The command of a program, and what to do where it is slower than said."""
    from advisor.ui.advise import runtime_table

    runtime_table.run_it(answer)
    if any(estimate.decode is not None for estimate in answer.advice.estimates):
        _measured(answer)


@st.fragment
@unforeseen.named()
def _measured(answer: AdviseAnswer) -> None:
    """Expander for a measured speed; what compares it is loaded when it is opened."""
    part = st.expander("Measured another speed?", key="diagnose", on_change="rerun")
    if part.open:
        from advisor.ui.advise import diagnosis

        with part:
            diagnosis.body(answer)


def _costs(answer: AdviseAnswer) -> None:
    st.subheader("Options", anchor="options")
    from advisor.ui.parts import comparison_charts

    options(answer)
    if curves := from_advice.cost_curves(answer.advice):
        comparison_charts.headed(charts.costs(curves), anchor="cost")
    task_file(answer)


def _time(answer: AdviseAnswer) -> None:
    from advisor.ui.advise import cards, concurrency
    from advisor.ui.parts import comparison_charts

    advice, machine, work = answer.advice, answer.machine, answer.work
    cards.cards(answer)
    left, right = st.columns(2, gap="medium")
    shown_cards = from_advice.shown_placements(advice)
    with left:
        if rows := from_advice.memory_use(advice, machine, work):
            comparison_charts.headed(charts.memory_use(rows), anchor="bytes")
        if any(card.fits for card in shown_cards):
            comparison_charts.headed(charts.speed(shown_cards), anchor="speed")
        sweep = from_advice.layer_sweep(advice, machine, work)
        if sweep is not None and len(sweep.x) > 1:
            comparison_charts.headed(charts.layers(sweep), anchor="layers")
    with right:
        if parts := from_advice.token_time(advice):
            comparison_charts.headed(charts.token_time(parts), anchor="time")
        if advice.best is not None:
            st.subheader("Faster, in order of gain", anchor="faster")
            what_ifs(answer)
    concurrency.in_place_or_streamed(answer)


def _runtimes(answer: AdviseAnswer) -> None:
    from advisor.ui.advise import concurrency, many_users, runtime_table

    runtime_table.runtimes(answer)
    concurrency.users_together(answer)
    many_users.many_users(answer)


def _sources(answer: AdviseAnswer) -> None:
    _how_sure(answer)
    for strategy in PlacementStrategy:
        estimate = answer.advice.card(strategy)
        if estimate is not None and estimate.step is not None:
            with st.expander(f"Figures behind {TITLES[strategy]}", key=f"figures_{strategy.name}"):
                show(joined(explanation.explanation(estimate)))
    from advisor.ui.advise import model_summary

    model_summary.expander(answer)
    notes = (*answer.resolved.notes, *answer.machine.notes)
    if notes:
        show(joined(block("oa-soft", plain_words(note), "p") for note in notes))
    st.subheader("The same on the command line", anchor="command")
    copyable(uploads.command_of(answer.request))


def _how_sure(answer: AdviseAnswer) -> None:
    """Accuracy of earlier predictions like these, and kinds of the figures behind the best."""
    st.subheader("How sure is this?", anchor="sure")
    best = answer.advice.best
    kinds = Counter(item.figure.kind.value for item in best.assumptions) if best else Counter()
    rests = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    sentences = (
        *_fared(answer),
        "A range should contain what you would measure in four cases of five.",
        f"The fastest placement rests on {sum(kinds.values())} figures: {rests}." if rests else "",
    )
    told = (Markup("{} ").format(sentence) for sentence in sentences if sentence)
    show(block("oa-why", joined(told), "p"))


def _fared(answer: AdviseAnswer) -> Iterable[Markup | str]:
    """Past accuracy of predictions like those shown, one sentence per kind of run."""
    each = (answer.advice.card(strategy) for strategy in PlacementStrategy)
    able: list[Estimate] = [card for card in each if card is not None and bool(card.fits)]
    rows = dict.fromkeys(row for card in able if (row := coverage_like(card)) is not None)
    for line in rows:
        runs = "measurement" if line.rows == 1 else "measurements"
        yield Markup(
            "Of {} {} of runs like this ({}), each predicted without its own source, {} lay within "
            "the range shown, and half within {} of the prediction."
        ).format(
            line.rows, runs, term(line.regime, description(line.regime)), line.held,
            percent(line.median_error),
        )  # fmt: skip
    from advisor.evidence.accuracy.others import measured_by_others

    best = answer.advice.best
    others = measured_by_others(best) if best else None
    if others is not None and best is not None and best.machine is not None:
        card, count = best.machine.gpus[0].name, others.publishers
        who = "One publisher has" if count == 1 else f"{count} publishers have"
        yield (
            f"{who} measured {best.model.name} in {best.model.format} on the {card}: "
            f"{range_of(others.low, others.high)} tokens/s"
            f"{f' ({others.years})' if others.years else ''}."
        )
    if any(coverage_like(card) is None for card in able):
        names = dict.fromkeys(TITLES[card.strategy] for card in able if coverage_like(card) is None)
        yield f"No published run like {' and '.join(names)} states enough to be predicted."


def title(answer: AdviseAnswer) -> str:
    """Title of the browser's tab: model, machine and speed."""
    best = answer.advice.best
    speed = f"{decode_tps(best):.2g} tokens/s" if best else "does not run"
    return f"{answer.resolved.model.name}, {answer.machine.name}: {speed}"
