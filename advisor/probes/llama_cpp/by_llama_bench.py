"""llama.cpp through the program `llama-bench` on the PATH."""

import json
import shutil

from advisor.errors import InputError, ProbeError
from advisor.probes.llama_cpp.job import EngineJob, Stop, Timings, output_of
from advisor.probes.llama_cpp.result_files import EngineRun, read

PROGRAM = "llama-bench"
REPEATS = 3


def available() -> bool:
    """Whether the program is on the PATH."""
    return shutil.which(PROGRAM) is not None


def run(job: EngineJob, stop: Stop) -> Timings:
    """Timings of a model; empty when stopped.

    Prompts of a build for GPUs are omitted: it computes them on the GPU even with no layer there.
    """
    printed, failure = output_of(command(job), stop, descriptor=job.descriptor)
    if failure:
        raise ProbeError(f"llama-bench could not run the model: {failure}.")
    return timings(printed, job)


def command(job: EngineJob) -> tuple[str, ...]:
    """Command line; a single shallow depth omits `-d`, which builds before May 2025 do not know."""
    depths = ",".join(str(depth) for depth in job.depths)
    return (
        *(shutil.which(PROGRAM) or PROGRAM, "-m", str(job.path), "-o", "json"),
        *("-t", str(job.threads), "-ngl", "0", "-r", str(REPEATS), "-n", str(job.tokens)),
        *("-p", str(job.prompt), *(("-d", depths) if len(job.depths) > 1 else ())),
    )


def timings(printed: str, job: EngineJob) -> Timings:
    """Timings from the program's output; empty for an unfinished run."""
    if not printed.rstrip().endswith("]"):
        return Timings()
    try:
        runs = read(printed)
    except InputError as error:
        raise ProbeError(f"llama-bench printed what cannot be read: {error}") from error
    on_gpu = any(set(_backends(row)) - {"CPU", "BLAS"} for row in json.loads(printed))
    tokens = {int(run.depth) or job.depths[0]: _seconds(run) for run in runs if run.decode}
    prompts = [run for run in runs if run.prompt and not on_gpu]
    return Timings(
        token_seconds=tokens,
        prompt_rates=min(prompts, key=lambda run: run.depth).samples if prompts else (),
    )


def _seconds(run: EngineRun) -> tuple[float, ...]:
    return tuple(1.0 / rate for rate in run.samples)


def _backends(row: dict[str, object]) -> list[str]:
    return str(row.get("backends", "")).split(",")
