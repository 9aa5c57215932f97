"""Heat map of speeds: other models on the machines shown."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice.finder.runnable import curated_models, speeds_of
from advisor.advice.finder.search import Hit
from advisor.formatting import number
from advisor.model.model import Floats
from advisor.runtimes import LLAMA_CPP
from advisor.ui.find.answer import FindAnswer
from advisor.ui.parts.markup import block, show, table

MODELS, MACHINES = 14, 6
"""Rows where not every model is shown, and columns."""


def heat_map(answer: FindAnswer) -> None:
    """Speeds of the chosen model and others of the catalogue on the cheapest machines."""
    columns = _columns(answer.best)
    if not columns:
        return
    st.subheader("Models on these machines", anchor="models")
    most = None if st.toggle("Every model of the catalogue", key="curated") else MODELS
    rows, speeds = _speeds(answer, most)
    speeds = np.vstack([[hit.speed.decode for hit in columns], speeds[1:]])
    heads = [hit.title for hit in columns]
    with st.container(key="heat_map"):
        show(_table(rows, heads, speeds))
    show(
        block(
            "oa-soft", "tokens/s for each user: the model above as in the table above, "
            "then others in llama.cpp, in the format that most people use of each, by their "
            "published score, unrated ones by size. Empty: does not run there.", "p",
        )
    )  # fmt: skip


def _columns(hits: Sequence[Hit]) -> list[Hit]:
    """Cheapest machines, each once."""
    each: dict[tuple[str, int], Hit] = {}
    for hit in hits:
        if hit.may_win:
            each.setdefault((hit.name, hit.count), hit)
    return list(each.values())[:MACHINES]


@st.cache_resource(max_entries=32, ttl=3600, show_spinner=False, hash_funcs={FindAnswer: id})
def _speeds(answer: FindAnswer, most: int | None) -> tuple[list[str], Floats]:
    """Names of models, and their speeds on the columns' machines, shape (models, machines)
    [tokens/s].
    """
    others = [model for model in curated_models() if model.name != answer.model.name]
    models = [answer.model, *(others if most is None else others[: most - 1])]
    work = answer.request.nouns().work
    speeds = speeds_of(models, [hit.machine for hit in _columns(answer.best)], work, LLAMA_CPP)
    return [model.name for model in models], speeds


def _table(rows: Sequence[str], columns: Sequence[str], speeds: Floats) -> Markup:
    """Table whose cells are the more coloured the faster, by powers of ten."""
    powers = np.log10(speeds)
    known = powers[np.isfinite(powers)]
    slowest, width = (known.min(), np.ptp(known) or 1.0) if known.size else (0.0, 1.0)
    shares = 100 * (powers - slowest) / width
    cells = [
        (name, *(_cell(*pair) for pair in zip(*line, strict=True)))
        for name, *line in zip(rows, speeds, shares, strict=True)
    ]
    return table(
        ("Model", *columns), cells, label=_words(rows, columns, speeds),
        numeric=range(1, len(columns) + 1),
    )  # fmt: skip


def _cell(speed: float, share: float) -> Markup:
    if np.isnan(speed):
        return Markup()
    return Markup("<div class='oa-heat' style='--share:{:.0f}%'>{}</div>").format(
        share, number(float(speed))
    )


def _words(rows: Sequence[str], columns: Sequence[str], speeds: Floats) -> str:
    """Fastest machine of each model in words, as the alternative text."""
    best = (
        (name, columns[int(np.nanargmax(row))], np.nanmax(row))
        for name, row in zip(rows, speeds, strict=True)
        if not np.isnan(row).all()
    )
    return "Fastest of these machines: " + "; ".join(
        f"{name} on {machine}, {number(float(speed))} tokens/s" for name, machine, speed in best
    )
