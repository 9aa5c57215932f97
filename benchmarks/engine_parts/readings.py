"""What an engine benchmark read, kept between its runs: a shared machine is not quiet for long."""

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from advisor.calibration import measurement_file
from advisor.calibration.measurement_file import Fingerprint, difference
from advisor.errors import InputError
from advisor.probes.measurement import Measurement


@dataclass(frozen=True, kw_only=True)
class Run:
    """One model timed once.

    Attributes:
        target: its name.
        place: where its weights lay, in words; empty where the benchmark knows one place alone.
        runtime: with its version, as a row names it; empty where the benchmark knows one alone.
        os: it ran on, as a row names it; empty where rows are written where it ran.
        date: of the run (ISO); likewise.
        depth: tokens in the cache.
        share: of the file that memory had room for; 0 where it had room for all.
        seconds: of a token [s].
        prompt: speed of the prompt; None where it was not timed [tokens/s].
        read: from the drive for a token [B].
        cache: pages of the file that memory held [B].
        direct: the drive's direct read rate, before and after; 0 where it does not matter [B/s].
        mapped: likewise, through a cold map [B/s].
        ahead: what the kernel read around a page that was touched; 0 where it does not matter [B].
        turn: number of measurements of probes before it; 0 where they did not take turns.
    """

    target: str
    place: str = ""
    runtime: str = ""
    os: str = ""
    date: str = ""
    depth: int
    share: float = 0.0
    seconds: float
    prompt: float | None = None
    read: float = 0.0
    cache: float = 0.0
    direct: float = 0.0
    mapped: float = 0.0
    ahead: float = 0.0
    turn: int = 0


@dataclass(frozen=True)
class Readings:
    """Everything that was read so far.

    Attributes:
        path: file that holds it.
        machine: on which it was read; None where the benchmark looks at the one it runs on.
        probes: measurements, oldest first.
        runs: likewise.
    """

    path: Path
    machine: Fingerprint | None = None
    probes: list[Measurement] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

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

    def medians(self) -> Iterable[Measurement]:
        """Each figure's median over all rounds, and how far rounds differ."""
        for repeats in self.rounds.values():
            values = [measurement.value for measurement in repeats]
            yield replace(repeats[-1], value=statistics.median(values), spread=spread(values))


def read(path: Path, here: Fingerprint | None = None) -> Readings:
    """Readings of earlier runs; none where the file is not there.

    Args:
        path: file that holds them.
        here: the machine that is to be measured; None for whichever the file tells of.

    Raises:
        InputError: another machine was measured.
    """
    if not path.exists():
        return Readings(path, here)
    content = json.loads(path.read_text(encoding="utf-8"))
    kept = measurement_file.from_json(
        {"fingerprint": content.get("machine"), "measurements": content["probes"]}
    )
    other = difference(kept.fingerprint, here) if kept.fingerprint and here else ""
    if other:
        raise InputError(f"{path} holds another machine's readings; give another folder. {other}")
    runs = [Run(**fields) for fields in content["runs"]]
    return Readings(path, here or kept.fingerprint, list(kept.history), runs)


def spread(values: Sequence[float]) -> float:
    """Half the range over the median."""
    return (max(values) - min(values)) / (2 * statistics.median(values))
