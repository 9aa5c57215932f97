"""Main part of the page Models: answer, table, chart, unscored models."""

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from advisor.advice.compare import TITLES
from advisor.advice.finder.runnable import Runnable, points_per_nat
from advisor.advice.table.option import on_front
from advisor.cost_model.placement import PlacementStrategy
from advisor.formatting import number
from advisor.request.choices import listed
from advisor.request.command_line import command
from advisor.ui.parts.markup import block, copyable, show
from advisor.ui.parts.points import Point, PointChart, PointGroup, points
from advisor.ui.question import current
from advisor.ui.runnable.answer import RunnableAnswer

# Chart of quality against speed.

SHAPES = {
    PlacementStrategy.GPU_RESIDENT: ("circle", "in the GPU"),
    PlacementStrategy.CPU_OFFLOAD: ("square", "in part in RAM"),
    PlacementStrategy.NVME_OFFLOAD: ("cross", "in part on the drive"),
}
"""Shape and word of each placement: colour alone tells nothing."""


def best(rows: Sequence[Runnable]) -> list[Runnable]:
    """Models that no other beats in both score and speed, fastest first."""
    score = np.array([np.nan if row.score is None else row.score for row in rows])
    speed = np.array([row.speed.decode for row in rows])
    on = [row for row, front in zip(rows, on_front(-score, speed), strict=True) if front]
    return sorted(on, key=lambda row: -row.speed.decode)


def quality_against_speed(rows: Sequence[Runnable], reading_tps: float) -> PointChart:
    """Chart with a shape per placement, names of the best, and a line at reading speed."""
    named = {row.model.name for row in best(rows) if row.keeps_up}
    return PointChart(
        alt=words(rows),
        groups=[_group(rows, strategy, named, at) for at, strategy in enumerate(SHAPES)],
        x_label="tokens/s",
        y_label="score",
        y_powers=False,
        upright=reading_tps,
        height=380,
    )


def _group(
    rows: Sequence[Runnable], strategy: PlacementStrategy, named: Container[str], colour: int
) -> PointGroup:
    shape, word = SHAPES[strategy]
    points = [
        Point(
            x=row.speed.decode,
            y=row.score,
            tip=f"{row.model.name}, {row.model.format}: {number(row.speed.decode, 3)} tokens/s, "
            f"score {row.score:.0f}",
            name=row.model.name if row.model.name in named else "",
        )
        for row in rows
        if row.score is not None and row.speed.strategy is strategy
    ]
    return PointGroup(name=word, shape=shape, colour=colour, points=points)


def words(rows: Sequence[Runnable]) -> str:
    """Best models in words, as the alternative text."""
    return "No other beats in both score and speed: " + "; ".join(
        f"{row.model.name}, {number(row.speed.decode)} tokens/s, score {row.score:.0f}"
        for row in best(rows)
        if row.score is not None
    )


# Sortable table of models; a row links to Advise.

HEIGHT = 458
"""Height of the table, twelve rows; it scrolls [pixels]."""


def models_table(answer: RunnableAnswer, rows: Sequence[Runnable], *, key: str, alt: str) -> None:
    """Table, in the given order.

    Args:
        answer: whose rows.
        rows: rows of the table.
        key: key of the widget.
        alt: description for screen readers.
    """
    columns: dict[str, list[Any]] = {
        "Model": [row.model.name for row in rows],
        "Score": [row.score for row in rows],
        "tokens/s": [row.speed.decode for row in rows],
        "Format": [row.model.format for row in rows],
        "Format loses": [row.lost for row in rows],
        "Advise": [_advise_link(answer, row) for row in rows],
        "At least": [row.speed.low for row in rows],
        "At most": [row.speed.high for row in rows],
        "Weights are": [TITLES[row.speed.strategy] for row in rows],
        "Context that fits": [row.context / 1024 for row in rows],
        "First token": [row.speed.first_token for row in rows],
        "Keeps up": ["yes" if row.keeps_up else "no" for row in rows],
        "Published": [row.quality.score if row.quality else None for row in rows],
        "Score of": [_scored_by(row) for row in rows],
        "Source": [row.quality.source if row.quality else None for row in rows],
    }
    if not any(row.quality for row in rows):
        for name in ("Score", "Published", "Format loses", "Score of", "Source"):
            del columns[name]
    st.dataframe(
        columns, hide_index=True, height=min(38 + 35 * len(rows), HEIGHT), column_config=_columns(),
        key=key, alt=alt,
    )  # fmt: skip


def _scored_by(row: Runnable) -> str:
    """Leaderboard, date, and the rated name."""
    quality = row.quality
    if quality is None:
        return ""
    of = f" (its predecessor {row.predecessor})" if row.predecessor else ""
    return f"{quality.scale}, {quality.date}, {quality.rated_as}{of}"


