"""Tab What it costs: options, cost against speed, and sensitivity of the verdict."""

from collections.abc import Callable, Sequence

import streamlit as st
from markupsafe import Markup

from advisor.advice import start_files
from advisor.advice.advise import Answer
from advisor.advice.prices.rows import NO_PRICE
from advisor.advice.table.choice import is_bought
from advisor.advice.table.option import Option, OptionKind, split
from advisor.advice.words.phrases import pays_when, why_kept
from advisor.errors import Refusal
from advisor.formatting import hours, money, shown_currency
from advisor.reports import charts, from_advice
from advisor.reports.charts import Scale
from advisor.reports.document import SensitivityRow, input_name, interval
from advisor.ui.advise import ways
from advisor.ui.parts import drawing, markup, tabs
from advisor.ui.parts.drawing import Point, PointChart, legend, palette, points
from advisor.ui.parts.glossary import explained_in_turn
from advisor.units import number, range_of

# Table of options, the present machine first, with their chart.

KIND_WORDS = {
    OptionKind.KEEP: "keep",
    OptionKind.CHANGE: "change",
    OptionKind.ADD: "add a GPU",
    OptionKind.REPLACE: "replace the GPUs",
    OptionKind.MACHINE: "another machine",
    OptionKind.RENT: "rent",
    OptionKind.API: "call an API",
}


def options(answer: Answer) -> None:
    """Sentences on a purchase, table and chart; further options are folded."""
    for sentence in answer.advice.summary.purchases:
        markup.say(sentence, "oa-strong")
    unmade = why_kept(answer.advice)
    every = answer.advice.options
    shown, rest = split(every, answer.advice.named)
    named = ways.purchase(answer)
    with st.container(key="options"):
        table_place = st.empty()
    also = st.multiselect(
        "Show also",
        [option.name for option in rest],
        key="also_options",
        placeholder="RTX 5090, 4 in all, Mac Studio ...",
    )
    with table_place:
        added = [option for option in rest if option is named or option.name in also]
        chosen = sorted((*shown, *added), key=lambda option: list(OptionKind).index(option.kind))
        markup.show(options_table(list(map(answer.advice.as_judged, chosen)), unmade))
    if answer.advice.judged_without_thinking:
        st.caption(answer.advice.judged_without_thinking)
    if rest:
        label = f"{len(rest)} more: dearer, beaten in speed and cost, or without a price"
        with st.expander(label):
            if st.toggle("Show them", key="more_options"):
                markup.show(options_table(list(map(answer.advice.as_judged, rest)), unmade))
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Cost of a month against speed**")
        markup.show(points(cost_against_speed(every)))
    option = answer.advice.in_question
    with right:
        if option is not None:
            st.markdown(f"**What the verdict depends on**: {option.name}")
            markup.say(answer.advice.what_changes)
            markup.show(tornado(from_advice.sensitivity(answer.advice), option.gain or 0.0))


def options_table(options: Sequence[Option], unmade: str = "") -> Markup:
    """Table of options; `unmade` says why a purchase that pays is not made."""
    names = explained_in_turn(map(ways.spelled, options))
    columns: dict[str, Callable[[Option], object]] = {
        "What": lambda row: markup.two_lines(next(names), KIND_WORDS[row.kind]),
        "Speed": _speed,
        "At once": lambda row: _money(row.upfront),
        "A month": _monthly,
        "Waiting a month": lambda row: "" if row.hours_lost is None else hours(row.hours_lost),
        "A million tokens": lambda row: _money(row.per_million_tokens),
        "Pays": lambda row: markup.two_lines(_pays(row, unmade), pays_when(row)),
        "Price": _price,
    }
    return markup.columned(columns, options, label="Options", numeric=(1, 2, 3, 4, 5))


def _money(usd: float | None) -> str:
    if usd is None:
        return ""
    return money(usd)


def _speed(option: Option) -> Markup | str:
    if option.speed is None:
        if option.kind is OptionKind.API:
            return "not on record here"
        return "does not run"
    speed = option.speed
    if speed.high > speed.low:
        ends = range_of(speed.low, speed.high)
    else:
        ends = ""
    below = ", ".join(filter(None, (ends, speed.arrangement)))
    return markup.two_lines(f"{number(speed.decode)} tokens/s", below)


def _monthly(option: Option) -> Markup | str:
    cost = option.cost
    if cost is None:
        return markup.plain_words(option.price.note) or NO_PRICE
    parts = (
        (cost.purchase, "bought"), (cost.tied_up, "tied up"), (cost.rent + cost.starts, "rent"),
        (cost.storage, "storage"),
        (cost.idle_power + cost.busy_power, "power"), (cost.api, "tokens"),
    )  # fmt: skip
    words = [f"{name} {money(usd)}" for usd, name in parts if usd >= 0.005]
    if option.standing >= 0.005:
        words.append(f"what stands unused {money(option.standing)} besides")
    return markup.two_lines(money(cost.total), ", ".join(words))


