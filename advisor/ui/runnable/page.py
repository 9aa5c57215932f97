"""Main part of the page Models: sentence, cards, table, chart, unrated models."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any

import streamlit as st
from markupsafe import Markup, escape

from advisor.advice.finder import runnable
from advisor.advice.finder.runnable import Runnable
from advisor.advice.judgement import LEAST, Judgement, judged
from advisor.cost_model.placement import PlacementStrategy
from advisor.machine.machine import Machine
from advisor.model import catalog
from advisor.model.by_name.known import maker
from advisor.model.by_name.names import written
from advisor.request.command_line import command
from advisor.request.lists import listed
from advisor.request.request import Nouns, Request
from advisor.runtimes import LLAMA_CPP
from advisor.ui.advise import placements
from advisor.ui.parts import tabs
from advisor.ui.parts.drawing import Point, PointChart, points
from advisor.ui.parts.glossary import term
from advisor.ui.parts.markup import (
    block,
    copyable,
    head,
    heading,
    joined,
    link,
    notice,
    say,
    show,
    waiting,
)
from advisor.ui.parts.speed_table import ADVISE, speed_table
from advisor.ui.question import current, model_list
from advisor.units import memory, number

# Models that run on a machine, computed once per request.


@st.cache_resource(max_entries=64, ttl=3600, show_spinner=False, hash_funcs={Request: repr})
def answer(
    request: Request,
    calibrated: int,  # noqa: ARG001 - a part of the key
    *,
    rated: bool,
    whole: bool,
) -> list[Runnable]:
    """Models for a request in their order; the request's own model does not count.

    They are the rated ones, by their own score or their predecessor's, or the others, with `whole`
    only those that the GPUs hold whole. `calibrated` changes with every new measurement of this
    machine. Raises AdvisorError where the inputs are impossible.
    """
    nouns = request.nouns()
    names = [
        name for name in runnable.ranked_models() if (runnable.rating(name) is not None) == rated
    ]
    engine = nouns.runtime or LLAMA_CPP
    trials = runnable.Trials(nouns.machine, nouns.work, nouns.money.reading_tps, engine)
    rows = trials.runnable(names, whole=whole)
    if rated and not whole:
        model_list.remember(request, (row for row in rows if row.keeps_up))
    return rows


# Chart of quality against speed.

WHERE = {
    PlacementStrategy.GPU_RESIDENT: "in the GPU",
    PlacementStrategy.CPU_OFFLOAD: "in part in RAM",
    PlacementStrategy.NVME_OFFLOAD: "in part on the drive",
}
SHAPES = dict(zip(WHERE.values(), ("circle", "square", "cross"), strict=True))


def quality_against_speed(rows: Sequence[Runnable], reading_tps: float) -> PointChart:
    """Models with a score, names of the best that keep up, and a line at reading speed."""
    return PointChart(
        lead="No other beats in both score and speed",
        shapes=SHAPES,
        costs=False,
        x_label="tokens/s",
        y_label="score",
        y_powers=False,
        upright=reading_tps,
        height=380,
        points=[
            Point(
                kind=WHERE[row.speed.strategy],
                x=row.speed.decode,
                y=row.score,
                tip=f"{written(row.model.name)}, {row.model.format}: "
                f"{number(row.speed.decode, 3)} tokens/s, score {row.score:.0f}",
                name=written(row.model.name) if row.keeps_up else "",
            )
            for row in rows
            if row.score is not None
        ],
    )


# Sortable table of models; a row links to Advise.


def models_table(nouns: Nouns, rows: Sequence[Runnable], *, key: str, alt: str) -> None:
    """Table, in the given order."""
    before: dict[str, list[Any]] = {
        "Model": [row.model.name for row in rows],
        "Score": [row.score for row in rows],
        ADVISE: [current.link(_with(nouns, row)) for row in rows],
    }
    after: dict[str, list[Any]] = {
        "Format loses": [row.lost for row in rows],
        "Context": [row.context / 1024 for row in rows],
        "Keeps up": ["yes" if row.keeps_up else "no" for row in rows],
        "Score of": [_scored_by(row) for row in rows],
        "Source": [row.quality.source if row.quality else None for row in rows],
    }
    if not any(row.quality for row in rows):
        del before["Score"]
        for name in ("Format loses", "Score of", "Source"):
            del after[name]
    speeds = [row.speed for row in rows]
    speed_table("models", before, speeds, after, key=key, alt=alt)


def _scored_by(row: Runnable) -> str:
    """Leaderboard, date, and the rated name."""
    quality = row.quality
    if quality is None:
        return ""
    if row.predecessor:
        of = f" (its predecessor {row.predecessor})"
    else:
        of = ""
    return f"{quality.scale}, {quality.date}, {quality.rated_as}{of}"


class ModelKind(StrEnum):
    """Kinds of models to show."""

    ALL = "All"
    CHAT = "Chat"
    CODE = "Code"
    VISION = "Vision"

    def holds(self, name: str) -> bool:
        """Whether a model is of this kind; one for code says so in its name."""
        if self is ModelKind.VISION:
            return name in runnable.reads_images()
        return self is ModelKind.ALL or bool(CODE.search(name)) == (self is ModelKind.CODE)


CODE = re.compile(r"code|codestral", re.IGNORECASE)
CARDS = 9  # models on cards
SHOWN = "kind"
WHOLE = "in_card"
TAB = "models_tab"
"""Keys of the pills, the switch and the tabs, in the address too."""
TABLE = "All rated models"
PICTURE = "Quality and speed"
UNRATED = "Not rated"
TERMINAL = "Command"


def shown(request: Request, calibrated: int) -> None:
    """Sentence, cards and tabs; raises as `answer`."""
    nouns = request.nouns()
    machine = nouns.machine  # before anything is drawn: it may be none
    told = st.container(key="told")
    kind, whole = _switches(machine)

    def of_kind(*, scored: bool) -> list[Runnable]:
        with told, waiting("Trying every model of the catalogue in every format.", height=52):
            every = answer(request, calibrated, rated=scored, whole=whole)
        return [row for row in every if kind.holds(row.model.name)]

    scored = of_kind(scored=True)
    few = kind in (ModelKind.CODE, ModelKind.VISION)
    if few:
        rows = [*scored, *of_kind(scored=False)]
    else:
        rows = scored
    usable = [row for row in rows if row.speed.decode >= LEAST]
    rows = usable or rows[:3]
    with told:
        for sentence in current.visit().problems:
            notice(sentence, "warning")
        first, rest, tone, way = verdict(nouns, rows, kind)
        show(heading(first, rest, tone) + block("oa-way", way, "p"))
    with st.container(key="model_cards"):
        show(block("oa-models", joined(_card(nouns, row) for row in rows[:CARDS])))

    def unrated() -> None:
        say("No leaderboard in our data rates these; the fastest first.")
        alt = "Models without a score, by speed"
        models_table(nouns, of_kind(scored=False), key="unscored_models", alt=alt)

    reading = nouns.money.reading_tps
    bodies: Mapping[str, Callable[[], None]] = {
        PICTURE: lambda: show(points(quality_against_speed(scored, reading))),
        TABLE: lambda: _table(nouns, scored),
        UNRATED: unrated,
        TERMINAL: lambda: _command(nouns),
    }
    tabs.opened(bodies, TAB)


def verdict(
    nouns: Nouns, rows: Sequence[Runnable], kind: ModelKind = ModelKind.ALL
) -> tuple[str, str, str, str]:
    """Coloured words, the words after them, their tone, and the second line of the answer."""
    where = f"On {nouns.machine.name}"
    if kind is ModelKind.ALL:
        what = "model"
    else:
        what = f"{kind.value.casefold()} model"
    if not rows:
        why = "No format of any on record fits. Add memory, or leave the switch below off."
        return f"No {what} runs here.", "", "oa-bad-text", f"{where}: {why}"
    best = rows[0]
    name = written(best.model.name)
    level = _level(nouns, best)
    if nouns.request.users > 1:
        each = f" for each of {nouns.request.users} users"
    else:
        each = ""
    speed = f" {number(best.speed.decode)} tokens a second{each}, {level}."
    size = memory(best.model.file_bytes)
    way = f"{where}. {best.model.format}, {size} to download{_rated_by(best)}."
    tone = f"oa-{placements.tone(level)}-text"
    if not best.keeps_up:
        return f"No {what} keeps up with reading. Best: {name},", speed, tone, way
    highest = max(rows, key=lambda row: row.score or 0.0)
    if (highest.score or 0.0) > (best.score or 0.0):
        slower = f"{number(highest.speed.decode)} tokens a second, rated {highest.score:.0f}"
        other = written(highest.model.name)
        way += f" Rated higher but slower: {other}, {slower}."
    by_tests = _by_tests(best, rows, kind)
    if kind is ModelKind.ALL and by_tests:
        what = "for chat"
    return f"Best {what} here: {name},", speed, tone, way + by_tests


def _rated_by(row: Runnable) -> str:
    """Score of a model in words that follow others, and who rated it; empty without a score."""
    if row.score is None:
        return ""
    if row.joined:
        by = "a board of tests"
    else:
        by = "people's votes"
    return f", rated {row.score:.0f} by {by}"


def _by_tests(best: Runnable, rows: Sequence[Runnable], kind: ModelKind) -> str:
    """Sentence on the model that tests put first, where it is not the one that votes put first."""
    if kind is ModelKind.CODE:
        index = runnable.coding_index
        tests = "tests of coding"
    else:
        index = runnable.tested
        tests = "tests"
    other = runnable.best_by_tests(rows, index)
    if other is None or other is best:
        return ""
    figure = index(other.model.name)
    beside = index(best.model.name)
    if beside is None:
        against = ""
    else:
        against = f" against {beside:.0f}"
    return (
        f" Best by {tests}: {written(other.model.name)}, {number(other.speed.decode)} tokens a "
        f"second, index {figure:.0f}{against} (Artificial Analysis)."
    )


def _level(nouns: Nouns, row: Runnable) -> Judgement:
    return judged(row.speed, nouns.money.reading_tps)


def _switches(machine: Machine) -> tuple[ModelKind, bool]:
    """Kind of models to show, and whether only what the card holds whole."""
    with st.container(horizontal=True, key="kinds", vertical_alignment="center"):
        kind = st.pills(
            "Kind of model",
            list(ModelKind),
            default=ModelKind.ALL,
            key=SHOWN,
            required=True,
            label_visibility="collapsed",
            bind="query-params",
            format_func=str,
        )
        separate = bool(machine.gpus) and not machine.unified
        whole = separate and st.toggle("In the GPU only", key=WHOLE, bind="query-params")
    return kind, whole


def _card(nouns: Nouns, row: Runnable) -> Markup:
    tight = (term("tight"), "partly") if row.tight else ()
    name = row.model.name
    if "/" in name:
        repository = name
    else:
        repository = catalog.model_rows()[name].hf_id
    size = memory(row.model.file_bytes)
    place = WHERE[row.speed.strategy]
    told = f"{maker(repository)}, {row.model.format}, {size} to download, {place}"
    parts = (
        head(written(name), *placements.BADGES[_level(nouns, row)], *tight),
        block("oa-gives", f"{number(row.speed.decode)} tokens/s"),
        block("oa-soft", told),
        block("oa-soft", _rated(row)),
        link(current.link(_with(nouns, row)), "See advice"),
    )
    return block("oa-card", joined(parts))


def _rated(row: Runnable) -> str | Markup:
    if row.score is None:
        return "Not rated on a leaderboard that we read."
    words = f"Rated {row.score:.0f}"
    if row.predecessor:
        return joined((escape(f"{words} "), term("as its predecessor", row.predecessor)))
    if row.joined and row.quality:
        return joined((escape(f"{words} "), term("by a second board", row.quality.scale)))
    return words


def _with(nouns: Nouns, row: Runnable) -> Request:
    """Request with a model in its best format here."""
    if row.model.format in listed("format"):
        form = row.model.format
    else:
        form = None
    return replace(nouns.request, model=row.model.name, format=form)


def _table(nouns: Nouns, rows: Sequence[Runnable]) -> None:
    models_table(nouns, rows, key="scored_models", alt="Models in their order")
    say(
        f"Models that reach {number(nouns.money.reading_tps)} tokens/s come first, "
        "at twice that before the others, then slower ones, each by the lower end of the score, "
        "and last older models of a shape: the published one of the 16-bit model, less what "
        "the format loses (its divergence as published for Llama-3-8B, at "
        f"{number(runnable.points_per_nat())} points for each unit of divergence, as between sizes "
        "of a family). Click a heading to sort."
    )


def _command(nouns: Nouns) -> None:
    say("Rated and other models, on the command line.")
    runtime = (nouns.runtime or LLAMA_CPP).name
    copyable(command(replace(nouns.request, model="", format=None, runtime=runtime), "find"))
