"""llama.cpp through the Python wheel `xllamacpp`, in a separate process."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from advisor.errors import ProbeError
from advisor.probes.llama_cpp import child
from advisor.probes.llama_cpp.job import EngineJob, Stop, Timings, output_of


def available() -> bool:
    """Whether the wheel is installed."""
    return find_spec("xllamacpp") is not None


def run(job: EngineJob, stop: Stop) -> Timings:
    """Timings of a model; when stopped, those of the finished parts."""
    printed, failure = output_of(command(job), stop, descriptor=job.descriptor)
    if failure:
        raise ProbeError(f"llama.cpp (xllamacpp) could not run the model: {failure}.")
    return timings(printed)


def command(job: EngineJob) -> tuple[str, ...]:
    """Command line of the process."""
    # Without -P the folder of the script would come first, and with it this package's modules.
    return (sys.executable, "-P", str(Path(child.__file__)), json.dumps(as_json(job)))


def as_json(job: EngineJob) -> dict[str, Any]:
    """A job as JSON for the process."""
    return {
        "path": str(job.path), "threads": job.threads, "vocab": job.vocab, "depths": job.depths,
        "prompt": job.prompt, "tokens": job.tokens, "seconds": job.seconds, "plain": job.plain,
        "mapped": job.mapped,
    }  # fmt: skip


def timings(printed: str) -> Timings:
    """Timings from the process's output, without an unfinished line."""
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
