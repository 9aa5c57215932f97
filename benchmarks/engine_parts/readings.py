"""What the engine benchmark read, kept between its runs: a shared machine is not quiet for long."""

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from advisor import probed
from advisor.measurement import Measurement


@dataclass(frozen=True, kw_only=True)
class Run:
    """One model timed once.

    Attributes:
        target: its name.
        depth: tokens in the cache.
        share: of the file that memory had room for; 0 where it had room for all.
        seconds: of a token [s].
        prompt: speed of the prompt; None where it was not timed [tokens/s].
        read: from the drive for a token [B].
        cache: pages of the file that memory held [B].
        direct: the drive's direct read rate, before and after; 0 where it does not matter [B/s].
        mapped: likewise, through a cold map [B/s].
    """

    target: str
    depth: int
    share: float = 0.0
    seconds: float
    prompt: float | None = None
    read: float = 0.0
    cache: float = 0.0
    direct: float = 0.0
    mapped: float = 0.0


@dataclass(frozen=True)
class Readings:
    """Everything that was read so far.

    Attributes:
        path: file that holds it.
        probes: measurements, oldest first.
        runs: likewise.
    """

    path: Path
    probes: list[Measurement] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    def of(self, target: str, depth: int, share: float = 0.0) -> Sequence[Run]:
        """Runs of one kind."""
        wanted = (target, depth, share)
        return [one for one in self.runs if (one.target, one.depth, one.share) == wanted]

    def keep(self) -> None:
        """Write them to their file."""
        content = {"probes": list(map(asdict, self.probes)), "runs": list(map(asdict, self.runs))}
        probed.write(self.path, content)

    @property
    def rounds(self) -> dict[str, list[Measurement]]:
        """Measurements of each name."""
        found: dict[str, list[Measurement]] = {}
        for one in self.probes:
            found.setdefault(one.name, []).append(one)
        return found

    def medians(self) -> Iterable[Measurement]:
        """Each figure's median over all rounds, and how far rounds differ."""
        for found in self.rounds.values():
            values = [one.value for one in found]
            yield replace(found[-1], value=statistics.median(values), spread=spread(values))


def read(path: Path) -> Readings:
    """Readings of earlier runs; none where the file is not there."""
    if not path.exists():
        return Readings(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    probes = probed.from_json(content["probes"]).history
    return Readings(path, list(probes), [Run(**one) for one in content["runs"]])


def spread(values: Sequence[float]) -> float:
    """Half the range over the median."""
    return (max(values) - min(values)) / (2 * statistics.median(values))
