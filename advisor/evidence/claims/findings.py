"""One case of a claim: its computed figure, and the changes that would make the claim hold."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.edits.edit import Edit
from advisor.cost_model.uncertainty import Range
from advisor.errors import DataError, Refusal
from advisor.evidence.claims.measures import MEASURES, Measure, missing
from advisor.evidence.claims.ranges import Claimed, exact, holds, ratio, reaches
from advisor.evidence.claims.rows import CaseRow, ClaimRow, changed, inherited, inputs
from advisor.evidence.claims.scenarios import Scenario
from advisor.formatting import memory, range_of, rate
from advisor.units import GB, GIB


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Result of one case of a claim.

    Attributes:
        conditions: clauses that distinguish the case from the other cases.
        scenario: scenario that was computed.
        figure: computed figure with its range, in SI units; NaN where there is none.
        claimed: range that the figure is compared with.
        problem: reason for a missing figure; empty where there is one.
        beside: shown for comparison only, without influence on the verdict.
        needs: changes that would make the claim hold; empty where it holds.
        source: source of a cited figure.
    """

    conditions: tuple[str, ...]
    scenario: Scenario
    figure: Range
    claimed: Claimed
    problem: str = ""
    beside: bool = False
    needs: tuple[str, ...] = ()
    source: str = ""

    @property
    def condition(self) -> str:
        """Clauses that distinguish the case, in one line."""
        return ", ".join(self.conditions)

    @property
    def fits(self) -> bool:
        """Whether there is a figure."""
        return not np.isnan(self.figure.value)

    @property
    def is_speed(self) -> bool:
        """Whether the figure is an estimated speed, which has a bottleneck."""
        estimated = bool(self.figure.low != self.figure.high)
        return self.fits and estimated and self.claimed.unit in ("tokens/s", "times")

    @property
    def holds(self) -> bool:
        """Whether the figure lies in the claimed range."""
        return not self.claimed.open and bool(holds(self.figure, self.claimed))

    @property
    def near(self) -> bool:
        """Whether only the 80 % range of the figure reaches the claimed range."""
        return not self.holds and reaches(self.figure, self.claimed)

    @property
    def words(self) -> str:
        """The figure with its range, in words."""
        if not self.fits:
            return self.problem
        say, figure = self.claimed.say, self.figure
        middle, ends = (
            say(float(figure.value)),
            range_of(float(figure.low), float(figure.high), say),
        )
        return (
            f"{middle} ({ends.removesuffix(f' {self.claimed.name}')})" if ends != middle else middle
        )

    @property
    def outcome(self) -> str:
        """Comparison with the claimed range, in words."""
        if self.claimed.open:
            return "for comparison"
        if not self.fits:
            return "no figure"
        if self.holds:
            return "as claimed"
        side = "less" if self.figure.value < self.claimed.ends[0] else "more"
        return f"{side} than claimed{', though our range reaches it' if self.near else ''}"

    @property
    def plain(self) -> dict[str, object]:
        """The case as plain data, for other programs."""
        return {
            "condition": self.condition,
            "scenario": self.scenario.words,
            "figure": f"{self.words} {self.claimed.figure}".strip(),
            "claimed": self.claimed.words,
            "outcome": self.outcome,
            "decides": not self.beside,
        }


def finding(row: ClaimRow, case: CaseRow) -> Finding:
    """Result of one case.

    Raises:
        DataError: an unknown measure or input.
        InputError: an invalid input.
    """
    scenario = Scenario(inputs=changed(inputs(row.scenario), case.inputs))
    measure = measured(case.measure or row.measure, inherited(case.against, row.against))
    claimed = range_claimed(row, case)
    figure, problem = _tried(scenario, measure)
    result = Finding(
        conditions=tuple(part.strip() for part in case.condition.split(";")),
        scenario=scenario,
        figure=figure,
        claimed=claimed,
        problem=problem,
        beside=case.beside,
        source=case.source,
    )
    if result.holds or result.beside:
        return result
    return replace(result, needs=_needs(result, measure, inherited(case.vary, row.vary)))


def range_claimed(row: ClaimRow, case: CaseRow) -> Claimed:
    """Range of a case; that of the claim where the case states no unit."""
    own = case if case.unit else row
    return Claimed(
        low=own.low,
        high=own.high,
        unit=own.unit,
        figure=inherited(case.figure, row.figure),
    )


