"""What an engine is asked to do, what it timed, and the process in which it does it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from advisor.errors import ProbeError
from advisor.probes.disk.test_file import temporary_folder
from advisor.probes.llama_cpp import die_with_parent
from advisor.probes.system import operating_system

POLL = 0.05  # seconds between two looks at the process and at the stop button
LAST_WORDS = 400


@dataclass(frozen=True, kw_only=True)
class EngineJob:
    """One model, and what is timed of it.

    Attributes:
        path: of the model file.
        descriptor: of the open file that `path` names; None for a file with a name of its own.
        threads: of the processor.
        vocab: tokens of the model's vocabulary.
        depths: tokens in the cache while tokens are timed, one after the other.
        prompt: tokens of the prompt that is timed; 0 for none.
        tokens: generated at a time.
        seconds: for each depth, and for the prompts [s].
        plain: leave the weights in the file's layout (`--no-repack`).
        mapped: read the file by a memory map, whatever the engine prefers.
    """

    path: Path
    descriptor: int | None = None
    threads: int
    vocab: int
    depths: tuple[int, ...] = (16,)
    prompt: int = 128
    tokens: int = 16
    seconds: float = 1.0
    plain: bool = False
    mapped: bool = False


@dataclass(frozen=True, kw_only=True)
class Timings:
    """What an engine timed.

    Attributes:
        token_seconds: by depth, the time of each token, or of an equal number of them [s].
        prompt_rates: of each prompt [tokens/s].
    """

    token_seconds: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    prompt_rates: tuple[float, ...] = ()


Stop = Callable[[], bool]
"""Asked while an engine works; true ends it."""


def output_of(
    command: Sequence[str], stop: Stop, *, descriptor: int | None = None
) -> tuple[str, str]:
    """What a program printed, and what it said when it failed; either may be empty.

    The program is the first to go when memory runs out, and it is gone when this returns.

    Args:
        command: program and arguments.
        stop: asked twenty times a second.
        descriptor: of a file that it must be able to open.

    Raises:
        ProbeError: the program cannot be started, or there is no room for what it prints.
    """
    with _scratch() as out, _scratch() as err:
        process = _started(command, out, err, descriptor)
        try:
            while process.poll() is None and not stop():
                _wait(process)
        finally:
            stopped = process.poll() is None
            process.kill()
            process.wait()
        failed = process.returncode and not stopped
        return _text(out), _failure(process.returncode, _text(err)) if failed else ""


@contextmanager
def _scratch() -> Iterator[IO[bytes]]:
    folder = temporary_folder()
    with ExitStack() as held:
        try:
            file = held.enter_context(tempfile.TemporaryFile(dir=folder))
        except OSError as error:
            raise ProbeError(
                f"{folder} cannot be written ({error.strerror}); set TMPDIR to a folder that can."
            ) from error
        yield file


def _started(
    command: Sequence[str], out: IO[bytes], err: IO[bytes], descriptor: int | None
) -> "subprocess.Popen[bytes]":
    if shutil.which(command[0]) is None:
        raise ProbeError(f"{command[0]} cannot be started (it is no program); install it again.")
    try:
        process = subprocess.Popen(  # noqa: S603 - an engine that the person has installed
            _tied(command),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=() if descriptor is None else (descriptor,),
            env={**os.environ, "GGML_NO_BACKTRACE": "1"},
        )
    except OSError as error:
        raise ProbeError(
            f"{command[0]} cannot be started ({error.strerror}); install it again."
        ) from error
    _offer_to_the_oom_killer(process.pid)
    return process


def _tied(command: Sequence[str]) -> tuple[str, ...]:
    """The command, to end with this process however this one ends; as it is outside Linux."""
    if operating_system() != "linux":
        return tuple(command)
    # Without -I the folder of the script would come first, and with it this package's modules.
    script = str(Path(die_with_parent.__file__))
    return (sys.executable, "-I", "-S", script, str(os.getpid()), *command)


def _offer_to_the_oom_killer(pid: int) -> None:
    """Linux kills the process of the highest score first when memory runs out."""
    try:
        Path(f"/proc/{pid}/oom_score_adj").write_text("1000", encoding="ascii")
    except OSError:
        return


def _wait(process: "subprocess.Popen[bytes]") -> None:
    try:
        process.wait(POLL)
    except subprocess.TimeoutExpired:
        return


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _failure(code: int, output: str) -> str:
    if code == -9:
        return "it was killed, most likely because memory ran out"
    words = " ".join(output.split())
    how = f"code {code} ({signal.strsignal(-code)})" if code < 0 else f"code {code}"
    return f"it ended with {how}: ...{words[-LAST_WORDS:]}" if words else how
