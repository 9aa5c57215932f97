"""Known speeds in files: what tools print or save of their runs, as a person would type them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from advisor import given_files
from advisor.advice.diagnosis.results import BENCHES, LARGEST
from advisor.errors import InputError
from advisor.probes.llama_cpp.printed_results import read as read_runs
from advisor.probes.llama_cpp.result_files import EngineRun
from advisor.request import known_speed
from advisor.request.known_speed import KnownSpeed


def known_in(path: Path) -> tuple[str, ...]:
    """Known speeds of a tool's file, as texts that `--known` takes.

    Raises:
        InputError: a file that cannot be read, of no known tool, or without a model's name.
    """
    return known_texts(given_files.content(path, LARGEST), str(path))


def known_texts(content: bytes, name: str) -> tuple[str, ...]:
    """Known speeds in the output of a tool, as texts that `--known` takes; `name` is for errors."""
    try:
        runs = read_runs(given_files.decoded(content))
        speeds = [speed for run in runs for speed in _speeds(run)]
    except UnicodeDecodeError:
        raise InputError(f"{name} is no text; give what a tool printed or saved.") from None
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    texts = tuple(dict.fromkeys(speed.text for speed in speeds))
    if not texts:
        raise InputError(f"{name} holds no speed of generated tokens or of a prompt alone.")
    known_speed.check(texts)
    return texts


def _speeds(run: EngineRun) -> Iterator[KnownSpeed]:
    """Speeds of a run: of its tokens, and of its prompt."""
    if not run.model:
        raise InputError(
            f"what {run.tool} prints names no model; give it as --known, with the model: "
            f"{known_speed.EXAMPLE!r}."
        )
    users = max(run.users or 1.0, 1.0)
    layers = None if run.gpu_layers is None else float(run.gpu_layers)
    shared: dict[str, Any] = {
        "model": run.model,
        "users": users,
        "runtime": run.runtime,
        "gpu_layers": layers,
    }
    if run.decode:
        before = run.depth if run.tool in BENCHES else run.depth + (run.prompt_tokens or 0.0)
        yield KnownSpeed(speed=run.decode, context=before, **shared)
    if run.prompt and run.prompt_tokens:
        cached = run.depth or None
        yield KnownSpeed(
            speed=run.prompt, prompt=True, length=run.prompt_tokens, context=cached, **shared
        )
