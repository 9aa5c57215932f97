"""Heat map of the page Machines: speeds of other models on the machines shown."""

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice.finder.runnable import curated_models, speeds_of
from advisor.advice.finder.search import Findings, Hit
from advisor.advice.judgement import LEAST
from advisor.model.by_name.names import written
from advisor.model.model import Floats
from advisor.runtimes import LLAMA_CPP
from advisor.ui.parts.markup import say, show, table
from advisor.units import number

# rows where not every model is shown, and columns
MODELS = 14
MOST_MACHINES = 6


def heat_map(answer: Findings, hits: Sequence[Hit]) -> None:
    """Speeds of the chosen model and others of the catalogue on the cheapest machines."""
    columns = cheapest(hits)
    if not columns:
        return
    if st.toggle("Every model of the catalogue", key="curated"):
        most = None
    else:
        most = MODELS
    rows, speeds = other_models(answer, columns, most)
    speeds = np.vstack([[hit.decode for hit in columns], speeds[1:]])
    heads = [hit.title.partition(" (")[0] for hit in columns]
    with st.container(key="heat_map"):
        show(_table(rows, heads, speeds))
    say(
        "tokens/s for each user: the model above as in the table above, "
        "then others that one of them holds and runs, in llama.cpp, in the format that most "
        "people use of each, by their published score, unrated ones by size. Empty: does not run "
        "there."
    )


def cheapest(hits: Sequence[Hit]) -> list[Hit]:
    """Cheapest machines, each once."""
    each: dict[str, Hit] = {}
    for hit in hits:
        if hit.priced:
            each.setdefault(hit.name, hit)
    return list(each.values())[:MOST_MACHINES]


@st.cache_resource(
    max_entries=32,
    ttl=3600,
    show_spinner=False,
    hash_funcs={Findings: id, Hit: lambda hit: hit.title},
)
def other_models(
    answer: Findings, columns: list[Hit], most: int | None = MODELS
) -> tuple[list[str], Floats]:
    """Models as they are written, and their speeds on the columns' machines, shape
    (models, machines) [tokens/s].
    """
    chosen = answer.question.model
    machines = [hit.machine for hit in columns]
    # Memory of the largest machine, a tenth left to the system and the cache [B].
    if most is None:
        room = math.inf
    else:
        room = 0.9 * max(
            float(each.host.memory.value) + (0.0 if each.unified else float(each.gpu_memory))
            for each in machines
        )
    others = [
        model
        for model in curated_models()
        if model.name != chosen.name and model.file_bytes <= room
    ]
    every = [chosen, *(others if most is None else others[: most - 1])]
    speeds = speeds_of(every, machines, answer.question.work, LLAMA_CPP)
    usable = np.nan_to_num(speeds).max(axis=1) >= (0.0 if most is None else LEAST)
    usable[0] = True
    names = np.array([written(model.name) for model in every])
    return names[usable].tolist(), speeds[usable]


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
    best = (
        f"{name} on {columns[int(np.nanargmax(row))]}, {number(float(np.nanmax(row)))} tokens/s"
        for name, row in zip(rows, speeds, strict=True)
        if not np.isnan(row).all()
    )
    label = f"Fastest of these machines: {'; '.join(best)}"
    return table(("Model", *columns), cells, label=label, numeric=range(1, len(columns) + 1))


def _cell(speed: float, share: float) -> Markup:
    html = Markup("<div class='oa-heat' style='--share:{:.0f}%'>{}</div>")
    if np.isnan(speed):
        return Markup()
    return html.format(share, number(float(speed)))
