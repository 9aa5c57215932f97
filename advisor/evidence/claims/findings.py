"""Case of a claim: its computed figure, and the changes that would make the claim hold."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from operator import attrgetter

import numpy as np

from advisor.advice.prices.power import draw_of, parts_for
from advisor.advice.prices.price import bought, rented
from advisor.advice.speeds import speed_of
from advisor.advice.table.cost import Use, monthly_hours
from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.records import as_record, like
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.placement import PlacementStrategy, Tier
from advisor.cost_model.schedule import Route
from advisor.cost_model.timing import FixedTime, StepTime
from advisor.cost_model.uncertainty import Range
from advisor.errors import DataError, InputError, Refusal
from advisor.evidence.claims.scenarios import (
    CASES,
    CLAIMS,
    UNITS,
    CaseRow,
    Claimed,
    ClaimRow,
    Scenario,
    exact,
    holds,
    inputs,
    ratio,
    reaches,
)
from advisor.machine.catalog import HOSTS
from advisor.machine.machine import Form, Host
from advisor.model.model import Floats
from advisor.units import GB, Array, memory, range_of

# Quantities computed for a scenario, to check a claim with the package's own functions.
#
# Every function takes numbers or arrays and returns SI units. A model that does not fit gives NaN.

Measure = Callable[[Scenario], Range]

FLOAT = 4.0  # size of an activation that crosses to another processor [B]


UNKNOWN = StepTime(total=np.nan, parts={}, hidden=np.nan)


def decode(scenario: Scenario) -> Range:
    """Decoding speed of each user [tokens/s]."""
    return _where_it_fits(scenario.estimate, scenario.estimate.decode)


def decode_total(scenario: Scenario) -> Range:
    """Decoding speed of all users together [tokens/s]."""
    return decode(scenario).times(scenario.nouns.work.users)


def crossing_copy(scenario: Scenario) -> Range:
    """Time to copy one token's activations over the link: hidden x 4 B / rate [s]."""
    moved = scenario.model.architecture.hidden * FLOAT
    return exact(moved / scenario.link.pinned.value)


def cache(scenario: Scenario) -> Range:
    """KV cache of one user for the whole context [B]."""
    placed = scenario.estimate.placement
    size = None if placed is None else placed.cache
    if size is None:
        size = scenario.model.kv_bytes(scenario.nouns.work.context, scenario.nouns.work.kv_type)
    return exact(np.sum(size, axis=-1))


def ram_used(scenario: Scenario) -> Range:
    """RAM in use, the system's part included, relative to the machine's RAM."""
    return exact((_in_ram(scenario) + Host.SYSTEM_RAM) / scenario.machine.host.memory.value)


def pinned_used(scenario: Scenario) -> Range:
    """RAM pinned by the runtime, relative to the machine's RAM."""
    phases = scenario.estimate.phases
    if phases:
        flows = [flow for stage in phases.decode.stages for flow in stage]
    else:
        flows = []
    streamed = [flow for flow in flows if flow.route is Route.STREAMED]
    pinned = sum(flow.moved for flow in streamed if flow.pinned)
    return exact(np.asarray(pinned) / scenario.machine.host.memory.value)


CONTEXTS = 256.0 * np.arange(1, 8193)
"""Contexts tried for the longest one, up to two million tokens [tokens]."""


def longest_context(scenario: Scenario) -> Range:
    """Longest context whose cache fits [tokens]."""
    swept = scenario.changed({"context": CONTEXTS})
    fitting = CONTEXTS[np.broadcast_to(swept.estimate.fits, CONTEXTS.shape)]
    return exact(float(fitting[-1]) if fitting.size else np.nan)


def bandwidth(scenario: Scenario) -> Range:
    """Datasheet bandwidth of the GPU's memory, divided by that of the RAM."""
    row = HOSTS.find(str(scenario.inputs.get("cpu", "")))
    if row.bandwidth_gbs is None:
        raise InputError(f"{row.name}: its RAM bandwidth is not published; take another.")
    return exact(scenario.machine.gpus[0].bandwidth.value / (row.bandwidth_gbs * GB))


SETTING = re.compile(r"(?<!\S)--?[a-z][\w-]*(?: [^-\s]\S*)?|\w+=(?:{[^}]*}|[^,)\s]+)")
"""Option of a command line, or argument of a Python call, with its value."""


