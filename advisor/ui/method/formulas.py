"""Formulas of the cost model, as the page sets them."""

from dataclasses import dataclass

import streamlit as st

from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, show


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A formula with its meaning.

    Attributes:
        title: quantity.
        latex: the formula in LaTeX, a text for each equation.
        symbols: meaning of its symbols, in sentences.
        module: file of the program that computes it.
    """

    title: str
    latex: tuple[str, ...]
    symbols: str
    module: str


FORMULAS = (
    Formula(
        title="Bytes that a step reads",
        latex=(
            r"B = W_\text{dense} + \Bigl(1 - \bigl(1 - \tfrac{k}{E}\bigr)^{n}\Bigr)"
            r"\,W_\text{experts} + n\,K(d)",
        ),
        symbols="Dense weights are read once for all n tokens of a step. Of E routed experts each "
        "token picks k, so this share is read. Each of n sequences reads its own cache, d tokens "
        "deep. Of the token table each token reads one row.",
        module="advisor/model/model.py",
    ),
    Formula(
        title="KV cache of a sequence",
        latex=(
            r"K(d) = \sum_{\text{layers}} 2\,h_\text{kv}\,d_\text{head}\,"
            r"\min(d,\ \text{window})\,b",
        ),
        symbols="Keys and values of h heads, each of d numbers with b bytes; a layer with a "
        "sliding window keeps no more than that. Compressed attention keeps one shorter vector for "
        "each token, and layers with a state keep the same bytes whatever the depth.",
        module="advisor/model/kv_cache.py",
    ),
    Formula(
        title="Time on a route",
        latex=(
            r"t_\text{route} = \max\Bigl(\frac{W}{s\,S},\ \frac{F}{c\,C}\Bigr)"
            r" + \max\Bigl(\frac{K}{s_K\,S},\ \frac{F_a}{c_a\,C}\Bigr) + L\,\tau",
        ),
        symbols="Weights W over the bandwidth S, or the work F on them over the arithmetic speed "
        "C, whichever takes longer; the same for the cache K and attention; then a fixed cost for "
        "each of L layers. "
        "S and C are from datasheets or measured here; s and c are the shares of them that "
        "published runs reach.",
        module="advisor/cost_model/processors.py",
    ),
    Formula(
        title="Time of a token",
        latex=(
            r"t_\text{token} = \sum_{\text{stages}}\ \max_{\text{routes of the stage}}"
            r" t_\text{route} + x\,t_\text{crossing} + t_0",
            r"v = \frac{1}{t_\text{token}}",
        ),
        symbols="Routes in one stage overlap, so the slowest counts; routes that draw on the same "
        "RAM share its bandwidth. Stages follow each other and add, with x hand-overs between "
        "processors and a fixed cost of the step.",
        module="advisor/cost_model/timing.py",
    ),
    Formula(
        title="First token and whole reply",
        latex=(
            r"t_\text{first} = \Bigl\lceil \frac{P}{u} \Bigr\rceil\, t_\text{step}(u)",
            r"t_\text{reply} = t_\text{first} + N\,t_\text{token}",
        ),
        symbols="A prompt of P tokens is read in micro-batches of u, each of which reads the "
        "weights once; N tokens are generated after it. Several GPUs that hold different layers "
        "overlap on the micro-batches in part. Serving engines are timed kernel by kernel.",
        module="advisor/cost_model/estimate.py",
    ),
    Formula(
        title="Range",
        latex=(
            r"v_\text{low} = v\,e^{-q_\text{below}}",
            r"v_\text{high} = v\,e^{\,q_\text{above}}",
        ),
        symbols="The widths q hold four in five of the published figures, each predicted from "
        "constants that were fitted without its source and machine. They are wider where fewer "
        "sources measured, and lean to the slow side where runs do.",
        module="advisor/cost_model/uncertainty.py",
    ),
    Formula(
        title="Hours and money",
        latex=(
            r"h = \frac{r}{3600}\,\Bigl(t_\text{first} + \frac{N_\text{thought}}{v} + "
            r"\max\bigl(0,\ \tfrac{N}{v} - \tfrac{N}{v_\text{read}}\bigr)\Bigr)",
            r"w = \frac{c_\text{option} - c_\text{now}}{h_\text{now} - h_\text{option}}",
        ),
        symbols="Of r replies a month, only the time that a reader waits counts as lost hours h. "
        "An option that costs c a month pays if an hour of the reader is worth more than w.",
        module="advisor/advice/",
    ),
)
"""Formulas in the order of a computation."""


def shown() -> None:
    """Each formula under its title, then the meaning of its symbols."""
    for place, formula in enumerate(FORMULAS):
        with st.container(gap=None, key=f"formula_{place}"):
            show(block("oa-name", formula.title, "h4"))
            for equation in formula.latex:
                st.latex(equation)
            show(block("oa-answer", explained(formula.symbols), "p"))
            show(block("oa-soft", f"Computed in {formula.module}", "p"))
