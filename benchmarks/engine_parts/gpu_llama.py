"""llama.cpp on a GPU by the `llama-bench` of the PATH: in it, half in it, and experts in RAM.

References:
    [1] ggml-org/llama.cpp, tools/llama-bench/README.md at 5a32f10, read 2026-11-21: options and
        JSON. Newer builds take `-fa on|off|auto` and still `-fa 1`.
"""

import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from advisor.cost_model.placement import Placement, PlacementStrategy, Settings
from advisor.errors import AdvisorError, InputError
from advisor.failures import ProbeError
from advisor.model.architecture import ArchitectureSpec
from advisor.probes import host
from advisor.probes.llama_cpp.job import output_of
from advisor.probes.llama_cpp.programs import PROGRAM
from advisor.probes.llama_cpp.result_files import read
from advisor.probes.llama_cpp.synthetic_model import in_format, in_type, write
from advisor.runtimes import LLAMA_CPP
from benchmarks.engine_parts.cases import TOKENS, Case, Session, in_turns, placed
from benchmarks.engine_parts.models import MANY_EXPERTS, Target, filled, target, targets
from benchmarks.engine_parts.readings import Run, until

DEPTHS = (512, 4096)  # lengths of prompts, and of the cache while tokens are timed [tokens]
REPEATS = 5
PROMPT_REPEATS = 2
MICRO_BATCH = 512
LARGE_MICRO_BATCH = 2048
LONGEST = 150.0  # time for one call; in the first a driver may have to compile kernels [s]
FEW = 8  # runs between two probes of the machine
NAMES = (
    "MoE 30B-A3B Q4_K_M", "Llama-3.1-8B Q8_0", "MoE 7B-A1B Q4_K_M", "TinyLlama-1.1B Q6_K",
    "Llama-3.2-3B Q4_0", "Mistral-7B Q4_K_M", "Qwen3-1.7B F16",
)  # fmt: skip
"""Models, those first that tell most."""
TINY = ArchitectureSpec(
    name="tiny",
    layers=2,
    hidden=256,
    intermediate=512,
    heads=4,
    kv_heads=2,
    head_dim=64,
    vocab=512,
)


def cases() -> list[Case]:
    """Each model in its places."""
    by_name = {each.name: each for each in (*targets(), target(MANY_EXPERTS, "Q4_K_M"))}
    return [case for name in NAMES for case in _cases(by_name[name])]


