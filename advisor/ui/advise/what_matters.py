"""Sensitivity of the verdict: what would change it, and a tornado chart of its inputs."""

from collections.abc import Sequence

import streamlit as st

from advisor.advice.options.option import Option
from advisor.advice.options.turning import in_question, what_changes
from advisor.formatting import money, shown_currency
from advisor.reports.document import from_advice
from advisor.reports.document.parts import SensitivityRow
from advisor.reports.document.words import input_name, interval
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.markup import block, show
from advisor.ui.parts.plot import Figure, bar_layout, draw, palette


def what_changes_it(answer: AdviseAnswer) -> None:
    """Sensitivity of the option in the verdict, else of the one that pays at the fewest replies."""
    advice = answer.advice
    option, rows = in_question(advice.options), from_advice.sensitivity(advice)
    if option is None:
        return
    st.markdown(f"**What the verdict depends on**: {option.name}")
    changes = what_changes(option, advice.options[0], advice.question.money)
    show(block("oa-soft", changes, "p"))
    draw(tornado(rows, option), key="tornado", alt=words(rows))


def tornado(inputs: Sequence[SensitivityRow], option: Option) -> Figure:
    """Chart of the option's monthly gain at both ends of each input's range, widest first."""
    look, paid = palette(), shown_currency()
    middle = (option.gain or 0.0) / paid.usd
    ends = [(row.gain_low_usd / paid.usd, row.gain_high_usd / paid.usd) for row in inputs]
    heads = [f"{input_name(row)}: {interval(row)}" for row in inputs]
    rows = list(range(len(inputs)))
    data = [
        {
            "type": "bar", "orientation": "h", "name": name, "y": rows, "width": 0.34,
            "base": middle, "x": [end[at] - middle for end in ends],
            "marker": {"color": look.series[at]},
            "customdata": [end[at] for end in ends],
            "hovertemplate": f"{name}: {paid.sign}%{{customdata:,.0f}} a month<extra></extra>",
        }
        for at, name in enumerate(("at the low end", "at the high end"))
    ]  # fmt: skip
    edges = [edge for pair in ends for edge in pair] + [middle]
    room = 0.04 * (max(edges) - min(edges) or 1.0)
    turns = min(edges) < 0 < max(edges)
    layout = bar_layout(look, heads, max(edges))
    left = min(edges) - room
    layout |= {"barmode": "overlay", "margin": {"l": 2, "r": 6, "t": 4, "b": 40}}
    layout["height"] += 60
    for note in layout["annotations"]:
        note["x"] = left
    layout["xaxis"] |= {
        "range": [left, max(edges) + room], "visible": True, "tickprefix": paid.sign,
        "title": {"text": "more in a month than with what you have"},
    }  # fmt: skip
    zero = {"type": "line", "x0": 0, "x1": 0, "y0": 0, "y1": 1, "yref": "paper",
            "line": {"color": look.soft, "width": 1}}  # fmt: skip
    layout["shapes"] = [zero] if turns else []
    layout |= {"showlegend": True, "legend": {"orientation": "h", "y": -0.25}}
    return {"data": data, "layout": layout}


def words(inputs: Sequence[SensitivityRow]) -> str:
    """Chart in words, as the alternative text."""
    return "What the verdict depends on most: " + "; ".join(
        f"{input_name(row)}, {money(row.gain_low_usd)} to {money(row.gain_high_usd)} a month"
        for row in inputs
    )
