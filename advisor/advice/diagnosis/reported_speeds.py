"""Measured speeds from another tool's result file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from advisor import given_files
from advisor.advice.diagnosis.diagnose import Measured
from advisor.errors import InputError
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.probes.llama_cpp.result_files import read as read_runs

LARGEST = 64_000_000
"""Largest file that is read; `vllm bench serve --save-detailed` includes every answer [B]."""
BENCH = "llama-bench"
"""Tool whose generation has no prompt before it but its depth."""


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
        runs = read_runs(content.decode("utf-8-sig"))
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
    measured = Measured(
        decode=generation.decode, depth=_depth(generation), output=generation.output_tokens
    )
    prompts = (run for run in runs if run.prompt and run.depth == generation.depth)
    if (read := next(prompts, None)) is not None:
        measured = replace(
            measured, prompt=read.prompt, prompt_tokens=read.prompt_tokens, cached=read.depth
        )
    return Reported(
        measured=measured,
        source=", ".join(filter(None, (generation.tool, generation.model))),
    )


def _depth(generation: EngineRun) -> float | None:
    """Tokens in the cache before a generation; None where its tool does not say so [tokens]."""
    if generation.output_tokens is None:
        return None
    if generation.tool == BENCH:
        return generation.depth
    prompt = generation.prompt_tokens
    return None if prompt is None else generation.depth + prompt
