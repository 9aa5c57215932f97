"""Claims of articles about offloading, checked against our own numbers.

rows        claims and their cases, from data/
scenarios   a case as model, machine, workload and placement
measures    quantities computed for a scenario
ranges      claimed ranges, their units, and the comparison with a computed figure
findings    result of one case, and the edits of one input that would make the claim hold
verdicts    result of a claim over all its cases
"""

from advisor.evidence.claims.findings import Finding
from advisor.evidence.claims.verdicts import Claim, Verdict, claims

__all__ = ["Claim", "Finding", "Verdict", "claims"]
