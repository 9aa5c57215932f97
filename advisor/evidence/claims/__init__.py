"""What articles tell people about offloading, answered with our own numbers.

rows        the claims and the cases that decide them, from data/
scenarios   a case as model, machine, workload and placement
measures    what is computed of a scenario
figures     whether it lies in the range claimed, and both in words
needs       what it would take to lie in it
findings    one case, computed
verdicts    all cases of a claim together
"""

from advisor.evidence.claims.findings import Finding
from advisor.evidence.claims.verdicts import Claim, Verdict, claims

__all__ = ["Claim", "Finding", "Verdict", "claims"]
