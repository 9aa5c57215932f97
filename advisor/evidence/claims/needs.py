"""What it would take for a claim to hold: one input varied until our figure lies in its range."""

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
"""Values tried of each input."""


@dataclass(frozen=True, kw_only=True)
class Varied:
    """An input that may make a claim hold.

    Attributes:
        key: its name in the data files.
        name: as people call it.
        low: smallest value tried, as the data files write it.
        high: largest.
        say: words for a value.
        now: what the scenario has.
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
"""Inputs that data files may name under `vary`."""


def needs(scenario: Scenario, measure: Measure, claimed: Claimed, vary: str) -> tuple[str, ...]:
    """What would make a failing case hold, in words: for each input the smallest change that does.

    Args:
        scenario: the case.
        measure: what is held against the claim.
        claimed: the range.
        vary: names in `VARIED`, separated by semicolons.

    Raises:
        DataError: another name.
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
