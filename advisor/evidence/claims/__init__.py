"""Claims of articles about offloading, checked against our own numbers.

scenarios   claims and their cases from data/, as machine, workload, placement and claimed range
findings    quantities of a case, its result, the changes that would make the claim hold; verdicts
"""

from advisor.evidence.claims.findings import Claim, Finding, Verdict, claims

__all__ = ["Claim", "Finding", "Verdict", "claims"]
