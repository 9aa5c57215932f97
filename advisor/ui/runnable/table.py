"""Sortable table of models; a row links to Advise."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from advisor.advice.compare import TITLES
from advisor.advice.finder.runnable import Runnable
from advisor.request.choices import listed
from advisor.ui.question import current
from advisor.ui.runnable.answer import RunnableAnswer

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
