"""`model` and `machine`: the meaning of a name, with sizes and speeds; `inputs`: all inputs."""

import argparse
from collections.abc import Iterator

import numpy as np

from advisor.catalog.inputs import INPUTS
from advisor.catalog.records import as_record
from advisor.cli.command import Json, program, show
from advisor.cost_model.workload import Workload
from advisor.errors import InputError, UnknownName
from advisor.formatting import aligned
from advisor.machine.identify import Identified
from advisor.model.architecture import Architecture
from advisor.model.model import Model
from advisor.model.resolve import ResolvedModel
from advisor.units import memory


def model(args: argparse.Namespace) -> None:
    """Run `model`."""
    nouns = args.request.nouns()
    answer = model_answer(nouns.resolved, nouns.work)
    show(args, answer, lambda: "\n".join(_model_lines(answer)))


def model_answer(resolved_model: ResolvedModel, work: Workload) -> Json:
    """Record of `model`: sizes, bytes read per token, cache."""
    model = resolved_model.model
    architecture = resolved_model.model.architecture
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
        notes=[*resolved_model.notes, *_of_tables(model), *work.context_notes(model)],
    )


def _of_tables(model: Model) -> Iterator[str]:
    """Note on tables that take no room beside the layers."""
    if model.tables:
        yield (
            f"{memory(model.tables)} of its weights are tables {model.kind_of_tables}: a token "
            "reads a few rows of them, and llama.cpp leaves them in RAM or in the file on the "
            "drive."
        )


def inputs(args: argparse.Namespace) -> None:
    """Run `inputs`."""
    groups = dict.fromkeys(entry.group for entry in INPUTS.values())
    if args.group is not None and args.group not in groups:
        raise UnknownName("group", args.group, groups, f"Choose from {', '.join(groups)}.")
    chosen = [entry for entry in INPUTS.values() if args.group in (None, entry.group)]
    rows = ((entry.option, entry.unit, entry.sentence) for entry in chosen)
    records = [as_record("input", entry) for entry in chosen]
    show(args, records, lambda: "\n".join(aligned(rows)))


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


def machine(args: argparse.Namespace) -> None:
    """Run `machine NAME`."""
    if args.name.strip().casefold() == "this":
        raise InputError(
            f"`{program()} here` describes this machine, `{program()} calibration show this` what "
            "is measured of it."
        )
    answer = machine_answer(Identified.of(args.name), args.name)
    show(args, answer, lambda: "\n".join(_machine_lines(answer)))


def machine_answer(taken: Identified, name: str) -> Json:
    """Record of `machine`; datasheet rates, theoretical for RAM [GB/s]."""
    host = taken.host
    preset = taken.preset
    if taken.channels and taken.mts:
        theory = taken.channels * 8 * taken.mts / 1000
    else:
        theory = None
    gpu = taken.gpus[0] if taken.gpus else None
    bandwidth = gpu.bandwidth_gbs if gpu else None
    if gpu is not None and gpu.of_ram and theory is not None:
        bandwidth = theory
    if preset and taken.ram_gib == preset.ram_gib:
        priced = preset
    else:
        priced = None
    row = preset or gpu or host
    return as_record(
        "machine",
        taken,
        taken_as=None if taken.name == name else taken.name,
        gpus=[row.name for row in taken.gpus],
        bandwidth_gbs=bandwidth,
        ram_gbs=theory or (host.bandwidth_gbs if host else None),
        usd=priced.usd if priced else None,
        per=priced.per if priced and priced.usd is not None else None,
        source=row.source if row else None,
    )


def _memory_lines(answer: Json) -> Iterator[str]:
    if answer["channels"] and answer["mts"]:
        channels = f"{answer['channels']:g} channels of {answer['mts']:g} MT/s"
        yield f"  RAM: {channels}, {answer['ram_gbs']:,.0f} GB/s in theory"
    elif answer["ram_gbs"]:
        yield f"  RAM: {answer['ram_gbs']:,.0f} GB/s"
    if answer["ram_gib"]:
        yield f"  memory: {answer['ram_gib']:.4g} GB"


def _machine_lines(answer: Json) -> list[str]:
    """Record as a few lines of text, without unknown values."""
    gpus = " + ".join(answer["gpus"])
    if len(answer["gpus"]) > 1:
        gpus = answer["name"].partition(",")[0]  # each kind with its number
    elif answer["count"] > len(answer["gpus"]):
        gpus = f"{answer['count']}x {gpus}"
    lines = [f"{answer['name']} ({answer['kind']})"]
    if gpus:
        size = answer["memory_gib"]
        rate = answer["bandwidth_gbs"]
        if len(answer["gpus"]) > 1:
            first = " (the first)"
        else:
            first = ""
        lines.append(f"  GPU: {gpus}, {size:.4g} GB, {rate:,.0f} GB/s{first}")
    if answer["cpu"]:
        lines.append(f"  processor: {answer['cpu']}, {answer['cores']} cores")
    lines += _memory_lines(answer)
    if answer["usd"] is not None:
        lines.append(
            f"  price: {answer['usd']:,g} USD {'an hour' if answer['per'] == 'hour' else ''}"
        )
    lines += [f"  note: {note}" for note in answer["notes"]]
    if answer["alternatives"]:
        lines.append(f"  or: {', '.join(answer['alternatives'])}")
    lines.append(f"  source: {answer['source']}")
    return lines