def _cases(target: Target) -> Iterator[Case]:
    facts = target.synthetic.facts
    layers = target.synthetic.model.layers

    def case(
        place: str,
        category: str,
        strategy: PlacementStrategy,
        settings: Settings,
        ubatch: int = MICRO_BATCH,
    ) -> Case:
        return Case(
            name=target.name,
            place=place,
            category=category,
            facts=facts,
            model=target.synthetic.model,
            runtime=LLAMA_CPP,
            strategy=strategy,
            settings=settings,
            depths=DEPTHS,
            ubatch=ubatch,
        )

    half = Settings(gpu_layers=float(layers // 2), cpu_moe=0.0)
    yield case("all in the GPU", "resident", PlacementStrategy.GPU_RESIDENT, Settings())
    yield case("half in the GPU", "partial", PlacementStrategy.CPU_OFFLOAD, half)
    if facts.experts:
        routed = Settings(gpu_layers=float(layers), cpu_moe=float(layers))
        offload = ("moe_offload", PlacementStrategy.CPU_OFFLOAD, routed)
        yield case("experts in RAM", *offload)
        yield case(f"experts in RAM, -ub {LARGE_MICRO_BATCH}", *offload, LARGE_MICRO_BATCH)


def missing() -> str:
    """Why llama-bench cannot be used; empty where it can."""
    if shutil.which(PROGRAM) is None:
        return f"no {PROGRAM} on the PATH; build llama.cpp with CUDA and put it there."
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tiny.gguf"
        with path.open("wb") as file:
            write(file, in_type(TINY, "Q8_0"))
        try:
            tokens = ("-p", "0", "-n", "2", "-r", "1")
            rows = _rows((*_call(path, 1), "-ngl", "99", *tokens), LONGEST)
        except AdvisorError as error:
            return str(error)
    if rows[0].get("gpu_info"):
        return ""
    return f"{shutil.which(PROGRAM)} sees no GPU (its backends: {rows[0].get('backends')})."


def read_once(chosen: Sequence[Case], session: Session) -> None:
    """Every case once, and the probes before each few."""
    in_turns(chosen, session, _written, _timed, FEW)


def _written(case: Case, folder: Path) -> AbstractContextManager[Path]:
    return filled(in_format(case.facts, case.model.format), folder)


def _timed(case: Case, path: Path, session: Session) -> list[Run]:
    """A run at each depth, with the prompt of that length; a loss of prompts loses no tokens."""
    placement = placed(case, session.machine())
    session.needs(case.model.file_bytes)
    depths = ",".join(map(str, case.depths))
    rows = _rows(
        (
            *command(case, placement, path),
            "-p",
            "0",
            "-n",
            str(TOKENS),
            "-d",
            depths,
            "-r",
            str(REPEATS),
        ),
        LONGEST,
    )
    prompts = ("-p", depths, "-n", "0", "-r", str(PROMPT_REPEATS))
    try:
        rates = _prompts(_rows((*command(case, placement, path), *prompts), LONGEST))
    except AdvisorError as error:
        session.say(f"{case}: no prompt, {error}")
        rates = {}
    return [
        Run(
            target=case.name,
            place=case.place,
            runtime=_named(rows[0]),
            depth=int(speed.depth),
            seconds=statistics.median(1.0 / rate for rate in speed.samples),
            prompt=rates.get(int(speed.depth)),
        )
        for speed in read(json.dumps(rows))
        if speed.decode
    ]


def _prompts(rows: Sequence[dict[str, Any]]) -> Mapping[int, float]:
    """Speed of prompts by their length [tokens/s]."""
    runs = (run for run in read(json.dumps(rows)) if run.prompt)
    return {int(run.prompt_tokens or 0): statistics.median(run.samples) for run in runs}


def command(case: Case, placement: Placement, path: Path) -> tuple[str, ...]:
    """The call that puts layers and experts where a placement has them; one more for the head."""
    if placement.gpu_layers and case.facts.experts:
        experts = int(placement.cpu_moe)
    else:
        experts = 0
    return (
        *_call(path, host.facts().cores),
        *("-ngl", str(int(placement.gpu_layers) + 1), "-fa", "1", "-ub", str(case.ubatch)),
        *(("-ncmoe", str(experts)) if experts else ()),
    )


def _call(path: Path, threads: int) -> tuple[str, ...]:
    program = shutil.which(PROGRAM) or PROGRAM
    return (program, "-m", str(path), "-o", "json", "-t", str(threads))


def _rows(command: Sequence[str], seconds: float) -> list[dict[str, Any]]:
    """What llama-bench prints; raises ProbeError where it fails or takes too long, InputError where
    it prints something else.
    """
    printed, failure = output_of(command, until(seconds))
    if failure:
        raise ProbeError(f"llama-bench could not run it: {failure}")
    if not printed.rstrip().endswith("]"):
        raise ProbeError(f"llama-bench had not ended after {seconds:.0f} s.")
    try:
        entries = json.loads(printed)
    except json.JSONDecodeError as error:
        raise InputError(f"llama-bench printed no JSON ({error}): {printed[:80]!r}") from error
    if not entries:
        raise InputError("llama-bench printed no run.")
    return list(entries)


def _named(row: dict[str, Any]) -> str:
    """The engine of a row: build, commit and what it computes with."""
    build = f"{row.get('build_number')} {row.get('build_commit')}"
    return f"llama.cpp (llama-bench {build}, {row.get('backends')})"
