"""80 % ranges of serving engines, from published runs that were predicted without their group.

Widths and widening factors are fitted as those of llama.cpp (`llama_cpp/spreads.py`), but with
their own count of publishers for each family of GPUs, 0 included: a GPU with few runs of llama.cpp
may have many of serving engines, and the other way round. The simulator counts as one publisher.
First tokens have too few publishers for more than one width.
"""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from advisor.catalog.constants import ConstantRow
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import CROSSINGS, LAYERS, TOKEN
from advisor.cost_model.uncertainty import (
    BY_TRAIT,
    IN_DECODE,
    IN_PROMPT,
    LEAN,
    SEVERAL,
    THIN,
    rarity,
)
from advisor.evidence.fitting.engines.cases import PUBLISHED, EngineCases
from advisor.evidence.fitting.frameworks.runs import SERVING
from advisor.evidence.fitting.llama_cpp.row_errors import Errors
from advisor.evidence.fitting.llama_cpp.spreads import COVERED, GPU, LEAN_GPU, TRAIT, widths
from advisor.machine.catalog import gpu_rows
from advisor.model.model import Floats

PARTS = (Route.RESIDENT, LAYERS, TOKEN, CROSSINGS)
DATE = "2026-11"
NOTES = {
    IN_DECODE: "80 % range, as the logarithm of a factor",
    IN_PROMPT: "80 % range, as the logarithm of a factor",
    LEAN[IN_DECODE]: "how far an 80 % range leans to the slow side",
    BY_TRAIT[IN_PROMPT]: "80 % range of runs like this: most behind it are of several GPUs",
    BY_TRAIT[IN_DECODE]: "80 % range of runs like this, as a factor on its half width",
    "sources": "publishers that measured a serving engine on a GPU of the family",
}


def publishers(cases: EngineCases) -> Mapping[str, frozenset[str]]:
    """Publishers with a GPU of each family, with the simulator as one."""
    known: dict[str, set[str]] = {}
    for case in cases.cases:
        known.setdefault(case.machine.gpus[0].family, set()).add(case.publisher)
    return {family: frozenset(names) for family, names in known.items()}


def traits(cases: EngineCases) -> Mapping[str, Floats]:
    """Degree of each trait, of shape (cases,).

    The number of publishers does not include that of the case.
    """
    known = publishers(cases)
    others = [len(known[case.machine.gpus[0].family] - {case.publisher}) for case in cases.cases]
    names = cases.cases[0].traits
    stated = {name: np.array([case.traits[name] for case in cases.cases]) for name in names}
    return stated | {THIN: rarity(np.array(others))}


def spread_rows(cases: EngineCases, predicted: Floats, source: str) -> Iterator[ConstantRow]:
    """Half widths, leans, traits' factors and publishers of every serving engine.

    Args:
        cases: all cases.
        predicted: time of each case by the fit without its group, shape (cases,) [s].
        source: source of the rows.
    """
    real = cases.columns["evidence"] == PUBLISHED
    first = np.array([case.steps == 0 for case in cases.cases])
    off = np.log(predicted / cases.seconds)

    def rows(constant: str, value: float, family: str, count: int) -> Iterator[ConstantRow]:
        unit = "count" if constant == "sources" else "share"
        for key in SERVING:
            yield ConstantRow(
                constant=constant, runtime=key, family=family or None,
                value=float(f"{value:.3g}"), unit=unit, kind="fitted", rows=count or None,
                source=source, date=DATE, note=NOTES[constant],
            )  # fmt: skip

    tokens = real & ~first
    numbers, count = widths(_errors(cases, off, tokens), IN_DECODE), int(tokens.sum())
    for part in PARTS:
        yield from rows(IN_DECODE, float(np.exp(numbers[GPU])), str(part), count)
        yield from rows(LEAN[IN_DECODE], numbers[LEAN_GPU], str(part), count)
    for name in (*cases.cases[0].traits, THIN):
        factor = float(np.exp(numbers[f"{TRAIT}{name}"]))
        yield from rows(BY_TRAIT[IN_DECODE], factor, name, count)
    prompts = real & first
    half = float(np.quantile(np.abs(off[prompts]), COVERED))
    for part in PARTS:
        yield from rows(IN_PROMPT, half, str(part), int(prompts.sum()))
    yield from rows(BY_TRAIT[IN_PROMPT], 1.0, SEVERAL, int(prompts.sum()))
    yield from rows("sources", 0.0, "", 0)
    counts = dict.fromkeys((card.family for card in gpu_rows().values()), 0)
    counts |= {family: len(names) for family, names in publishers(cases).items()}
    for family, number in sorted(counts.items()):
        yield from rows("sources", float(number), family, number)


def _errors(cases: EngineCases, off: Floats, chosen: npt.NDArray[np.bool_]) -> Errors:
    """Errors of chosen cases, predicted without their group; all time is spent on GPUs."""
    none = np.full(len(off), "")
    every = Errors(
        off=off,
        new=off,
        kinds=none,
        groups=cases.columns["group"],
        publishers=np.array([case.publisher for case in cases.cases]),
        backends=none,
        builds=none,
        on_gpu=np.ones(len(off)),
        traits=traits(cases),
        guessed=np.zeros(len(off)),
    )
    return every.of(chosen)