WHOLE = {
    "placement": PlacementStrategy.GPU_RESIDENT,
    **dict.fromkeys(("gpu_layers", "cpu_moe", "cpu_ffn"), ""),
}
"""All of a model in the GPU, whatever a scenario leaves in RAM."""


def settings(scenario: Scenario) -> Range:
    """Number of settings in a command that a GPU-resident placement does not have."""
    resident = scenario.changed(WHOLE)
    commands = (scenario.estimate.command, resident.estimate.command)
    used, plain = (set(SETTING.findall(command)) for command in commands)
    return exact(float(len(used - plain)))


def paying_replies(scenario: Scenario) -> Range:
    """Replies a day from which another GPU costs less than the waiting time it saves.

    cost / (seconds saved per reply x days in a month x worth of an hour / 3600); infinite where no
    time is saved. A person who reads along loses only time beyond reading.
    """
    bigger = scenario.changed({"gpu": scenario.inputs["upgrade"], **WHOLE})
    slow = _waits(scenario)
    fast = _waits(bigger)
    spent = scenario.nouns.money
    cost = _dearer(scenario, bigger)

    def enough(now: Array, then: Array) -> Array:
        hours = monthly_hours(np.maximum(now - then, 0.0), 1.0)
        worth = np.asarray(hours * spent.usd_per_hour_of_time)
        return np.where(worth > 0, cost / np.where(worth > 0, worth, 1.0), np.inf)

    return Range(
        value=enough(slow.value, fast.value),
        low=enough(slow.high, fast.low),
        high=enough(slow.low, fast.high),
    )


def _dearer(scenario: Scenario, bigger: Scenario) -> float:
    """Cost of a month of a machine with another GPU beyond that of the present one, bought or
    rented, whichever is less [USD/month].
    """
    now = speed_of(scenario.estimate)
    then = speed_of(bigger.estimate)
    if then is None:
        return np.nan
    weights = float(scenario.model.file_bytes)
    machine = bigger.machine
    use = Use(work=scenario.nouns.work, money=scenario.nouns.money, weights=weights)
    name = machine.gpus[0].name
    gpus = machine.gpus
    costs = []
    parts = parts_for(Form.DESKTOP, scenario.machine.gpus, gpus)
    price = bought(name, len(gpus), use.money.own_price, parts)
    if price.usd is not None:
        costs.append(use.owned(draw_of(machine), then, usd=price.usd))
    rent = rented(name, len(gpus), use.money.own_rent)
    if rent is not None:
        costs.append(use.rented(rent.usd, then))
    cost_now = use.owned(draw_of(scenario.machine), now)
    return max(min((cost.total - cost_now.total for cost in costs), default=np.nan), 0.0)


MEASURES: dict[str, Measure] = {
    "decode": decode,
    "decode_total": decode_total,
    "token_time": lambda case: decode(case).inverse,  # [s]
    # copies from pinned and from pageable memory to the first GPU [B/s]
    "link_rate": lambda case: exact(case.link.pinned.value),
    "pageable_rate": lambda case: exact(case.link.pageable.value),
    # shares of a token's time: weights on the link, hand-overs between processors
    "link_share": lambda case: exact(_share(case, Route.STREAMED, Route.STAGED)),
    "crossing_share": lambda case: exact(_share(case, FixedTime.CROSSINGS)),
    "crossing_copy": crossing_copy,
    # shares of the copies of a token, and of a prompt, that overlap with computing
    "hidden_decode": lambda case: _hidden(case, case.estimate.step),
    "hidden_prompt": lambda case: _hidden(case, case.estimate.prompt),
    "weights": lambda case: exact(case.model.file_bytes),  # [B]
    "cache": cache,
    # cache of a user, and RAM in use, relative to the weights
    "cache_share": lambda case: exact(cache(case).value / case.model.file_bytes),
    "ram_share": lambda case: exact(_in_ram(case) / case.model.file_bytes),
    "ram_used": ram_used,
    "pinned_used": pinned_used,
    "missing": lambda case: exact(case.estimate.missing),  # memory [B]
    "gpu_layers": lambda case: exact(
        case.estimate.placement.gpu_layers if case.estimate.placement else np.nan
    ),
    "longest_context": longest_context,
    "bandwidth": bandwidth,
    "settings": settings,
    "paying_replies": paying_replies,
    "cited": lambda case: exact(case.number("cited") or np.nan),  # published by others
}
"""Measures by their name in data files."""


