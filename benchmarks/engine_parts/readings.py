"""What an engine benchmark read, kept between its runs: a shared machine is not quiet for long."""

import argparse
import json
import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from advisor.calibration import measurement_file
from advisor.calibration.measurement_file import Fingerprint, difference
from advisor.errors import InputError
from advisor.probes.measurement import Measurement, now


@dataclass(frozen=True, kw_only=True)
class Run:
    """One model timed once; places, runtime, system and date stay empty where the benchmark knows
    one alone, or writes its rows where it ran.
    """

    target: str  # name of the model
    place: str = ""  # where its weights lay, in words
    runtime: str = ""  # with its version, as a row names it
    os: str = ""  # system it ran on, as a row names it
    date: str = ""  # of the run (ISO)
    depth: int  # tokens in the cache
    share: float = 0.0  # share of the file that memory had room for; 0 where it had room for all
    seconds: float  # of a token [s]
    prompt: float | None = None  # speed of the prompt; None where it was not timed [tokens/s]
    read: float = 0.0  # from the drive for a token [B]
    cache: float = 0.0  # pages of the file that memory held [B]
    # direct read rate of the drive, that through a cold map, both before and after, and what the
    # kernel read around a page that was touched; 0 where they do not matter [B/s, B/s, B]
    direct: float = 0.0
    mapped: float = 0.0
    ahead: float = 0.0
    turn: int = 0  # number of measurements of probes before it; 0 where they did not take turns


@dataclass(frozen=True)
class Readings:
    """Everything that was read so far."""

    path: Path  # file that holds it
    # machine on which it was read; None where the benchmark looks at the one it runs on
    machine: Fingerprint | None = None
    probes: list[Measurement] = field(default_factory=list)  # measurements, oldest first
    runs: list[Run] = field(default_factory=list)  # runs, oldest first

    def of(self, target: str, depth: int, share: float = 0.0, *, place: str = "") -> Sequence[Run]:
        """Runs of one kind."""
        wanted = (target, place, depth, share)
        return [run for run in self.runs if (run.target, run.place, run.depth, run.share) == wanted]

    def keep(self) -> None:
        """Write them to their file."""
        content = {
            "machine": self.machine and asdict(self.machine),
            "probes": list(map(asdict, self.probes)),
            "runs": list(map(asdict, self.runs)),
        }
        measurement_file.write(self.path, content)

    @property
    def rounds(self) -> dict[str, list[Measurement]]:
        """Measurements of each name."""
        rounds: dict[str, list[Measurement]] = {}
        for measurement in self.probes:
            rounds.setdefault(measurement.name, []).append(measurement)
        return rounds

    def around(self, run: Run) -> Iterable[Measurement]:
        """Each figure in the mean of the probes right before and after a run.

        All probes' medians for a run without a turn.
        """
        if not run.turn:
            yield from self.medians()
            return
        earlier = {entry.name: entry for entry in self.probes[: run.turn]}
        later = {entry.name: entry for entry in reversed(self.probes[run.turn :])}
        for name in {**earlier, **later}:
            near = [each[name] for each in (earlier, later) if name in each]
            value = math.exp(statistics.fmean(math.log(entry.value) for entry in near))
            yield replace(near[-1], value=value)

    def print_probes(self) -> None:
        """Print the median of every figure that probes measured."""
        for name, repeats in sorted(self.rounds.items()):
            values = [measurement.value for measurement in repeats]
            median = statistics.median(values)
            unit = repeats[0].unit
            print(f"  {name:<26} {median:10.4g} {unit:<10} {within(values)}")

    def medians(self) -> Iterable[Measurement]:
        """Each figure's median over all rounds, and how far rounds differ."""
        for repeats in self.rounds.values():
            values = [measurement.value for measurement in repeats]
            yield replace(repeats[-1], value=statistics.median(values), spread=spread(values))


def read(path: Path, here: Fingerprint | None = None) -> Readings:
    """Readings of earlier runs on a machine, or on whichever the file tells of; none where the file
    is not there. Raises InputError where another machine was measured.
    """
    if not path.exists():
        return Readings(path, here)
    content = json.loads(path.read_text(encoding="utf-8"))
    stored = measurement_file.from_json(
        {"fingerprint": content.get("machine"), "measurements": content["probes"]}
    )
    if stored.fingerprint and here:
        other = difference(stored.fingerprint, here)
    else:
        other = ""
    if other:
        raise InputError(f"{path} holds another machine's readings; give another folder. {other}")
    runs = [Run(**fields) for fields in content["runs"]]
    return Readings(path, here or stored.fingerprint, list(stored.history), runs)


def options(words: str | None, rounds: int, parts: Iterable[str]) -> argparse.ArgumentParser:
    """Options of each engine benchmark, whose usual number of rounds and parts differ."""
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--keep", type=Path, help="folder for readings, kept for the next run")
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        help="begin nothing after them; what was begun on a GPU takes four minutes more at most",
    )
    parser.add_argument("--only", choices=tuple(parts))
    parser.add_argument("--model", default="", help="only those with it in their name")
    parser.add_argument("--csv", type=Path, help="table that rows are added to")
    parser.add_argument("--cpu", help="name of the processor in these rows")
    return parser


def spread(values: Sequence[float]) -> float:
    """Half the range over the median."""
    return (max(values) - min(values)) / (2 * statistics.median(values))


def within(values: Sequence[float]) -> str:
    """How far rounds were apart, in words."""
    return f"(rounds within {spread(values):.0%})"


def rates(runs: Iterable[Run]) -> list[float]:
    """Tokens per second of each run."""
    return [1.0 / run.seconds for run in runs]


def prompt_rate(runs: Iterable[Run]) -> float | None:
    """Median speed of the prompt over runs; None where none was timed [tokens/s]."""
    prompts = [run.prompt for run in runs if run.prompt is not None]
    if prompts:
        return statistics.median(prompts)
    return None


def until(seconds: float) -> Callable[[], bool]:
    """Whether a time from now is over, for whoever asks before each step [s]."""
    end = now() + seconds
    return lambda: now() > end
