"""Constants of the cost model on a host where llama.cpp was timed.

What was timed replaces what was fitted, so that the model gives back the times of the samples. It
keeps its form, and with it what changes when cores, RAM or the mixture of types do.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from advisor.catalog.constants import ConstantRow, Constants
from advisor.cost_model.processors import cores_alone, vectors
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import LAYERS
from advisor.machine.machine import EngineSpeed, Host
from advisor.machine.quantity import Provenance, Quantity
from advisor.model.model import Model

RUNTIMES = frozenset({"llama.cpp", "ollama", "lm-studio"})
"""Those whose engine is llama.cpp."""
CLOSE = 0.9
"""Part of what RAM gives that the fastest type is taken to reach, where that is more than was
expected of any program."""
USUAL_HEAD = 128
"""Values of a head where its size is not known."""
HEADS = r"[1-9]\d*_[1-9]\d*"
"""Head size and heads that share a key."""
PROMPT = 128.0
"""Tokens of the prompts that the probe times."""
MOST_UNPACKING = 2.0
"""Speed of matrices over that of the whole prompt at most: what a probe leaves for unpacking."""
KNOWN = 0.5
"""Least share of a token's bytes whose types were timed."""


def constants_on(host: Host, model: Model, constants: Constants) -> Constants:
    """The constants for a model on a host; the same where llama.cpp was not timed with its types.

    Args:
        host: where it runs.
        model: whose storage types count.
        constants: bound to the case.
    """
    engine, scope = host.engine, constants.scope
    if engine is None or scope.runtime not in RUNTIMES or scope.build:
        return constants
    read = mixed(engine.read, model)
    if read is None:
        return constants
    rows = (
        *_reading(read, host, engine, model, constants),
        *_computing(engine, model, constants),
        *_ranges(constants, read),
    )
    return constants.with_measured(rows)


def mixed(rates: Mapping[str, Quantity], model: Model) -> Quantity | None:
    """A rate for a model whose tensors are of several types: total over the sum of share / rate.

    Args:
        rates: by storage type or format.
        model: a format among them decides alone.

    Returns:
        None where half of the bytes or more are of types that were not timed.
    """
    whole = rates.get(model.format.upper())
    if whole is not None:
        return whole
    known = {kind: share for kind, share in model.stored.items() if kind in rates}
    covered = sum(known.values())
    if covered <= KNOWN:
        return None
    slowness = sum(share / rates[kind].value for kind, share in known.items())
    most = max(known, key=lambda kind: known[kind])
    return replace(rates[most], value=covered / slowness)


def attending(rates: Mapping[str, Quantity], model: Model) -> Quantity | None:
    """Speed of attention for a model's heads: 1 / C = a + b / g, g heads sharing a key.

    Each head works on its own, and keys and values are fetched once for all that share them.

    Args:
        rates: by head size and g, "128_4".
        model: its head size decides which are nearest, and its g lies between theirs.
    """
    timed = {
        tuple(map(int, name.split("_"))): figure
        for name, figure in rates.items()
        if re.fullmatch(HEADS, name)
    }
    cached = sum(layer.key_values + layer.value_values for layer in model.architecture.cache)
    if not timed or not cached:
        return None
    size = model.architecture.head_dim or USUAL_HEAD
    near = min(
        (head_size for head_size, _ in timed), key=lambda head_size: abs(math.log(head_size / size))
    )
    known = sorted(
        (1.0 / group, figure) for (head_size, group), figure in timed.items() if head_size == near
    )
    shares = [share for share, _ in known]
    slowness = [1.0 / float(figure.value) for _, figure in known]
    share = cached / max(sum(model.architecture.attention_values), 1)
    return replace(known[0][1], value=1.0 / float(np.interp(share, shares, slowness)))


def _read_share(engine: EngineSpeed, constants: Constants) -> float:
    """Share of RAM's rate that programs reach: what the fastest type shows, where that is more."""
    fastest = max(float(figure.value) for figure in engine.read.values())
    return max(constants.value("cpu_read_share"), fastest / (CLOSE * engine.ram))


def _reading(
    read: Quantity, host: Host, engine: EngineSpeed, model: Model, constants: Constants
) -> Iterator[ConstantRow]:
    """Share of RAM's rate and the cores' own, which together give what was timed."""
    share = _read_share(engine, constants)
    cores = float(cores_alone(read.value, share * engine.ram)) / engine.cores
    yield _row(constants.row("cpu_read_share"), read, share)
    yield _row(constants.row("core_decode_rate", vectors(host)), read, cores)
    plain = mixed({**engine.read, **engine.plain}, model) if engine.plain else None
    if plain is not None:
        yield _row(constants.row("plain_layout_share"), plain, float(plain.value / read.value))


def _computing(engine: EngineSpeed, model: Model, constants: Constants) -> Iterator[ConstantRow]:
    """What layers, experts and attention cost, and how fast prompts are computed."""
    for constant, figure, cores in (
        ("cpu_layer", engine.layer, engine.cores),
        ("cpu_expert_layer", engine.expert_layer, 1),
        ("core_attention_flops", attending(engine.attention, model), engine.cores),
        ("core_flops", _multiplying(engine, model, constants), engine.cores),
    ):
        if figure is not None:
            yield _row(constants.row(constant), figure, float(figure.value) / cores)


def _multiplying(engine: EngineSpeed, model: Model, constants: Constants) -> Quantity | None:
    """Speed of matrices, from a prompt in which weights were unpacked once besides [FLOP/s].

    F / P = W / U + F (1 - 1/T) / C, solved for C: P what was timed with T tokens, U what the cores
    unpack, W / F = bytes of a weight / 2 T.
    """
    timed = mixed(engine.prompt, model)
    read = mixed(engine.read, model)
    if timed is None or read is None:
        return None
    unpacked = cores_alone(read.value, _read_share(engine, constants) * engine.ram)
    weight = model.file_bytes / model.architecture.params
    rest = 1.0 / timed.value - weight / (2.0 * PROMPT * unpacked)
    rest = np.maximum(rest, 1.0 / (MOST_UNPACKING * timed.value))
    return replace(timed, value=float((1.0 - 1.0 / PROMPT) / rest))


def _ranges(constants: Constants, read: Quantity) -> Iterator[ConstantRow]:
    """The narrower range of a token's time, for each of its parts on the processor."""
    row = constants.row("spread_timed")
    for part in (Route.IN_PLACE, LAYERS):
        own = replace(row, constant="spread", family=str(part))
        yield replace(own, date=row.date or read.date)
    yield replace(row, constant="lean", value=0.0, date=row.date or read.date)


def _row(fitted: ConstantRow, figure: Quantity, value: float) -> ConstantRow:
    """What was timed, in place of what was fitted for many machines."""
    return replace(
        fitted, value=value, kind=str(Provenance.MEASURED), rows=None, source=figure.source,
        date=figure.date, runtime=None, family=None, backend=None, build=None, decode_class=None,
    )  # fmt: skip
