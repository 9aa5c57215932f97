"""Measured speeds from another tool's result file."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from advisor.advice.diagnosis.diagnose import Measured
from advisor.errors import InputError
from advisor.probes.llama_cpp.result_files import EngineRun, read

LARGEST = 64_000_000
"""File that is read [B]; `vllm bench serve --save-detailed` writes every answer into it."""


@dataclass(frozen=True, kw_only=True)
class Reported:
    """Speeds as a tool reports them.

    Attributes:
        measured: of one user.
        source: the tool, and the model as the tool calls it.
    """

    measured: Measured
    source: str


def reported_in(path: Path) -> Reported:
    """Reported speeds of a file.

    Raises:
        InputError: it cannot be read, is of no tool that is known, or tells no generation's speed.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from error
    return reported(content, str(path))


def reported(content: bytes, name: str) -> Reported:
    """Reported speeds of a file's content.

    Where a file has several runs the first generation counts, and of the prompts the first that was
    read with as much in the cache.

    Args:
        content: of the file.
        name: of the file, for messages.

    Raises:
        InputError: it is of no tool that is known, or tells no generation's speed.
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
    written = next((run for run in runs if run.decode), None)
    if written is None or written.decode is None:
        raise InputError(
            f"{name}: {runs[0].tool} tells no speed of a generation by itself here; run it so that "
            "it writes tokens (llama-bench -n 128, vllm bench serve)."
        )
    prompts = (run.prompt for run in runs if run.prompt and run.depth == written.depth)
    return Reported(
        measured=Measured(decode=written.decode, prompt=next(prompts, None)),
        source=", ".join(filter(None, (written.tool, written.model))),
    )