def _where_it_fits(estimate: Estimate, figure: Range | None) -> Range:
    if figure is None:
        return exact(np.nan)
    ends = (np.where(estimate.fits, end, np.nan) for end in (figure.value, figure.low, figure.high))
    value, low, high = ends
    return Range(value=value, low=low, high=high)


def _share(scenario: Scenario, *names: str) -> Array:
    time = scenario.estimate.step or UNKNOWN
    return np.asarray(sum(time.parts.get(name, 0.0) for name in names)) / time.total


def _hidden(scenario: Scenario, step: StepTime | None) -> Range:
    """Share of the copies that overlap with computing: 1 where computing takes longer."""
    time = step or UNKNOWN
    shown = np.asarray(time.parts.get(Route.STREAMED, np.nan))
    share = np.where(shown > 0, time.hidden / np.where(shown > 0, shown, 1.0), 1.0)
    return _where_it_fits(scenario.estimate, exact(share))


def _in_ram(scenario: Scenario) -> Array:
    return np.asarray(sum(scenario.estimate.held.get(Tier.RAM, ())))


def _waits(scenario: Scenario) -> Range:
    """Time of a reply for a person who waits for it, or reads it as it comes [s]."""
    there = scenario.estimate
    output = scenario.nouns.work.output
    if there.first_token is None or there.decode is None:
        return exact(np.nan)
    reading = output / (scenario.number("reading_tps") or np.inf)

    def until(first: Array, rate: Array) -> Array:
        return first + np.maximum(output / rate, reading)

    return Range(
        value=until(there.first_token.value, there.decode.value),
        low=until(there.first_token.low, there.decode.high),
        high=until(there.first_token.high, there.decode.low),
    )


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Result of one case of a claim."""

    case: CaseRow  # the case, with its claim's values in empty fields
    scenario: Scenario  # scenario that was computed
    figure: Range  # computed figure with its range, in SI units; NaN where there is none
    problem: str = ""  # reason for a missing figure; empty where there is one
    needs: tuple[str, ...] = ()  # changes that would make the claim hold; empty where it holds

    @property
    def claimed(self) -> Claimed:
        """Range that the figure is compared with."""
        return like(Claimed, self.case)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Clauses that distinguish the case from the others."""
        return tuple(part.strip() for part in self.case.condition.split(";"))

    @property
    def condition(self) -> str:
        """Condition in one line."""
        return ", ".join(self.conditions)

    @property
    def fits(self) -> bool:
        """Whether there is a figure."""
        return not np.isnan(self.figure.value)

    @property
    def is_speed(self) -> bool:
        """Whether the figure is a predicted speed, which has a bottleneck."""
        estimated = bool(self.figure.low != self.figure.high)
        return self.fits and estimated and self.claimed.unit in ("tokens/s", "times")

    @property
    def holds(self) -> bool:
        """Whether the figure lies in the claimed range."""
        return not self.claimed.open and bool(holds(self.figure, self.claimed))

    @property
    def near(self) -> bool:
        """Whether the 80 % range of the figure reaches the claimed range and the figure itself does
        not.
        """
        return not self.holds and reaches(self.figure, self.claimed)

    @property
    def words(self) -> str:
        """Figure with its range, in words."""
        if not self.fits:
            return self.problem
        say = self.claimed.say
        figure = self.figure
        middle = say(float(figure.value))
        ends = range_of(float(figure.low), float(figure.high), say)
        beside = f" ({ends.removesuffix(f' {self.claimed.name}')})"
        if ends == middle:
            return middle
        return f"{middle}{beside}"

    @property
    def outcome(self) -> str:
        """Comparison with the claimed range, in words."""
        if self.claimed.open:
            return "for comparison"
        if not self.fits:
            return "no figure"
        if self.holds:
            return "as claimed"
        if self.figure.value < self.claimed.ends[0]:
            side = "less"
        else:
            side = "more"
        return f"{side} than claimed{', though our range reaches it' if self.near else ''}"

    @property
    def plain(self) -> dict[str, object]:
        """Case as plain data, for other programs."""
        figure = f"{self.words} {self.claimed.figure}".strip()
        return as_record("finding", self, figure=figure, decides=not self.case.beside)


