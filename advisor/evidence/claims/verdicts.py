"""All cases of a claim together: whether it holds, and why.

A claim may say several things, each with a range of its own and cases that decide it.

    holds           each of them, in every case
    holds only if   each of them, but some in a part of their cases only; the condition names those
    does not        one of them in no case

Sentences are put together from the figures computed, so that none can disagree with them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from advisor.evidence.claims.findings import Finding, finding
from advisor.evidence.claims.rows import CaseRow, ClaimRow, case_rows, claim_rows, inputs
from advisor.evidence.claims.scenarios import in_words
from advisor.formatting import range_of


class Verdict(StrEnum):
    """What becomes of a claim."""

    HOLDS = "holds"
    ONLY_IF = "holds only if"
    DOES_NOT = "does not"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim and our answer.

    Attributes:
        row: the claim as data/claims/claims.csv has it.
        findings: its cases, those that decide first.
    """

    row: ClaimRow
    findings: tuple[Finding, ...]

    @property
    def parts(self) -> tuple[tuple[Finding, ...], ...]:
        """Cases that decide each thing it says: those held against the same range."""
        deciding = (finding for finding in self.findings if not finding.beside)
        return tuple(
            tuple(part) for _, part in groupby(deciding, key=lambda finding: finding.claimed)
        )

    @property
    def verdict(self) -> Verdict:
        """What becomes of it."""
        held = [[finding.holds for finding in part] for part in self.parts]
        if all(all(part) for part in held):
            return Verdict.HOLDS
        return Verdict.ONLY_IF if all(any(part) for part in held) else Verdict.DOES_NOT

    @property
    def condition(self) -> str:
        """When it holds, where it does so in some cases only; else empty."""
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
        """Our figures beside the ranges claimed, in a sentence."""
        conditional = self.verdict is Verdict.ONLY_IF
        text = "; ".join(_compared(part, condition_said=conditional) for part in self.parts)
        return f"{text[:1].upper()}{text[1:]}."

    @property
    def needs(self) -> tuple[str, ...]:
        """What it would take, one phrase each; empty where it holds."""
        if self.verdict is Verdict.HOLDS:
            return ()
        return tuple(dict.fromkeys(_needs(self.findings)))

    @property
    def plain(self) -> dict[str, object]:
        """The answer as plain data, for other programs."""
        return {
            "number": self.row.number,
            "claim": self.row.claim,
            "verdict": self.verdict.value,
            "condition": self.condition,
            "why": self.why,
            "needs": list(self.needs),
            "assumed": self.row.assumed,
            "cases": [finding.plain for finding in self.findings],
        }

    @property
    def scenario(self) -> str:
        """What its cases share, in words."""
        return in_words(inputs(self.row.scenario))


def claims() -> tuple[Claim, ...]:
    """Every claim, computed now."""
    cases = case_rows()
    return tuple(
        answered(row, [case for case in cases if case.claim == row.number]) for row in claim_rows()
    )


def answered(row: ClaimRow, cases: Iterable[CaseRow]) -> Claim:
    """A claim with its cases, computed now.

    Raises:
        DataError: a measure or an input that there is not.
        InputError: an input that cannot be used.
    """
    by_rank = sorted((finding(row, case) for case in cases), key=lambda result: result.beside)
    return Claim(row=row, findings=tuple(by_rank))


def shared(findings: Sequence[Finding]) -> str:
    """The fewest clauses that no failing case has and that name every case which holds."""
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
    """What the cases of one thing give, those that hold first."""
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
    """From the least to the most of several figures, and what binds all of them."""
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
