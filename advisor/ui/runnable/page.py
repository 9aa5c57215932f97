"""Main part of the page Models: answer, table, chart, unscored models."""

from dataclasses import replace

import streamlit as st

from advisor.advice.finder.runnable import Runnable, points_per_nat
from advisor.formatting import number
from advisor.request.command_line import command
from advisor.ui.parts.code_block import copyable
from advisor.ui.parts.markup import block, show
from advisor.ui.parts.points import points
from advisor.ui.runnable.answer import RunnableAnswer
from advisor.ui.runnable.chart import quality_against_speed
from advisor.ui.runnable.table import models_table


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
