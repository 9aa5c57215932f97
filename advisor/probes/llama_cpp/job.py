"""Job of an engine, its timings, and the process that runs it."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from advisor.failures import ProbeError
from advisor.probes.disk.test_file import temporary_folder
from advisor.probes.host import operating_system
from advisor.probes.llama_cpp import die_with_parent

POLL = 0.05  # seconds between two looks at the process and at the stop button
LAST_WORDS = 400


@dataclass(frozen=True, kw_only=True)
class EngineJob:
    """Model to load, with the list of timings."""

    path: Path  # path of the model file
    # descriptor of the open file behind `path`; None for a file with a name
    descriptor: int | None = None
    threads: int  # processor threads
    vocab: int  # size of the model's vocabulary [tokens]
    # lengths of the cache at which tokens are timed, in this order [tokens]
    depths: tuple[int, ...] = (16,)
    prompt: int = 128  # length of the timed prompt; 0 for none [tokens]
    tokens: int = 16  # tokens generated at a time
    seconds: float = 1.0  # time for each depth, and for the prompts [s]
    plain: bool = False  # keep the weights in the file's layout (`--no-repack`)
    mapped: bool = False  # read the file through a memory map, whatever the engine's default


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Timings of an engine."""

    # time of each token, or mean time of equal groups of tokens, by depth [s]
    token_seconds: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    prompt_rates: tuple[float, ...] = ()  # speed of each prompt [tokens/s]


Stop = Callable[[], bool]  # check while an engine works; true ends it


def output_of(
    command: Sequence[str], stop: Stop, *, descriptor: int | None = None
) -> tuple[str, str]:
    """Output of a program that has ended, and its message if it failed."""
    with _scratch() as out, _scratch() as err:
        process = _started(command, out, err, descriptor)
        try:
            while process.poll() is None and not stop():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL)
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
    # The highest score: Linux kills the process first when memory runs out.
    with suppress(OSError):
        Path(f"/proc/{process.pid}/oom_score_adj").write_text("1000", encoding="ascii")
    return process


def _tied(command: Sequence[str]) -> tuple[str, ...]:
    """Command that ends together with this process, however this ends; unchanged outside Linux."""
    if operating_system() != "linux":
        return tuple(command)
    # Without -I the folder of the script would come first, and with it this package's modules.
    script = str(Path(die_with_parent.__file__))
    return (sys.executable, "-I", "-S", script, str(os.getpid()), *command)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _failure(code: int, output: str) -> str:
    if code == -9:
        return "it was killed, most likely because memory ran out"
    words = " ".join(output.split())
    if code < 0:
        how = f"code {code} ({signal.strsignal(-code)})"
    else:
        how = f"code {code}"
    if words:
        return f"it ended with {how}: ...{words[-LAST_WORDS:]}"
    return how
