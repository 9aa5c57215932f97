"""Processes that answer line by line; among them an engine with a model, given jobs to time."""

import json
import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from advisor.failures import ProbeError
from advisor.probes.llama_cpp.job import EngineJob
from advisor.probes.llama_cpp.programs import as_json
from benchmarks.engine_parts import kept

ROOT = Path(__file__).parent.parent.parent
LAST_WORDS = 1000


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was timed."""

    seconds: tuple[float, ...]  # of each token [s]
    read: tuple[float, ...]  # from the drive for each [B]
    # speed of the prompt before; None where its cache was read from a file [tokens/s]
    prompt: float | None


Ask: TypeAlias = Callable[[dict[str, object]], Answer]  # takes a line that `kept` understands
Enter: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Turns a command into one that begins it elsewhere."""


Exchange: TypeAlias = Callable[[Mapping[str, object] | None], dict[str, Any]]
"""Sends a line of JSON, if there is one to send, and returns the line that comes back."""


@contextmanager
def begun(command: Sequence[str], log: Path, seconds: float = math.inf) -> Iterator[Exchange]:
    """How to exchange lines with a process, which is gone when the block ends, or after some
    seconds; `log` is a file for what it says besides. An exchange raises ProbeError where the
    process has ended.
    """
    with (
        log.open("w", encoding="utf-8") as complaints,
        subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            env={**os.environ, "GGML_NO_BACKTRACE": "1"},
        ) as process,
    ):

        def exchange(what: Mapping[str, object] | None) -> dict[str, Any]:
            words = _exchanged(process, what)
            if not words:
                last = log.read_text(encoding="utf-8", errors="replace")[-LAST_WORDS:]
                raise ProbeError(
                    f"The process ended with code {process.wait()}: {last or 'no words'}"
                )
            try:
                answer: dict[str, Any] = json.loads(words)
            except json.JSONDecodeError as error:
                raise ProbeError(f"The process said {words[:LAST_WORDS]!r}, no JSON.") from error
            return answer

        end = threading.Timer(min(seconds, threading.TIMEOUT_MAX), process.kill)
        end.daemon = True
        end.start()
        try:
            yield exchange
        finally:
            end.cancel()
            process.kill()


def _exchanged(process: "subprocess.Popen[str]", what: Mapping[str, object] | None) -> str:
    """The line that comes back; empty from a process that has ended."""
    if process.stdin is None or process.stdout is None:
        return ""
    try:
        if what is not None:
            process.stdin.write(json.dumps(what) + "\n")
            process.stdin.flush()
    except BrokenPipeError:
        return ""
    return process.stdout.readline()


@contextmanager
def loaded(job: EngineJob, slots: Path, enter: Enter = tuple) -> Iterator[Ask]:
    """How to ask a process that has the model of a job loaded, with a folder for caches; it is gone
    when the block ends, and the model's file as soon as it is loaded.
    """
    told = json.dumps(as_json(job) | {"slots": f"{slots}/"})
    command = enter((sys.executable, "-m", kept.__name__, told))
    try:
        with begun(command, slots / "log") as exchange:
            exchange(None)
            job.path.unlink()

            def ask(what: dict[str, object]) -> Answer:
                answer = exchange(what)
                seconds, read = zip(*answer["steps"], strict=True)
                return Answer(seconds=seconds, read=read, prompt=answer["prompt_rate"])

            yield ask
    finally:
        job.path.unlink(missing_ok=True)