def measured(name: str, against: str) -> Measure:
    """A measure; with `against`, its ratio to the measure of the changed scenario.

    Args:
        name: key of `MEASURES`.
        against: changes that give the other scenario, `key=value; ...`; empty for no ratio.

    Raises:
        DataError: an unknown measure.
    """
    if name not in MEASURES:
        raise DataError(
            f"data/claims/claims.csv: no measure is called {name!r}; {', '.join(MEASURES)}."
        )
    measure = MEASURES[name]
    if not against:
        return measure

    def relative(scenario: Scenario) -> Range:
        other = Scenario(inputs=changed(scenario.inputs, against))
        return ratio(measure(scenario), measure(other), together=scenario.routes == other.routes)

    return relative


def _tried(scenario: Scenario, measure: Measure) -> tuple[Range, str]:
    """The figure, NaN where there is none, and the reason for a missing one."""
    try:
        figure, refusal = measure(scenario), scenario.refusal
    except Refusal as refused:
        return exact(np.nan), f"not possible: {refused}"
    if not np.isnan(figure.value):
        return figure, ""
    short = f"does not fit, {memory(float(missing(scenario).value))} short"
    return figure, f"not possible: {refusal}" if refusal else short


def _needs(finding: Finding, measure: Measure, vary: str) -> tuple[str, ...]:
    if not finding.fits:
        return ()
    return needs(finding.scenario, measure, finding.claimed, vary)


POINTS = 100
"""Number of values tried for each input."""


@dataclass(frozen=True, kw_only=True)
class VariedInput:
    """An input that may make a claim hold, with the values that are tried.

    Attributes:
        name: name in sentences.
        ends: smallest and largest value tried, in the unit of the data files.
        say: formatter of a value.
        now: value in a scenario; None for the stated one, or the smallest.
    """

    name: str
    ends: tuple[float, float]
    say: Callable[[float], str]
    now: Callable[[Scenario], float] | None = None

    def edit(self, key: str) -> Edit:
        """The input set to each value, rounded to two digits."""
        tried = np.geomspace(*self.ends, POINTS)
        return Edit(changes={key: np.unique([float(f"{value:.1e}") for value in tried])})


VARIED = {
    "ram_gbs": VariedInput(
        name="speed of the RAM", ends=(5, 2000),
        say=lambda value: f"RAM that is read at {rate(value * GB)}",
        now=lambda case: float(case.machine.host.bandwidth.value) / GB,
    ),
    "pcie_gbs": VariedInput(
        name="speed of the link", ends=(2, 2000),
        say=lambda value: f"a link of {rate(value * GB)}",
        now=lambda case: float(case.machine.gpus[0].link.pinned.value) / GB,
    ),
    "disk_gbs": VariedInput(
        name="speed of the drive", ends=(0.2, 2000),
        say=lambda value: f"a drive of {rate(value * GB)}",
        now=lambda case: (
            float(case.machine.disk.sequential.value) / GB if case.machine.disk else 1.0
        ),
    ),
    "cache_gb": VariedInput(
        name="page cache", ends=(1, 4096),
        say=lambda value: f"{memory(value * GIB)} of the file in the page cache",
    ),
    "ram_gb": VariedInput(
        name="size of the RAM", ends=(8, 8192),
        say=lambda value: f"{memory(value * GIB)} of RAM",
        now=lambda case: float(case.machine.host.memory.value) / GIB,
    ),
    "context": VariedInput(
        name="context", ends=(1024, 16_777_216),
        say=lambda value: f"a context of {value:,.0f} tokens",
        now=lambda case: float(case.work.context),
    ),
    "users": VariedInput(
        name="number of users", ends=(1, 4096),
        say=lambda value: f"{value:,.0f} users at once",
        now=lambda case: float(case.work.users),
    ),
    "prompt": VariedInput(
        name="prompt", ends=(128, 1_048_576),
        say=lambda value: f"a prompt of {value:,.0f} tokens",
        now=lambda case: float(case.work.prompt),
    ),
}  # fmt: skip
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
    return tuple(_need(scenario, measure, claimed, name) for name in names)


def _need(scenario: Scenario, measure: Measure, claimed: Claimed, key: str) -> str:
    varied = VARIED[key]
    edit = varied.edit(key)
    values = edit.changes[key]
    figure = measure(Scenario(inputs={**scenario.inputs, **edit.changes}))
    enough = values[np.broadcast_to(holds(figure, claimed), values.shape)]
    if not enough.size:
        return f"no {varied.name} alone is enough"
    stated = scenario.number(key) or varied.ends[0]
    now = stated if varied.now is None else varied.now(scenario)
    return varied.say(min(enough, key=lambda value: abs(np.log(value / now))))
