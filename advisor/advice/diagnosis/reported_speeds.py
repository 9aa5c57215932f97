"""Measured speeds from another tool's result file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from advisor import given_files
from advisor.advice.diagnosis.diagnose import Measured
from advisor.errors import InputError
from advisor.probes.llama_cpp.result_files import EngineRun, read

LARGEST = 64_000_000
"""Largest file that is read; `vllm bench serve --save-detailed` includes every answer [B]."""


@dataclass(frozen=True, kw_only=True)
class Reported:
    """Speeds reported by a tool.

    Attributes:
        measured: speeds of one user.
        source: name of the tool, and the tool's name of the model.
    """

    measured: Measured
    source: str


def reported_in(path: Path) -> Reported:
    """Reported speeds of a file.

    Raises:
        InputError: a file that cannot be read, of an unknown tool, or without a speed of
            generation.
    """
    return reported(given_files.content(path, LARGEST), str(path))


def reported(content: bytes, name: str) -> Reported:
    """Reported speeds of a file's content.

    Of several runs, the first with a speed of generation counts, and the first prompt at the same
    depth of the cache.

    Args:
        content: content of the file.
        name: name of the file, for errors.

    Raises:
        InputError: a file of an unknown tool, or without a speed of generation.
    """
    if len(content) > LARGEST:
        raise InputError(f"{name} has more than {LARGEST:,} bytes; give one run's results.")
    try:
        runs = read(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{name} is no text; give the JSON that a tool wrote.") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    return _speeds(runs, name)


def _speeds(runs: Sequence[EngineRun], name: str) -> Reported:
    generation = next((run for run in runs if run.decode), None)
    if generation is None or generation.decode is None:
        raise InputError(
            f"{name}: {runs[0].tool} reports no speed of generation alone; run it so that it "
            "generates tokens (llama-bench -n 128, vllm bench serve)."
        )
    prompts = (run.prompt for run in runs if run.prompt and run.depth == generation.depth)
    return Reported(
        measured=Measured(decode=generation.decode, prompt=next(prompts, None)),
        source=", ".join(filter(None, (generation.tool, generation.model))),
    )
