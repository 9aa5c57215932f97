"""How far off predictions are for groups that were left out, as 80 % ranges by part of the time."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from advisor.cost_model.uncertainty import ENOUGH, ON_GPU
from advisor.evidence.fitting.llama_cpp_fit import Fit
from advisor.evidence.fitting.llama_cpp_parameters import PARAMETERS
from advisor.evidence.fitting.llama_cpp_rows import StackedRows
from advisor.model.model import Floats

COVERED = 0.8
ASSUMED = {
    ("spread", "streamed"): 0.22,
    ("spread", "paged"): 0.6,
    ("spread", "staged"): 0.45,
    ("spread_unmeasured", "streamed"): 0.15,
    ("spread_unmeasured", "paged"): 0.5,
    ("spread_unmeasured", "staged"): 0.4,
}
"""Parts without rows of llama.cpp: published RAM, link and drive rates beside theory."""

Spreads = dict[tuple[str, str], tuple[float, int]]


def spreads(
    rows: Sequence[Mapping[str, str]],
    decode: StackedRows,
    found: Fit,
    prompt: StackedRows,
    prompts: Fit,
) -> Spreads:
    """Half widths as logarithms, with the rows behind each, by constant and part of the time.

    Args:
        rows: the file.
        decode: its rows of generation.
        found: their fit.
        prompt: its rows of prompts.
        prompts: their fit.
    """
    category = {row["id"]: row["category"] for row in rows}
    off = np.abs(np.log(decode.seconds / found.predicted))
    resident = np.array([category[one] == "resident" for one in decode.ids])
    few = others(decode) < ENOUGH
    gpu, unsure = _most(off[resident & ~few]), _most(off[resident & few])
    thin = float(np.sqrt(max(unsure**2 - gpu**2, 0.0)))
    share = _cpu_share(decode, found.predicted)
    told, untold = ~resident & decode.ram_given, ~resident & ~decode.ram_given
    cpu = _covering(lambda width: (1 - share[told]) * gpu + share[told] * width, off[told])
    more = _covering(
        lambda width: (1 - share[untold]) * gpu + share[untold] * np.hypot(cpu, width), off[untold]
    )
    written = np.abs(np.log(prompt.seconds / prompts.predicted))
    on_gpu = np.array([category[one] == "resident" for one in prompt.ids])
    return {
        **{("spread", part): (gpu, int((resident & ~few).sum())) for part in ON_GPU},
        ("spread_thin", ""): (thin, int((resident & few).sum())),
        ("spread", "in_place"): (cpu, int(told.sum())),
        ("spread_unmeasured", "in_place"): (more, int(untold.sum())),
        **{("spread_unmeasured", part): (0.0, 0) for part in ON_GPU},
        **{key: (value, 0) for key, value in ASSUMED.items()},
        **{
            ("spread_prompt", part): (_most(written[on_gpu]), int(on_gpu.sum()))
            for part in (*ON_GPU, "streamed", "paged", "staged")
        },
        ("spread_prompt", "in_place"): (_most(written[~on_gpu]), int((~on_gpu).sum())),
    }


def _most(off: Floats) -> float:
    return float(np.quantile(off, COVERED))


def sources(stack: StackedRows) -> Mapping[str, int]:
    """Groups with a GPU of each family."""
    groups = defaultdict(set)
    for scope, group in zip(stack.scopes, stack.groups, strict=True):
        groups[scope["gpu"]].add(group)
    return {family: len(found) for family, found in groups.items()}


def others(stack: StackedRows) -> Floats:
    """Groups with a GPU of the same family beside each row's own, shape (rows,)."""
    found = sources(stack)
    return np.array([found[scope["gpu"]] - 1.0 for scope in stack.scopes])


def half_widths(
    stack: StackedRows, predicted: Floats, *, gpu: float, thin: float, cpu: float, more: float
) -> Floats:
    """Half width of each row's 80 % range, as a logarithm, shape (rows,).

    Args:
        stack: rows of generation.
        predicted: their time, each without its group, shape (rows,) [s].
        gpu: half width of the time on the GPU.
        thin: what is added to that, in squares, where few measured a GPU of its family.
        cpu: that of the time on the processor.
        more: what is added to that, in squares, where the RAM rate is not known.
    """
    share = _cpu_share(stack, predicted)
    own = np.where(stack.ram_given, cpu, np.hypot(cpu, more))
    here = np.where(others(stack) < ENOUGH, np.hypot(gpu, thin), gpu)
    return np.asarray((1 - share) * here + share * own)


def _cpu_share(stack: StackedRows, predicted: Floats) -> Floats:
    return np.asarray(np.clip(1.0 - _gpu_part(stack) / predicted, 0.0, 1.0))


def _gpu_part(stack: StackedRows) -> Floats:
    """Time on the GPU by the constants' start values, close enough to divide the ranges [s]."""
    reading = stack.on_gpu.weights / (PARAMETERS["gpu_read_share"].start * stack.bandwidth)
    return np.asarray(reading + stack.on_gpu.layers * PARAMETERS["gpu_layer"].start)


def _covering(half_width: Callable[[float], Floats], off: Floats) -> float:
    """The width for which four in five are within their range, by bisection."""
    low, high = 0.0, 3.0
    for _ in range(40):
        middle = (low + high) / 2
        enough = np.mean(off <= half_width(middle)) >= COVERED
        low, high = (low, middle) if enough else (middle, high)
    return high
