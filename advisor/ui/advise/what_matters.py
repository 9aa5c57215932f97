"""Sensitivity of the verdict: what would change it, and a tornado chart of its inputs."""

from collections.abc import Sequence

import streamlit as st

from advisor.advice.chances import TornadoBar
from advisor.advice.options.option import Option
from advisor.advice.options.sureness import inputs, what_matters
from advisor.advice.options.turning import in_question, what_changes
from advisor.formatting import money, number, shown_currency
from advisor.ui.advise.answer import AdviseAnswer
from advisor.ui.parts.markup import block, show
from advisor.ui.parts.plot import Figure, bar_layout, draw, palette

LABELS = {
    "speed now": ("what you have", "tokens/s"),
    "speed then": ("its speed", "tokens/s"),
    "price": ("its price", "a month"),
    "replies a day": ("replies a day", ""),
    "worth of an hour": ("worth of an hour", ""),
}
"""Words for an input and behind its value."""


def what_changes_it(answer: AdviseAnswer) -> None:
    """Sentence for the option of the verdict, else for the option that would pay at the fewest
    replies.
    """
    advice, spent = answer.advice, answer.advice.question.money
    kept = advice.options[0]
    option = in_question(advice.options)
    if option is None:
        return
    st.markdown(f"**What the verdict depends on**: {option.name}")
    show(block("oa-soft", what_changes(option, kept, spent), "p"))
    bars = what_matters(option, kept, spent)
    known = inputs(option, kept, spent)
    heads = [_head(bar.name, known[bar.name].low, known[bar.name].high) for bar in bars]
    draw(tornado(bars, heads, option), key="tornado", alt=words(bars))


def _head(name: str, low: float, high: float) -> str:
    label, unit = LABELS[name]
    amount = money if name in ("price", "worth of an hour") else number
    return " ".join(filter(None, (f"{label}: {amount(low)} to {amount(high)}", unit)))


def tornado(bars: Sequence[TornadoBar], heads: Sequence[str], option: Option) -> Figure:
    """Chart of the monthly gain at both ends of each input's range, the widest first."""
    look, paid = palette(), shown_currency()
    middle = (option.gain or 0.0) / paid.usd
    ends = [(bar.low / paid.usd, bar.high / paid.usd) for bar in bars]
    rows = list(range(len(bars)))
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


def words(bars: Sequence[TornadoBar]) -> str:
    """Chart in words, as the alternative text."""
    return "What the verdict depends on most: " + "; ".join(
        f"{LABELS[bar.name][0]}, {money(bar.low)} to {money(bar.high)} a month" for bar in bars
    )