def _pays(option: Option, unmade: str) -> str:
    if option.pays and unmade and is_bought(option):
        return unmade
    if not option.keeps_up:
        return "cannot keep up"
    if option.kind is OptionKind.KEEP:
        return ""
    return {True: "yes", False: "no", None: "not known"}[option.pays]


def _price(option: Option) -> Markup | str:
    note = option.price.note
    if option.price.date:
        day = f"of {option.price.date}"
    else:
        day = ""
    if note:
        return markup.two_lines(markup.plain_words(note), option.aged.strip(" ()") or day)
    return ""


# Chart of monthly cost against speed.

MARKS = ("star", "diamond", "circle", "square", "pentagon", "triangle", "cross")
SHAPES = dict(zip(KIND_WORDS.values(), MARKS, strict=True))


def cost_against_speed(options: Sequence[Option]) -> PointChart:
    """Options with a cost above zero and a speed, as logarithmic axes require."""
    paid = shown_currency()
    return PointChart(
        lead="Nothing beats in both",
        shapes=SHAPES,
        large=KIND_WORDS[OptionKind.KEEP],
        x_label=f"{paid.code} a month",
        y_label="tokens/s",
        x_sign=paid.sign,
        points=[
            Point(
                kind=KIND_WORDS[option.kind],
                x=option.monthly / paid.usd,
                y=option.speed.decode,
                tip=f"{option.name}: {number(option.speed.decode, 3)} tokens/s, "
                f"{money(option.monthly)} a month",
            )
            for option in options
            if option.speed is not None and option.monthly
        ],
    )


# Sensitivity of the verdict: what would change it, and a tornado chart of its inputs.

ENDS = ("at the low end", "at the high end")


def tornado(inputs: Sequence[SensitivityRow], middle: float) -> Markup:
    """Bars of an option's gain at both ends of each input, the widest first; the line is no gain
    [USD/month].
    """
    edges = [middle, 0.0, *(end for row in inputs for end in (row.gain_low_usd, row.gain_high_usd))]
    scale = Scale(low=min(edges), high=max(edges))
    rows = markup.joined(_row(row, middle, scale) for row in inputs)
    keys = legend(zip(palette().series, ENDS, strict=False), "costs as much as what you have")
    return markup.block("oa-bars oa-tornado", rows) + keys


def _row(row: SensitivityRow, middle: float, scale: Scale) -> Markup:
    ends = row.gain_low_usd, row.gain_high_usd
    words = Markup("<p>{}: <b>{} to {} a month</b></p>").format(
        f"{input_name(row)}, {interval(row)}", *map(_gain, ends)
    )
    arm = Markup("<i title='{}: {}' style='left:{:.2f}%;width:{:.2f}%;background:{}'></i>")
    arms = Markup()
    for name, end, colour in zip(ENDS, ends, palette().series, strict=False):
        near, far = sorted((scale.place(middle), scale.place(end)))
        arms += arm.format(name, money(end), near, far - near, colour)
    html = Markup("{}<div class='oa-track' aria-hidden='true'>{}<u style='left:{:.2f}%'></u></div>")
    return html.format(words, arms, scale.place(0.0))


def _gain(usd: float) -> str:
    if usd >= 0:
        return f"gains {money(usd)}"
    return f"loses {money(-usd)}"


def _task(answer: Answer) -> None:
    """SkyPilot's task file of a rented GPU, at first the one that leaves most with a name there."""
    rented = start_files.rented_estimates(answer.advice.question, answer.advice.options)
    if st.session_state.get("rented") not in rented:
        able = (name for name, estimate in rented.items() if start_files.has_name(estimate))
        st.session_state["rented"] = next(able, next(iter(rented)))
    name = st.selectbox("GPU to rent", rented, key="rented")
    try:
        text = start_files.skypilot_task(rented[name])
    except Refusal as refusal:
        markup.notice(str(refusal))
        return
    markup.say(f"A task file for {start_files.SKYPILOT}. {ABOUT}")
    markup.copyable(text)
    st.download_button(
        "Download task.yaml",
        text,
        "task.yaml",
        "application/yaml",
        on_click="ignore",
        key="task_file",
    )


ABOUT = (
    "It takes the cheapest GPU of this kind among the clouds you have keys for, which may not be "
    "the one whose price stands above. Rent runs until you end it."
)


def shown(answer: Answer) -> None:
    """Options, the cost of a month by use, and a file that rents."""
    st.subheader("Options", anchor="options")
    options(answer)
    if curves := from_advice.cost_curves(answer.advice):
        drawing.headed(charts.costs(curves), anchor="cost")
    if any(option.kind is OptionKind.RENT for option in answer.advice.options):
        tabs.folded("Rent one with SkyPilot", "open_renting", lambda: _task(answer))
