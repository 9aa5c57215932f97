"""A process with one model loaded, asked what to time."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from advisor.probes.engine_job import Job
from advisor.probes.engine_xllamacpp import asked
from benchmarks.engine_parts import kept

ROOT = Path(__file__).parent.parent.parent
LAST_WORDS = 1000


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was timed.

    Attributes:
        seconds: of each token [s].
        read: from the drive for each [B].
        prompt: speed of the prompt before; None where its cache was read from a file [tokens/s].
    """

    seconds: tuple[float, ...]
    read: tuple[float, ...]
    prompt: float | None


Ask: TypeAlias = Callable[[dict[str, object]], Answer]
"""Takes a line that `kept` understands."""
Enter: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Turns a command into one that begins it elsewhere."""


@contextmanager
def loaded(job: Job, slots: Path, enter: Enter = tuple) -> Iterator[Ask]:
    """How to ask a process that has a model loaded; it and the file are gone when the block ends.

    Args:
        job: the model and how it is timed; its file is deleted as soon as it is loaded.
        slots: folder for caches.
        enter: how to begin it, in a control group for one.
    """
    told = json.dumps(asked(job) | {"slots": f"{slots}/"})
    command = enter((sys.executable, "-m", kept.__name__, told))
    log = slots / "log"
    with log.open("w", encoding="utf-8") as said, subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True,
        env={**os.environ, "GGML_NO_BACKTRACE": "1"},
    ) as process:  # fmt: skip

        def line() -> dict[str, list[tuple[float, float]]]:
            words = process.stdout.readline() if process.stdout else ""
            if not words:
                last = log.read_text(encoding="utf-8", errors="replace")[-LAST_WORDS:]
                raise SystemExit(f"engine: llama.cpp ended with code {process.wait()}: {last}")
            found: dict[str, list[tuple[float, float]]] = json.loads(words)
            return found

        def ask(what: dict[str, object]) -> Answer:
            if process.stdin:
                process.stdin.write(json.dumps(what) + "\n")
                process.stdin.flush()
            found = line()
            seconds, read = zip(*found["steps"], strict=True)
            return Answer(seconds=seconds, read=read, prompt=found["prompt_rate"])  # type: ignore[arg-type]

        try:
            line()
            job.path.unlink()
            yield ask
        finally:
            process.kill()
            job.path.unlink(missing_ok=True)
