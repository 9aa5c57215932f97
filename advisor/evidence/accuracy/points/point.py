"""One published figure beside its prediction."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from advisor.cost_model.uncertainty import Margins
from advisor.evidence.published.row import PublishedRow


@dataclass(frozen=True, kw_only=True)
class AccuracyPoint:
    """One row, predicted with its group left out.

    Attributes:
        id: of the row.
        regime: what kind of run it is; a name of `regimes.REGIMES`.
        group: source and hardware; rows of a group err together.
        gpu: as the source calls it; empty for none.
        cpu: likewise.
        model: likewise.
        format: likewise.
        runtime: likewise.
        date: when it was measured or published; empty where unknown.
        measured: speed [tokens/s].
        predicted: speed [tokens/s].
        margins: of the 80 % range.
        source: where it was published; the program that took it for our own runs.
        peers: what public advisors say of the same run, by name; those that say nothing are absent
            [tokens/s].
    """

    id: str
    regime: str
    group: str
    gpu: str
    cpu: str
    model: str
    format: str = ""
    runtime: str = ""
    date: str = ""
    measured: float
    predicted: float
    margins: Margins
    source: str
    peers: Mapping[str, float] = field(default_factory=dict)

    @property
    def published(self) -> bool:
        """Somebody published it, and the source can be opened."""
        return self.source.startswith("https://")

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.measured - 1.0

    @property
    def low(self) -> float:
        """Lower end of the 80 % range [tokens/s]."""
        return self.predicted * math.exp(-float(self.margins.below))

    @property
    def high(self) -> float:
        """Upper end of the 80 % range [tokens/s]."""
        return self.predicted * math.exp(float(self.margins.above))

    @property
    def held(self) -> bool:
        """The range holds what was measured."""
        return self.low <= self.measured <= self.high


def point_of(
    row: PublishedRow,
    *,
    regime: str,
    group: str,
    measured: float,
    predicted: float,
    margins: Margins,
    peers: Mapping[str, float] | None = None,
) -> AccuracyPoint:
    """A published row as a point; other arguments as the attributes of `AccuracyPoint`."""
    return AccuracyPoint(
        id=row.id,
        regime=regime,
        group=group,
        gpu=row.gpu,
        cpu=row.cpu,
        model=row.model,
        format=row.quant,
        runtime=row.runtime,
        date=row.date,
        measured=measured,
        predicted=predicted,
        margins=margins,
        source=row.source_url,
        peers=peers or {},
    )
