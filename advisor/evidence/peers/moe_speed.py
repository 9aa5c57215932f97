"""MoE speed calculator: half of bandwidth over bytes, for models with experts.

jamesyc/MoEspeedcalc, `script.js` and the first lines of `index.html` at commit 4e8bef0, 2026-03-18.
"""

from advisor.evidence.peers import bandwidth
from advisor.evidence.peers.peer import Facts, Peer


def decode(facts: Facts) -> float | None:
    """Half of bandwidth over bytes [tokens/s].

    Dense weights and cache are read from the GPU, active experts from where they are. The page
    states that real speed is about half of the theory it shows; this half is used here. Experts
    only.
    """
    return 0.5 * bandwidth.decode(facts) if facts.experts else None


MOE_SPEED = Peer(
    name="MoEspeedcalc",
    version="4e8bef0",
    date="2026-03-18",
    source="https://github.com/jamesyc/MoEspeedcalc/blob/4e8bef0/script.js",
    formula="half of peak bandwidth over bytes, memories added up; experts",
    decode=decode,
)
