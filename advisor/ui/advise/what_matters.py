"""Sensitivity of the verdict: what would change it, and a tornado chart of its inputs."""

from collections.abc import Iterable, Sequence

import streamlit as st
from markupsafe import Markup

from advisor.advice.table.sensitivity import in_question, what_changes
from advisor.formatting import money
from advisor.reports.document import from_advice
from advisor.reports.document.parts import SensitivityRow
from advisor.reports.document.words import input_name, interval
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.markup import block, joined, show
from advisor.ui.parts.palette import palette
from advisor.ui.parts.plane import Scale

ENDS = ("at the low end", "at the high end")


def what_changes_it(answer: AdviseAnswer) -> None:
    """Sensitivity of the option in the verdict, else of the one that pays at the fewest replies."""
    advice = answer.advice
    option, rows = in_question(advice.options), from_advice.sensitivity(advice)
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
    edges = [middle, 0.0, *(end for row in inputs for end in (row.gain_low_usd, row.gain_high_usd))]
    scale = Scale(low=min(edges), high=max(edges))
    rows = joined(_row(row, middle, scale) for row in inputs)
    return joined((block("oa-bars oa-tornado", rows), _legend()))


def _row(row: SensitivityRow, middle: float, scale: Scale) -> Markup:
    ends = row.gain_low_usd, row.gain_high_usd
    words = Markup("<p>{}: <b>{} to {} more a month</b></p>").format(
        f"{input_name(row)}, {interval(row)}", *map(money, ends)
    )
    zero = Markup("<u style='left:{:.2f}%'></u>").format(scale.place(0.0))
    html = Markup("{}<div class='oa-track' aria-hidden='true'>{}{}</div>")
    return html.format(words, joined(_arms(ends, middle, scale)), zero)


def _arms(ends: tuple[float, float], middle: float, scale: Scale) -> Iterable[Markup]:
    arm = Markup("<i title='{}: {}' style='left:{:.2f}%;width:{:.2f}%;background:{}'></i>")
    for name, end, colour in zip(ENDS, ends, palette().series, strict=False):
        near, far = sorted((scale.place(middle), scale.place(end)))
        yield arm.format(name, money(end), near, far - near, colour)


def _legend() -> Markup:
    item = Markup("<span><i style='background:{}'></i>{}</span>")
    keys = [item.format(colour, name) for name, colour in zip(ENDS, palette().series, strict=False)]
    keys.append(Markup("<span>\u2502 costs as much as what you have</span>"))
    return block("oa-key", joined(keys))
