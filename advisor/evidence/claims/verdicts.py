"""Verdict on a claim from all its cases: whether it holds, and why.

A claim may state several ranges, each checked by its own cases.

    holds           every range holds in all its cases
    holds only if   every range holds in at least one of its cases; the condition names these cases
    does not        a range holds in none of its cases

Sentences are built from the computed figures, so that they cannot disagree with them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from advisor.catalog.records import as_record
from advisor.evidence.claims.findings import Finding, finding
from advisor.evidence.claims.scenarios import (
    CaseRow,
    ClaimRow,
    case_rows,
    claim_rows,
    in_words,
    inputs,
)
from advisor.formatting import range_of


class Verdict(StrEnum):
    """Verdict on a claim."""

    HOLDS = "holds"
    ONLY_IF = "holds only if"
    DOES_NOT = "does not"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim with our answer."""

    row: ClaimRow  # row of data/claims/claims.csv
    findings: tuple[Finding, ...]  # results of its cases, deciding ones first

    @property
    def parts(self) -> tuple[tuple[Finding, ...], ...]:
        """Deciding cases, grouped by the range they are compared with."""
        deciding = (finding for finding in self.findings if not finding.beside)
        return tuple(
            tuple(part) for _, part in groupby(deciding, key=lambda finding: finding.claimed)
        )

    @property
    def verdict(self) -> Verdict:
        """Verdict over all deciding cases."""
        held = [[finding.holds for finding in part] for part in self.parts]
        if all(all(part) for part in held):
            return Verdict.HOLDS
        return Verdict.ONLY_IF if all(any(part) for part in held) else Verdict.DOES_NOT

    @property
    def condition(self) -> str:
        """Condition of a claim that holds in some cases only; else empty."""
        if self.verdict is not Verdict.ONLY_IF:
            return ""
        partly = (part for part in self.parts if not all(finding.holds for finding in part))
        return " and ".join(map(shared, partly))

    @property
    def answer(self) -> str:
        """The verdict with its condition."""
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
        """The answer as plain data, for other programs."""
        return as_record("claim", self, cases=[finding.plain for finding in self.findings])

    @property
    def scenario(self) -> str:
        """Inputs shared by its cases, in words."""
        return in_words(inputs(self.row.scenario))


def claims() -> tuple[Claim, ...]:
    """All claims, computed now."""
    cases = case_rows()
    return tuple(
        answered(row, [case for case in cases if case.claim == row.number]) for row in claim_rows()
    )


def answered(row: ClaimRow, cases: Iterable[CaseRow]) -> Claim:
    """A claim with the results of its cases."""
    by_rank = sorted((finding(row, case) for case in cases), key=lambda result: result.beside)
    return Claim(row=row, findings=tuple(by_rank))


def shared(findings: Sequence[Finding]) -> str:
    """Fewest clauses that together cover every holding case and no failing case."""
    failing = {clause for finding in findings if not finding.holds for clause in finding.conditions}
    left = [finding for finding in findings if finding.holds]
    chosen_clauses: list[str] = []
    while left:
        safe = [
            clause for finding in left for clause in finding.conditions if clause not in failing
        ]
        chosen = max(safe, key=safe.count) if safe else left[0].condition
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
    reach = (
        ", which our range reaches" if not held and any(finding.near for finding in failed) else ""
    )
    ours = f"we find {_span(part)}"
    if held and failed:
        start = "then" if condition_said else f"if {shared(part)},"
        ours = f"{start} {_span(held)}, else {_span(failed)}"
    return f"{ours}; claimed: {part[0].claimed.words}{reach}"


def _span(findings: Sequence[Finding]) -> str:
    """Range from the smallest to the largest figure, with their common bottleneck."""
    fitting = [finding for finding in findings if finding.fits]
    if not fitting:
        return "no figure"
    claimed, values = fitting[0].claimed, [float(finding.figure.value) for finding in fitting]
    text = f"{range_of(min(values), max(values), claimed.say)} {claimed.figure}".strip()
    if len(fitting) < len(findings):
        text = f"{text} where it is possible"
    bound = {finding.scenario.estimate.bottleneck for finding in fitting if finding.is_speed}
    return f"{text}, bound by {bound.pop()}" if len(bound) == 1 else text


def _needs(findings: Iterable[Finding]) -> Iterable[str]:
    for case in findings:
        if case.beside and case.holds:
            yield f"{case.condition}: {case.words} {case.claimed.figure}".strip()
        if case.needs:
            yield f"{case.condition}: {'; '.join(case.needs)}"
