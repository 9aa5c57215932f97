"""Facts that a tool or a server states of a run: its model, file, layers and threads.

A fact rules causes out or shows them (`observed`); a run of another model is no run to compare with
(`other_model`).
"""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from advisor.advice.diagnosis.measured_run import MeasuredRun
from advisor.errors import AdvisorError, Refusal
from advisor.machine.backends import Backend
from advisor.model import catalog, resolve
from advisor.model.by_name.names import format_in_name
from advisor.model.model import Model
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.units import memory

OF_FILE = ("larger_file", "smaller_file")  # causes of another format
OF_LAYERS = ("fewer_layers", "more_layers", "whole_layers", "more_context", "one_gpu")
"""Causes of another number of layers on the GPUs."""
SAME_SIZE = 0.03
"""Largest difference of two files of a format and model: makers of files keep a few tensors in
other types."""
SAME_MODEL = 0.015
SAME_SHAPE = 0.1
"""Largest difference of the weights of a model's relatives, whatever their layers, and with as many
layers: another vocabulary, a part for images that is counted or not."""


@dataclass(frozen=True)
class Observation:
    """Fact about a run, with its weight for or against causes."""

    shows: bool  # it shows the causes; else it speaks against them
    causes: tuple[str, ...] = ()
    words: str = ""  # sentence with what helps, of what is not as it should be


def observed(facts: EngineRun, run: MeasuredRun) -> Iterator[Observation]:
    """Observations on causes, one for each fact that a result states."""
    yield from _of_layers(facts, run)
    yield from _of_file(facts, run)
    yield from _of_threads(facts, run)


def _of_layers(facts: EngineRun, run: MeasuredRun) -> Iterator[Observation]:
    if facts.gpu_layers is None or not run.runtime.takes_layers or not run.machine.gpus:
        return
    yield Observation(False, OF_LAYERS)  # the run has the stated layers
    if not facts.backend:
        return
    built = {name.strip().casefold() for name in facts.backend.split(",")}
    if built <= {"cpu", "blas"}:
        words = f"The build that ran has no backend for the GPU ({facts.backend})."
        yield Observation(True, ("cpu_alone",), words)
        return
    if facts.gpu_layers > 0:
        yield Observation(False, ("cpu_alone",))
    assumed = Backend(run.constants.scope.interface).label.casefold()
    yield Observation(assumed not in built, ("other_backend",))


def _of_file(facts: EngineRun, run: MeasuredRun) -> Iterator[Observation]:
    model = run.model
    named = format_in_name(facts.model)
    form = named.name if named else ""
    if facts.file_bytes:
        off = facts.file_bytes / float(model.file_bytes) - 1.0
        if abs(off) <= SAME_SIZE:
            yield Observation(False, OF_FILE)
            return
        words = (
            f"It ran a file of {memory(facts.file_bytes)}{f' ({form})' if form else ''}, where "
            f"{model.format} takes {memory(model.file_bytes)}."
        )
        yield from _other_file(off > 0, words)
    elif form:
        yield from of_format(form, model, f"It ran {form}, where {model.format} is expected.")


def of_format(form: str, model: Model, words: str) -> Iterator[Observation]:
    """Observation on causes from a stated format: the expected one, a larger or a smaller one."""
    if form == model.format:
        yield Observation(False, OF_FILE)
        return
    with suppress(Refusal):
        stated = catalog.in_format(model.architecture, form)
        yield from _other_file(stated.file_bytes > model.file_bytes, words)


def _other_file(is_larger: bool, words: str) -> Iterator[Observation]:
    larger, smaller = OF_FILE
    shown, excluded = (larger, smaller) if is_larger else (smaller, larger)
    yield Observation(True, (shown,), words)
    yield Observation(False, (excluded,))


def _of_threads(facts: EngineRun, run: MeasuredRun) -> Iterator[Observation]:
    if facts.threads is None or not run.runtime.takes_layers:
        return
    cores = run.machine.host.cores
    yield Observation(facts.threads > cores, ("many_threads",))
    yield Observation(facts.threads < cores, ("few_threads",))


def other_model(name: str, model: Model) -> str:
    """Model that a stated name means, where it is not the expected one.

    It is empty for the expected model, a relative of its size, or a name that says no model
    ("default").
    """
    words = re.sub(r"^.*[/\\](?=[^/\\]+\.gguf$)", "", name.strip(), flags=re.IGNORECASE)
    with suppress(AdvisorError):
        stated = resolve.from_name(words)
        shape = stated.model.architecture
        expected = model.architecture
        if shape.shape_uncertainty or expected.shape_uncertainty:
            return ""
        off = abs(math.log(shape.params / expected.params))
        alike = off <= SAME_MODEL or (off <= SAME_SHAPE and shape.layers == expected.layers)
        if alike:
            return ""
        return stated.taken_as or stated.model.name
    return ""
