"""Programs that run llama.cpp: `llama-bench` on the PATH, or the Python wheel `xllamacpp`."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from advisor.errors import InputError
from advisor.failures import ProbeError
from advisor.probes.llama_cpp import child
from advisor.probes.llama_cpp.job import EngineJob, Stop, Timings, output_of
from advisor.probes.llama_cpp.result_files import EngineRun, read


@dataclass(frozen=True, kw_only=True)
class EngineProgram:
    """Program that runs llama.cpp."""

    name: str  # name in messages
    available: Callable[[], bool]  # whether it is installed
    command: Callable[[EngineJob], tuple[str, ...]]  # command line for a job
    # timings from its output; without those of an unfinished part
    timings: Callable[[str, EngineJob], Timings]

    def run(self, job: EngineJob, stop: Stop) -> Timings:
        """Timings of a model; the timings of finished parts when stopped."""
        printed, failure = output_of(self.command(job), stop, descriptor=job.descriptor)
        if failure:
            raise ProbeError(f"{self.name} could not run the model: {failure}.")
        return self.timings(printed, job)


PROGRAM = "llama-bench"
REPEATS = 3


def _bench_command(job: EngineJob) -> tuple[str, ...]:
    """Command line; a single shallow depth omits `-d`, which builds before May 2025 do not know."""
    depths = ",".join(str(depth) for depth in job.depths)
    return (
        *(shutil.which(PROGRAM) or PROGRAM, "-m", str(job.path), "-o", "json"),
        *("-t", str(job.threads), "-ngl", "0", "-r", str(REPEATS), "-n", str(job.tokens)),
        *("-p", str(job.prompt), *(("-d", depths) if len(job.depths) > 1 else ())),
    )


def _bench_timings(printed: str, job: EngineJob) -> Timings:
    """Timings of llama-bench, without prompts where the build has them on a GPU."""
    if not printed.rstrip().endswith("]"):
        return Timings()
    try:
        runs = read(printed)
    except InputError as error:
        raise ProbeError(f"llama-bench printed what cannot be read: {error}") from error
    backends = [str(row.get("backends", "")).split(",") for row in json.loads(printed)]
    on_gpu = any({*names} - {"CPU", "BLAS"} for names in backends)
    tokens = {int(run.depth) or job.depths[0]: _seconds(run) for run in runs if run.decode}
    prompts = [run for run in runs if run.prompt and not on_gpu]
    return Timings(
        token_seconds=tokens,
        prompt_rates=min(prompts, key=lambda run: run.depth).samples if prompts else (),
    )


def _seconds(run: EngineRun) -> tuple[float, ...]:
    return tuple(1.0 / rate for rate in run.samples)


WHEEL = (sys.executable, "-P", str(Path(child.__file__)))
"""Start of the separate process that imports the wheel; without -P the folder of the script would
come first, and with it this package's modules."""


def as_json(job: EngineJob) -> dict[str, Any]:
    """Job as JSON for that process."""
    return {**asdict(job), "path": str(job.path)}


def _wheel_timings(printed: str, _: EngineJob) -> Timings:
    """Timings from the process's lines of JSON, without an unfinished line."""
    tokens: dict[int, tuple[float, ...]] = {}
    rates: tuple[float, ...] = ()
    for line in printed.splitlines():
        try:
            part = json.loads(line)
        except json.JSONDecodeError:
            continue
        if "depth" in part:
            tokens[part["depth"]] = tuple(part["token_seconds"])
        else:
            rates = tuple(part["prompt_rates"])
    return Timings(token_seconds=tokens, prompt_rates=rates)


LLAMA_BENCH = EngineProgram(
    name="llama-bench",
    available=lambda: shutil.which(PROGRAM) is not None,
    command=_bench_command,
    timings=_bench_timings,
)
XLLAMACPP = EngineProgram(
    name="llama.cpp (xllamacpp)",
    available=lambda: find_spec("xllamacpp") is not None,
    command=lambda job: (*WHEEL, json.dumps(as_json(job))),
    timings=_wheel_timings,
)
