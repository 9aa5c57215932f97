"""Tab Sources: certainty of the answer, its figures, and the model."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.advice.speeds import route_bytes
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy
from advisor.cost_model.workload import Workload
from advisor.evidence.accuracy.regimes import coverage_like, description
from advisor.formatting import percent, short
from advisor.model.architecture import Architecture, Group, LayerCache
from advisor.model.model import Model
from advisor.model.resolve import ResolvedModel
from advisor.reports.document import time_part
from advisor.reports.from_advice import figure_text
from advisor.runtimes.compare import decode_tps
from advisor.ui.advise import placements
from advisor.ui.parts.glossary import MEANINGS, explained, term
from advisor.ui.parts.markup import (
    block,
    copyable,
    joined,
    outward,
    plain_words,
    say,
    show,
    table,
    two_lines,
)
from advisor.ui.question import models
from advisor.units import GB, memory, number, range_of, seconds, tokens_per_second


def shown(answer: Answer) -> None:
    """Tab of the sources of an answer."""
    _how_sure(answer)
    for strategy in PlacementStrategy:
        estimate = answer.advice.card(strategy)
        if estimate is not None and estimate.step is not None:
            behind = f"{placements.name(answer, strategy)}: the figures behind it"
            with st.expander(behind, key=f"figures_{strategy.name}"):
                show(joined(explanation(estimate)))
    _model(answer)
    notes = (*answer.nouns.resolved.notes, *answer.nouns.machine.notes)
    show(joined(block("oa-soft", plain_words(note), "p") for note in notes))
    st.subheader("The same on the command line", anchor="command")
    copyable(models.command_of(answer.nouns.request))


def _how_sure(answer: Answer) -> None:
    """Accuracy of earlier predictions like these, and kinds of the figures behind the best."""
    st.subheader("How sure is this?", anchor="sure")
    best = answer.advice.best
    if best:
        kinds = Counter(item.figure.kind.value for item in best.assumptions)
    else:
        kinds = Counter()
    rests = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    sentences = (
        *_fared(answer),
        "A range should contain what you would measure in four cases of five.",
        f"The fastest placement rests on {sum(kinds.values())} figures: {rests}." if rests else "",
    )
    say(Markup(" ").join(filter(None, sentences)), "oa-why")


def _fared(answer: Answer) -> Iterable[Markup | str]:
    """Past accuracy of predictions like those shown, one sentence per kind of run."""
    each = (answer.advice.card(strategy) for strategy in PlacementStrategy)
    able: list[Estimate] = [card for card in each if card is not None and bool(card.fits)]
    rows = dict.fromkeys(row for card in able if (row := coverage_like(card)) is not None)
    for line in rows:
        if line.rows == 1:
            runs = "measurement"
        else:
            runs = "measurements"
        yield Markup(
            "Of {} {} of runs like this ({}), each predicted without its own source, {} lay within "
            "the range shown, and half within {} of the prediction."
        ).format(
            line.rows,
            runs,
            term(line.regime, description(line.regime)),
            line.held,
            percent(line.median_error),
        )
    from advisor.evidence.accuracy.brought_runs import measured_by_others

    best = answer.advice.best
    if best:
        others = measured_by_others(best)
    else:
        others = None
    if others is not None and best is not None:
        card = best.machine.gpus[0].name
        count = others.publishers
        if count == 1:
            who = "One publisher has"
        else:
            who = f"{count} publishers have"
        yield (
            f"{who} measured {best.model.name} in {best.model.format} on the {card}: "
            f"{range_of(others.low, others.high)} tokens/s"
            f"{f' ({others.years})' if others.years else ''}."
        )
    if any(coverage_like(card) is None for card in able):
        names = dict.fromkeys(card.strategy.heading for card in able if coverage_like(card) is None)
        yield f"No published run like {' and '.join(names)} states enough to be predicted."


@st.dialog("Why this number?", width="large")
def dialog(estimate: Estimate) -> None:
    """Dialog with the explanation."""
    show(joined(explanation(estimate)))


def explanation(estimate: Estimate) -> Iterable[Markup]:
    """Formula, parts and inputs of an estimate."""
    if estimate.step is None or estimate.decode is None:
        return
    total = float(estimate.step.total)
    yield block("oa-strong", "Time of a token, by part", "p")
    yield table(
        ("Part", "Bytes", "Speed", "Time"),
        _parts(estimate),
        label="Time of one token",
        numeric=(1, 2, 3),
    )
    speed = tokens_per_second(decode_tps(estimate))
    if bool(estimate.fits):
        short = ""
    else:
        short = " This is what it would reach if it fitted."
    told = f"{seconds(total)} for a token, so 1 / {number(total, 3)} s = {speed}.{short}"
    yield block("oa-why", told, "p")
    if (hidden := float(estimate.step.hidden)) > 0:
        words = f"{seconds(hidden)} overlap with a longer part and add nothing."
        yield block("oa-soft", words, "p")
    yield block("oa-strong", "What it rests on", "p")
    inputs = []
    for item in estimate.assumptions:
        figure = item.figure
        origin = ", ".join(filter(None, (figure.kind.value, figure.source, figure.date)))
        inputs.append((two_lines(item.what, plain_words(origin)), figure_text(item)))
    yield table(FIGURE, inputs, label="Inputs of the estimate", numeric=(1,))


def _parts(estimate: Estimate) -> Iterable[tuple[Markup, str, str, str]]:
    moved = {route.value: size for route, size in route_bytes(estimate).items()}
    if estimate.step:
        parts = estimate.step.parts
    else:
        parts = {}
    for name, duration in sorted(parts.items(), key=lambda part: -float(part[1])):
        spent = float(duration)
        size = moved.get(name, 0.0)
        if spent > 0:
            read = number(size / GB, 3), number(size / spent / GB, 3)
            if size:
                cells = (f"{read[0]} GB", f"{read[1]} GB/s")
            else:
                cells = ("", "")
            yield explained(time_part(str(name))), *cells, seconds(spent)


Row = tuple[Markup, str]
PART_HEADINGS = ("Weights", "Stored", "Bits", "Per token")
FIGURE = ("Figure", "Value")
LONGEST_FACT = 300


def _model(answer: Answer) -> None:
    """Expander of the model: weights by part, cache, build, and where they come from."""
    with st.expander("Model details", key="understood"):
        model = answer.nouns.model
        left, right = st.columns([3, 2], gap="medium")
        with left:
            headings = ("Part", *map(term, PART_HEADINGS))
            show(_part("Weights by part", headings, _part_rows(model), (1, 2, 3, 4)))
            show(_part("KV cache", FIGURE, _cache_rows(model, answer.nouns.work), (1,)))
        with right:
            show(_part("Build", FIGURE, _number_rows(model), (1,)))
        _origin(answer.nouns.resolved)


def _part(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[object]], numeric: Sequence[int]
) -> Markup:
    return block("oa-strong", title, "p") + table(headings, rows, label=title, numeric=numeric)


def _part_rows(model: Model) -> Iterable[tuple[object, ...]]:
    params = _params(model.architecture)
    for group in Group:
        count = params[group]
        size = _stored(model, group)
        read = _read(model, group)
        if count or read:
            if count:
                stored = (memory(size), number(8 * size / count))
            else:
                stored = ("", "")
            tied = group is Group.OUTPUT and model.architecture.tied
            if tied:
                name = "output head (the embedding again)"
            else:
                name = group.value
            named = term(name, MEANINGS[group.value].meaning)
            yield named, short(count), *stored, memory(read)
    total = model.architecture.params
    yield (
        Markup("<b>all</b>"),
        short(total),
        memory(model.file_bytes),
        number(8 * model.file_bytes / total),
        memory(model.read_bytes_per_token),
    )


@lru_cache(maxsize=64)
def _params(architecture: Architecture) -> Counter[Group]:
    """Weights of each group; an output head shared with the embedding counts only there."""
    params: Counter[Group] = Counter()
    for tensor in architecture.tensors:
        of_head = tensor.layer is None and tensor.group is not Group.EMBEDDING  # as `Model` counts
        params[Group.OUTPUT if of_head else tensor.group] += tensor.params
    return params


def _stored(model: Model, group: Group) -> float:
    """Bytes of a group in the file [B]."""
    if group is Group.EMBEDDING:
        return model.embedding
    if group is Group.OUTPUT:
        return model.output - model.tied_copy
    return float(model.bytes_per_layer[group].sum())


def _read(model: Model, group: Group) -> float:
    """Bytes of a group that are read per decoded token [B]."""
    if group is Group.EMBEDDING:
        return model.embedding / model.architecture.vocab
    if group is Group.OUTPUT:
        return model.output
    return float(np.sum(model.bytes_per_layer[group] * model.read_share(group, 1)))


def _number_rows(model: Model) -> Iterable[Row]:
    built = model.architecture
    yield term("parameters"), short(built.params)
    yield term("active"), short(built.active_params)
    yield term("layers"), f"{built.layers}"
    if built.experts:
        layers = int(model.per_layer.expert_layers.sum())
        used = f"{built.experts.used} of {built.experts.total} in {layers} layers"
        yield term("experts"), used
    for kind, count in Counter(map(_kind, built.cache)).items():
        yield term(f"with {kind}", MEANINGS[kind.split(" of ")[0]].meaning), str(count)
    yield term("width"), f"{built.hidden:,}"
    yield term("vocabulary"), f"{built.vocab:,}"
    if built.max_context:
        yield term("longest context"), f"{built.max_context:,}"


def _kind(cache: LayerCache) -> str:
    if cache.window is not None:
        return f"window of {cache.window:,}"
    if cache.key_values:
        if cache.value_values:
            return "full attention"
        return "latent attention"
    if cache.state_values:
        return "linear or state space"
    return "no cache"


def _cache_rows(model: Model, work: Workload) -> Iterable[Row]:
    per_token = float(np.sum(model.kv_bytes(2.0, work.kv_type) - model.kv_bytes(1.0, work.kv_type)))
    full = float(np.sum(model.kv_bytes(work.context, work.kv_type)))
    fixed = float(np.sum(model.kv_bytes(0.0, work.kv_type)))
    kind = f"{work.kv_type}, f16 takes two bytes for each number."
    yield term("for each token", f"While no window is full; in {kind}"), memory(per_token)
    at = term(f"at {work.context:,.0f} tokens", "For each user, windows and states included.")
    yield at, memory(full)
    if work.users > 1:
        users = term(f"for {work.users} users", "All of them at that context.")
        yield users, memory(full * float(work.users))
    if fixed:
        yield term("of that fixed"), memory(fixed)


def _origin(resolved: ResolvedModel) -> None:
    text = resolved.source
    source = outward(text, text) if text.startswith("https://") else text
    facts = ((name.replace("_", " "), fact[:LONGEST_FACT]) for name, fact in resolved.facts.items())
    rows = (row for row in (("source", source), ("sizes", _sizes(resolved)), *facts) if row[1])
    show(_part("Where this comes from", ("What", "As read"), rows, ()))
    show(joined(block("oa-soft", note, "p") for note in resolved.notes))


def _sizes(resolved: ResolvedModel) -> str:
    """Origin of the sizes: read from a file, or derived."""
    form = resolved.model.format
    if resolved.stored == form and resolved.source.startswith("GGUF"):
        return "as the file has them, tensor by tensor"
    if resolved.stored not in ("", form):
        instead = f"; it is stored as {resolved.stored}"
    else:
        instead = ""
    return f"computed for {form}, tensor by tensor{instead}"
