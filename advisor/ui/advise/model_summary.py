"""Summary of the model: its parts, its cache, and their source."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import streamlit as st
from markupsafe import Markup

from advisor.advice.advise import Answer
from advisor.cost_model.workload import Workload
from advisor.formatting import memory, number, short
from advisor.model.architecture import Architecture, Group, LayerCache
from advisor.model.model import LAYERED, Model
from advisor.model.resolve import ResolvedModel
from advisor.ui.parts.glossary import MEANINGS, term
from advisor.ui.parts.markup import block, joined, outward, show, table

Row = tuple[Markup, str]

PART_HEADINGS, FIGURE = ("Weights", "Stored", "Bits", "Per token"), ("Figure", "Value")
LONGEST_FACT = 300


def expander(answer: Answer) -> None:
    """Expander below the title."""
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
        count, size, read = params[group], _stored(model, group), _read(model, group)
        if count or read:
            stored = (memory(size), number(8 * size / count)) if count else ("", "")
            tied = group is Group.OUTPUT and model.architecture.tied
            name = "output head (the embedding again)" if tied else group.value
            named = term(name, MEANINGS[group.value].meaning)
            yield named, short(count), *stored, memory(read)
    total = model.architecture.params
    yield (
        Markup("<b>all</b>"), short(total), memory(model.file_bytes),
        number(8 * model.file_bytes / total), memory(model.read_bytes_per_token),
    )  # fmt: skip


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
    if group not in LAYERED:
        return 0.0
    return float(np.sum(model.bytes_per_layer[group] * model.read_share(group, 1)))


def _number_rows(model: Model) -> Iterable[Row]:
    built = model.architecture
    yield term("parameters"), short(built.params)
    yield term("active"), short(built.active_params)
    yield term("layers"), f"{built.layers}"
    if built.experts:
        layers = int(model.expert_layers.sum())
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
        return "full attention" if cache.value_values else "latent attention"
    return "linear or state space" if cache.state_values else "no cache"


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
    instead = f"; it is stored as {resolved.stored}" if resolved.stored not in ("", form) else ""
    return f"computed for {form}, tensor by tensor{instead}"