def finding(row: ClaimRow, case: CaseRow) -> Finding:
    """Result of one case; raises DataError for an unknown measure or input, and InputError for an
    invalid one.
    """
    case = case.of(row)
    scenario = Scenario(inputs={}).changed(inputs(case.inputs))
    measure = measured(case.measure, case.against)
    figure, problem = _tried(scenario, measure)
    result = Finding(case=case, scenario=scenario, figure=figure, problem=problem)
    if result.holds or case.beside or not result.fits:
        return result
    return replace(result, needs=needs(scenario, measure, result.claimed, case.vary))


def measured(name: str, against: str) -> Measure:
    """Measure by its name; with `against` (`key=value; ...`), its ratio to that of the changed
    scenario.
    """
    if name not in MEASURES:
        raise DataError(
            f"data/claims/claims.csv: no measure is called {name!r}; {', '.join(MEASURES)}."
        )
    measure = MEASURES[name]
    if not against:
        return measure

    def relative(scenario: Scenario) -> Range:
        other = scenario.changed(inputs(against))
        return ratio(measure(scenario), measure(other), together=scenario.routes == other.routes)

    return relative


def _tried(scenario: Scenario, measure: Measure) -> tuple[Range, str]:
    """Figure, NaN where there is none, and the reason for a missing one."""
    try:
        figure = measure(scenario)
        refusal = scenario.refusal
    except Refusal as refused:
        return exact(np.nan), f"not possible: {refused}"
    if not np.isnan(figure.value):
        return figure, ""
    short = f"does not fit, {memory(float(scenario.estimate.missing))} short"
    return figure, f"not possible: {refusal}" if refusal else short


POINTS = 100  # number of values tried for each input


@dataclass(frozen=True, kw_only=True)
class VariedInput:
    """Row of data/claims/varied.csv: an input that may make a claim hold, with the values to
    try.
    """

    key: str  # input of a request
    name: str  # name in sentences
    low: float  # smallest value tried, in `unit`
    high: float  # largest value tried
    words: str  # words around a value
    unit: str  # a key of `UNITS`
    now: str  # value in a scenario; empty for the stated one, or the smallest

    @property
    def tried(self) -> Floats:
        """Values of the input that are tried, rounded to two digits."""
        values = np.geomspace(self.low, self.high, POINTS)
        return np.unique([float(f"{value:.1e}") for value in values])

    def value(self, scenario: Scenario) -> float:
        """Value in a scenario, in `unit`."""
        if self.now and (self.key != "disk_gbs" or scenario.machine.disk):
            return float(attrgetter(self.now)(scenario)) / UNITS[self.unit].size
        return scenario.number(self.key) or self.low

    def say(self, value: float) -> str:
        """Text of a value."""
        unit = UNITS[self.unit]
        return self.words.format(unit.say(value * unit.size))


VARIED = {row.key: row for row in read(DATA / "claims/varied.csv", VariedInput)}
"""Inputs allowed under `vary` in data files."""


def needs(scenario: Scenario, measure: Measure, claimed: Claimed, vary: str) -> tuple[str, ...]:
    """Smallest change of each input in `vary` (keys of `VARIED`, separated by semicolons) that
    would make a failing case hold, in words.
    """
    names = [name.strip() for name in vary.split(";") if name.strip()]
    if not set(names) <= VARIED.keys():
        raise DataError(
            f"data/claims/claims.csv: {vary!r} cannot be varied; {', '.join(VARIED)} can."
        )
    told = []
    for varied in map(VARIED.__getitem__, names):
        tried = varied.tried
        now = varied.value(scenario)
        figure = measure(scenario.changed({varied.key: tried}))
        enough = tried[np.broadcast_to(holds(figure, claimed), tried.shape)]
        near = enough[np.argsort(np.abs(np.log(enough / now)), kind="stable")]
        told.append(varied.say(near[0]) if near.size else f"no {varied.name} alone is enough")
    return tuple(told)


