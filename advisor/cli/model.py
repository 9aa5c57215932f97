"""`model`: size of a model in a format, bytes read per token, cache."""

import argparse

import numpy as np

from advisor.advice.compare import context_notes
from advisor.catalog.records import as_record
from advisor.cli.command import Json, show
from advisor.cost_model.workload import Workload
from advisor.formatting import memory
from advisor.model.architecture import Architecture
from advisor.model.resolve import ResolvedModel
from advisor.request import command_line


def run(args: argparse.Namespace) -> None:
    """Run `model`."""
    nouns = command_line.from_args(args).nouns()
    answer = model_answer(nouns.resolved, nouns.work)
    show(args, answer, lambda: "\n".join(_model_lines(answer)))


def model_answer(resolved_model: ResolvedModel, work: Workload) -> Json:
    """Record of `model`: sizes, bytes read per token, cache."""
    model, architecture = resolved_model.model, resolved_model.model.architecture
    cache = model.kv_bytes(work.context, work.kv_type)
    per_token = model.kv_bytes(2.0, work.kv_type) - model.kv_bytes(1.0, work.kv_type)
    return as_record(
        "model",
        resolved_model,
        architecture=_kinds(architecture),
        active_params=round(architecture.active_params),
        kv_bytes_per_token=float(np.sum(per_token)),
        kv_bytes=float(np.sum(cache) * work.users),
        context=float(work.context),
        kv_type=work.kv_type,
        notes=[*resolved_model.notes, *context_notes(model, work)],
    )


def _kinds(architecture: Architecture) -> str:
    caches = architecture.cache
    linear = sum(cache.state_values > 0 for cache in caches)
    windowed = sum(cache.window is not None for cache in caches)
    latent = any(cache.key_values and not cache.value_values for cache in caches)
    parts = [
        f"{architecture.experts.used} of {architecture.experts.total} experts"
        if architecture.experts
        else "dense",
        f"{linear} linear layers" if linear else "",
        f"{windowed} window layers" if windowed else "",
        "latent attention" if latent else "",
    ]
    return ", ".join(part for part in parts if part)


def _model_lines(answer: Json) -> list[str]:
    return [
        f"{answer['name']}, {answer['format']}: "
        f"{answer['architecture']}, {answer['layers']} layers",
        f"  {answer['params'] / 1e9:,.2f} B parameters, "
        f"{answer['active_params'] / 1e9:,.2f} B active",
        f"  weights {memory(answer['weight_bytes'])}, "
        f"read per token {memory(answer['read_bytes_per_token'])}",
        f"  KV cache {memory(answer['kv_bytes'])} at {answer['context']:,.0f} tokens "
        f"({answer['kv_type']})",
        f"  source: {answer['source']}",
        *(f"  note: {note}" for note in answer["notes"]),
    ]