def _advise_link(answer: RunnableAnswer, row: Runnable) -> str:
    form = row.model.format if row.model.format in listed("format") else None
    return current.link(replace(answer.request, model=row.model.name, format=form))


def _columns() -> dict[str, Any]:
    """Format and help of each column."""
    config = st.column_config
    return {
        "Model": config.TextColumn(width=170, pinned=True),
        "Score": config.NumberColumn(
            format="%.0f", help="How often people prefer its answers, as a public leaderboard "
            "scores it, less what the format loses; 100 more means preferred about 64 times in "
            "100.",
        ),
        "Published": config.NumberColumn(
            format="%d", help="Score on the leaderboard, of the model in 16 bits."
        ),
        "Format loses": config.NumberColumn(
            format="%.1f", help="Points that the format loses; empty where no loss is published. "
            "Measured on Llama-3-8B: larger and older models lose less.",
        ),
        "tokens/s": config.NumberColumn(
            format="%.1f", help="Tokens generated in a second for each user, as predicted."
        ),
        "At least": config.NumberColumn(
            format="%.1f", help="Lower end of the range that should hold the speed 4 times in 5."
        ),
        "At most": config.NumberColumn(format="%.1f", help="Upper end of that range."),
        "Format": config.TextColumn(
            help="How the weights are packed: the one that loses least among those that keep up; "
            "where none does, the fastest."
        ),
        "Advise": config.LinkColumn(
            display_text="open", width=62, help="Opens Advise with this model filled in."
        ),
        "Weights are": config.TextColumn(
            help="Place of the weights: in the GPU alone, or in part in RAM or on the drive."
        ),
        "Context that fits": config.NumberColumn(
            format="%dk", help="Longest of the usual contexts that fits in the same placement."
        ),
        "First token": config.NumberColumn(
            format="%.2f s", help="Seconds until the first token of a reply."
        ),
        "Keeps up": config.TextColumn(width="small", help="At least as fast as you read."),
        "Score of": config.TextColumn(help="Leaderboard, its day, and the model's name there."),
        "Source": config.LinkColumn(display_text="page", width="small", help="Where it was read."),
    }  # fmt: skip


def head() -> None:
    """Title and purpose of the page."""
    show(block("oa-title", "Models", "h1"))
    show(block("oa-sub", "What this machine runs well, the best that are fast enough first.", "p"))


def shown(answer: RunnableAnswer) -> None:
    """Verdict, tables and chart of one machine."""
    show(block("oa-verdict", verdict(answer), "p"))
    if answer.scored:
        _scored(answer)
    if answer.unscored:
        st.subheader("Without a published score", anchor="unscored")
        show(block("oa-soft", "No leaderboard in our data rates these; the fastest first.", "p"))
        models_table(
            answer, answer.unscored, key="unscored_models", alt="Models without a score, by speed"
        )
    _command(answer)


def verdict(answer: RunnableAnswer) -> str:
    """Answer in words: the best model that keeps up, and the best of all."""
    name = answer.machine.name
    if not answer.scored and not answer.unscored:
        return f"None of the models on record runs on {name} in {answer.runtime.name}."
    able = [row for row in answer.scored if row.keeps_up]
    if not able:
        return (
            f"{name} runs no rated model at {number(answer.reading_tps)} tokens/s; slower ones "
            "stand below by their score."
        )
    highest = max(answer.scored, key=lambda row: row.score or 0.0)
    told = f"On {name} the best rated model that keeps up is {_told(able[0])}."
    slower = f" Rated higher but slower: {_told(highest)}."
    return told if highest is able[0] else told + slower


def _told(row: Runnable) -> str:
    score = "" if row.score is None else f", score {row.score:.0f}"
    return f"{row.model.name} in {row.model.format} at {number(row.speed.decode)} tokens/s{score}"


def _scored(answer: RunnableAnswer) -> None:
    models_table(answer, answer.scored, key="scored_models", alt="Models in their order")
    show(
        block(
            "oa-soft", f"Models that reach {number(answer.reading_tps)} tokens/s come first, "
            "then slower ones, both by score: the published one of the 16-bit model, less what "
            "the format loses (its divergence as published for Llama-3-8B, at "
            f"{number(points_per_nat())} points a nat, as between sizes of a family). Click a "
            "heading to sort.", "p",
        )
    )  # fmt: skip
    st.subheader("Score against speed", anchor="front")
    show(points(quality_against_speed(answer.scored, answer.reading_tps)))


def _command(answer: RunnableAnswer) -> None:
    st.subheader("The same on the command line", anchor="command")
    copyable(
        command(replace(answer.request, model="", format=None, runtime=answer.runtime.name), "find")
    )