class Verdict(StrEnum):
    """Verdict on a claim."""

    HOLDS = "holds"
    ONLY_IF = "holds only if"
    DOES_NOT = "does not"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Claim with our answer."""

    row: ClaimRow  # row of data/claims/claims.csv
    findings: tuple[Finding, ...]  # results of its cases, deciding ones first

    @property
    def parts(self) -> tuple[tuple[Finding, ...], ...]:
        """Deciding cases, grouped by the range they are compared with."""
        deciding = (finding for finding in self.findings if not finding.case.beside)
        return tuple(
            tuple(part) for _, part in groupby(deciding, key=lambda finding: finding.claimed)
        )

    @property
    def verdict(self) -> Verdict:
        """Verdict over all deciding cases."""
        held = [[finding.holds for finding in part] for part in self.parts]
        if all(all(part) for part in held):
            return Verdict.HOLDS
        if all(any(part) for part in held):
            return Verdict.ONLY_IF
        return Verdict.DOES_NOT

    @property
    def condition(self) -> str:
        """Condition of a claim that holds only in some cases; empty for other claims."""
        if self.verdict is not Verdict.ONLY_IF:
            return ""
        partly = (part for part in self.parts if not all(finding.holds for finding in part))
        return " and ".join(map(shared, partly))

    @property
    def answer(self) -> str:
        """Verdict with its condition."""
        return f"{self.verdict} {self.condition}".strip()

    @property
    def why(self) -> str:
        """Our figures and the claimed ranges, in a sentence."""
        conditional = self.verdict is Verdict.ONLY_IF
        text = "; ".join(_compared(part, condition_said=conditional) for part in self.parts)
        return f"{text[:1].upper()}{text[1:]}."

    @property
    def needs(self) -> tuple[str, ...]:
        """Changes that would make the claim hold, a phrase each; empty where it holds."""
        if self.verdict is Verdict.HOLDS:
            return ()
        return tuple(dict.fromkeys(_needs(self.findings)))

    @property
    def plain(self) -> dict[str, object]:
        """Answer as plain data, for other programs."""
        return as_record("claim", self, cases=[finding.plain for finding in self.findings])

    @property
    def scenario(self) -> str:
        """Inputs shared by its cases, in words."""
        return Scenario(inputs=inputs(self.row.scenario)).words


def claims() -> tuple[Claim, ...]:
    """All claims, computed now."""
    return tuple(
        answered(row, [case for case in CASES if case.claim == row.number]) for row in CLAIMS
    )


def answered(row: ClaimRow, cases: Iterable[CaseRow]) -> Claim:
    """Claim with the results of its cases."""
    ranked = sorted(cases, key=lambda case: case.beside)
    return Claim(row=row, findings=tuple(finding(row, case) for case in ranked))


def shared(findings: Sequence[Finding]) -> str:
    """Fewest clauses that together describe every case that holds and no case that fails."""
    failing = {clause for finding in findings if not finding.holds for clause in finding.conditions}
    left = [finding for finding in findings if finding.holds]
    chosen_clauses: list[str] = []
    while left:
        safe = [
            clause for finding in left for clause in finding.conditions if clause not in failing
        ]
        if safe:
            chosen = max(safe, key=safe.count)
        else:
            chosen = left[0].condition
        chosen_clauses.append(chosen)
        left = [
            finding for finding in left if chosen not in (finding.condition, *finding.conditions)
        ]
    return " or ".join(chosen_clauses)


def _compared(part: Sequence[Finding], *, condition_said: bool) -> str:
    """Figures of the cases of one range, holding cases first, with the claimed range."""
    held, failed = (
        [finding for finding in part if finding.holds is wanted] for wanted in (True, False)
    )
    if not held and any(finding.near for finding in failed):
        reach = ", which our range reaches"
    else:
        reach = ""
    ours = f"we find {_span(part)}"
    if held and failed:
        if condition_said:
            start = "then"
        else:
            start = f"if {shared(part)},"
        ours = f"{start} {_span(held)}, else {_span(failed)}"
    return f"{ours}; claimed: {part[0].claimed.words}{reach}"


def _span(findings: Sequence[Finding]) -> str:
    """Range from the smallest to the largest figure, with their common bottleneck."""
    fitting = [finding for finding in findings if finding.fits]
    if not fitting:
        return "no figure"
    claimed = fitting[0].claimed
    values = [float(finding.figure.value) for finding in fitting]
    text = f"{range_of(min(values), max(values), claimed.say)} {claimed.figure}".strip()
    if len(fitting) < len(findings):
        text = f"{text} where it is possible"
    bound = {finding.scenario.estimate.bottleneck for finding in fitting if finding.is_speed}
    if len(bound) == 1:
        return f"{text}, limited by {bound.pop()}"
    return text


def _needs(findings: Iterable[Finding]) -> Iterable[str]:
    for result in findings:
        if result.case.beside and result.holds:
            yield f"{result.condition}: {result.words} {result.case.figure}".strip()
        if result.needs:
            yield f"{result.condition}: {'; '.join(result.needs)}"
