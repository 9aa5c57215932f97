"""Changes that would make a claim hold: one input varied until the figure lies in the range."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from advisor.errors import DataError
from advisor.evidence.claims.measures import Measure
from advisor.evidence.claims.ranges import Claimed, holds
from advisor.evidence.claims.scenarios import Scenario
from advisor.formatting import memory, rate
from advisor.units import GB, GIB

POINTS = 100
"""Number of values tried for each input."""


@dataclass(frozen=True, kw_only=True)
class Varied:
    """An input that may make a claim hold.

    Attributes:
        key: name in the data files.
        name: name in sentences.
        low: smallest value tried, in the unit of the data files.
        high: largest value tried.
        say: formatter of a value.
        now: value in a scenario.
    """

    key: str
    name: str
    low: float
    high: float
    say: Callable[[float], str]
    now: Callable[[Scenario], float]


def _said(key: str, default: float) -> Callable[[Scenario], float]:
    return lambda scenario: scenario.number(key) or default


INPUTS = (
    Varied(
        key="ram_gbs", name="speed of the RAM", low=5, high=2000,
        say=lambda value: f"RAM that is read at {rate(value * GB)}",
        now=lambda case: float(case.machine.host.bandwidth.value) / GB,
    ),
    Varied(
        key="pcie_gbs", name="speed of the link", low=2, high=2000,
        say=lambda value: f"a link of {rate(value * GB)}",
        now=lambda case: float(case.machine.gpus[0].link.pinned.value) / GB,
    ),
    Varied(
        key="disk_gbs", name="speed of the drive", low=0.2, high=2000,
        say=lambda value: f"a drive of {rate(value * GB)}",
        now=lambda case: (
            float(case.machine.disk.sequential.value) / GB if case.machine.disk else 1.0
        ),
    ),
    Varied(
        key="cache_gb", name="page cache", low=1, high=4096,
        say=lambda value: f"{memory(value * GIB)} of the file in the page cache",
        now=_said("cache_gb", 1.0),
    ),
    Varied(
        key="ram_gb", name="size of the RAM", low=8, high=8192,
        say=lambda value: f"{memory(value * GIB)} of RAM",
        now=lambda case: float(case.machine.host.memory.value) / GIB,
    ),
    Varied(
        key="context", name="context", low=1024, high=16_777_216,
        say=lambda value: f"a context of {value:,.0f} tokens",
        now=lambda case: float(case.work.context),
    ),
    Varied(
        key="users", name="number of users", low=1, high=4096,
        say=lambda value: f"{value:,.0f} users at once",
        now=lambda case: float(case.work.users),
    ),
    Varied(
        key="prompt", name="prompt", low=128, high=1_048_576,
        say=lambda value: f"a prompt of {value:,.0f} tokens",
        now=lambda case: float(case.work.prompt),
    ),
)  # fmt: skip
VARIED = {varied.key: varied for varied in INPUTS}
"""Inputs allowed under `vary` in data files."""


def needs(scenario: Scenario, measure: Measure, claimed: Claimed, vary: str) -> tuple[str, ...]:
    """Smallest change of each input that would make a failing case hold, in words.

    Args:
        scenario: scenario of the case.
        measure: measure that is compared with the claim.
        claimed: claimed range.
        vary: keys of `VARIED`, separated by semicolons.

    Raises:
        DataError: another key.
    """
    names = [name.strip() for name in vary.split(";") if name.strip()]
    if not set(names) <= VARIED.keys():
        raise DataError(
            f"data/claims/claims.csv: {vary!r} cannot be varied; {', '.join(VARIED)} can."
        )
    return tuple(_need(scenario, measure, claimed, VARIED[name]) for name in names)


def _need(scenario: Scenario, measure: Measure, claimed: Claimed, varied: Varied) -> str:
    tried = np.geomspace(varied.low, varied.high, POINTS)
    values = np.unique([float(f"{value:.1e}") for value in tried])
    swept = Scenario(inputs={**scenario.inputs, varied.key: values})
    enough = values[np.broadcast_to(holds(measure(swept), claimed), values.shape)]
    if not enough.size:
        return f"no {varied.name} alone is enough"
    return varied.say(min(enough, key=lambda value: abs(np.log(value / varied.now(scenario)))))
