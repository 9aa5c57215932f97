"""Results of other tools: the speeds that they measured, and the request that they state."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.advice.diagnosis.diagnose import Measured, measurable
from advisor.advice.diagnosis.facts import other_model
from advisor.cost_model.placement import PlacementStrategy
from advisor.errors import AdvisorError, InputError
from advisor.machine.catalog import GPUS
from advisor.machine.machine import Machine
from advisor.model.by_name.names import format_in_name
from advisor.model.model import Model
from advisor.probes.llama_cpp.printed_results import read as read_runs
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.request.cache_types import cache_type, is_cache_type
from advisor.request.estimates import estimates_of
from advisor.request.request import DEFAULTS, Request
from advisor.runtimes import RUNTIMES

LARGEST = 64_000_000
"""Largest file that is read; `vllm bench serve --save-detailed` includes every answer [B]."""
READ = ("json", "jsonl", "txt", "log", "md", "csv", "sql")
"""Ends of the names of files that tools write."""
BENCHES = ("llama-bench",)  # tools whose generation has no prompt before it but its depth
OF_BENCHES = (*BENCHES, "llama-batched-bench", "llama-sweep-bench")
"""Tools that read a prompt without a server."""
BUILD = re.compile(r"build (\d+)")


def reported_in(path: Path) -> Measured:
    """Speeds that a file reports; raises InputError as `reported`, or where it cannot be read."""
    return reported(given_files.content(path, LARGEST), str(path))


def reported(content: bytes, name: str) -> Measured:
    """Speeds of one user that the content of a file reports; its name is for errors.

    Of several runs, the first with a speed of generation counts, and the first prompt at the same
    depth of the cache. Raises InputError for an unknown tool, or no speed of generation.
    """
    if len(content) > LARGEST:
        raise InputError(f"{name} has more than {LARGEST:,} bytes; give one run's results.")
    try:
        runs = read_runs(given_files.decoded(content))
    except UnicodeDecodeError:
        raise InputError(f"{name} is no text; give the JSON that a tool wrote.") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    generation = next((run for run in runs if run.decode), None)
    if generation is None or generation.decode is None:
        raise InputError(
            f"{name}: {runs[0].tool} reports no speed of generation alone; run it so that it "
            "generates tokens (llama-bench -n 128, vllm bench serve)."
        )
    prompts = (run for run in runs if run.prompt and run.depth == generation.depth)
    read = next(prompts, None)
    return Measured(
        decode=generation.decode,
        prompt=read.prompt if read else None,
        prompt_tokens=read.prompt_tokens if read else None,
        cached=read.depth if read else 0.0,
        depth=_depth(generation),
        output=generation.output_tokens,
        source=", ".join(filter(None, (generation.tool, generation.model))),
        facts=generation,
    )


def _depth(generation: EngineRun) -> float | None:
    """Tokens in the cache before a generation; None where its tool does not say so [tokens]."""
    if generation.output_tokens is None:
        return None
    if generation.tool in BENCHES:
        return generation.depth
    prompt = generation.prompt_tokens
    if prompt is None:
        return None
    return generation.depth + prompt


# The request that a result states, where the typed one leaves it open.


def as_run(request: Request, facts: EngineRun | None) -> tuple[Request, tuple[str, ...]]:
    """Request with open fields filled from a result, and notes on them.

    Raises:
        InputError: the result is of another model.
    """
    if facts is None:
        return request, ()
    check_model(facts, request.nouns().model)
    other = of_other_gpu(facts, request.nouns().machine)
    stated = {name: value for name, value in _stated(request, facts) if value != DEFAULTS[name]}
    run = replace(request, **stated)
    told = [other] if other else []
    told += [f"Of the results: {words}."] if (words := _listed(stated)) else []
    if not request.runtime and facts.runtime:
        run, of_runtime = _in_runtime(run, facts)
        told += of_runtime
    return run, tuple(told)


def check_model(facts: EngineRun, model: Model) -> None:
    """Check that results are of the expected model; raises InputError."""
    other = other_model(facts.model, model)
    if other:
        raise InputError(
            f"The results are of {facts.model[:80]!r} ({other}), and the model is {model.title}: "
            "name the one that ran, or give results of this one."
        )


def of_other_gpu(facts: EngineRun, machine: Machine) -> str:
    """Note on a GPU in a result that the machine lacks; empty where the GPUs agree."""
    for name in filter(None, map(str.strip, facts.gpus.split(","))):
        with suppress(AdvisorError):
            measured = GPUS.find(name).name
            if machine.gpus and measured not in {gpu.name for gpu in machine.gpus}:
                return (
                    f"The results are of a machine with {measured}, and this one has "
                    f"{machine.gpus[0].name}: the comparison says nothing unless you give the "
                    "machine that ran (--gpu)."
                )
    return ""


def _stated(request: Request, facts: EngineRun) -> Iterator[tuple[str, Any]]:
    """Inputs that a result states and the request leaves open, with their values."""
    model = request.nouns().model
    form = format_in_name(facts.model)
    if form and request.format is None and format_in_name(request.model) is None:
        yield "format", form.name
    if facts.users and request.users == 1:
        yield "users", max(round(facts.users), 1)
    kv_type = cache_type(facts.kv_type)
    if request.kv_type is None and is_cache_type(kv_type) and kv_type != "f16":
        yield "kv_type", kv_type
    if facts.tool in OF_BENCHES:
        yield "bench", True
    build = BUILD.match(facts.engine)
    if build and request.build is None and not request.here:
        yield "build", f"b{build[1]}"
    layers = facts.gpu_layers
    if layers is None or request.gpu_layers is not None or request.placement is not None:
        return
    if layers > model.layers:
        yield "placement", str(PlacementStrategy.GPU_RESIDENT)
    else:
        yield "gpu_layers", layers
        yield "placement", str(PlacementStrategy.CPU_OFFLOAD)


def _listed(stated: Mapping[str, Any]) -> str:
    """Words on the inputs of a request that a result states; without those on how a bench reads
    prompts.
    """
    words = {"users": "{} users at once", "gpu_layers": "-ngl {}", "build": "build {}"}
    shown = {name: value for name, value in stated.items() if name != "bench"}
    return ", ".join(words.get(name, "{}").format(value) for name, value in shown.items())


def _in_runtime(request: Request, facts: EngineRun) -> tuple[Request, tuple[str, ...]]:
    """Request for the runtime of a result, where the machine runs it, and what is told."""
    there = replace(request, runtime=facts.runtime)
    try:
        if measurable(estimates_of(there.nouns(), ())):
            return there, _of_runtime(facts)
    except AdvisorError as error:
        why = str(error)
    else:
        why = f"{facts.runtime} does not run this here."
    return request, (f"{facts.tool} measured {facts.runtime}; {why} Another runtime is compared.",)


def _of_runtime(facts: EngineRun) -> tuple[str, ...]:
    """Sentence on the runtime of a result, where it is not the usual one."""
    if facts.runtime == RUNTIMES[0].name:
        return ()
    if facts.tool == facts.runtime:
        return (f"The run is one of {facts.runtime}, which is compared.",)
    return (f"{facts.tool} measured {facts.runtime}, which is compared.",)
