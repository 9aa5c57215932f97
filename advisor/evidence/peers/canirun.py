"""CanIRun.ai: 0.7 of bandwidth over an estimated working set.

midudev/canirun.ai, `packages/compatibility/src/index.ts: estimateTokensPerSecond` and
`packages/models/src/index.ts: makeQuants` at commit 6c44096, 2026-08-20.
"""

import re

from advisor.evidence.peers.peer import Facts, Peer, Where
from advisor.units import GB, GIB

BYTES = {2: 0.3125, 3: 0.4375, 4: 0.5, 5: 0.625, 6: 0.75, 8: 1.0, 16: 2.0}
"""Bytes per weight by the bits in a format's name. The source lists one format of each; formats it
does not list get the closest."""
RAM_RATE = 50.0
"""Bandwidth assumed of any RAM [GB/s]."""


def decode(facts: Facts) -> float | None:
    """0.7 S / working set, 0.65 on Apple; 0.85 of that for a split [tokens/s].

    For a split, S is the harmonic mean of the GPU's bandwidth and 50 GB/s by share. The working set
    is 1.1 times the weights plus half a GiB; with experts, the active share of it. There is no
    formula for a processor alone.
    """
    if facts.where is Where.RAM:
        return None
    whole = facts.params * _bytes(facts.format) / GIB * 1.1 + 0.5
    read = max(0.5, whole * facts.active_params / facts.params) if facts.experts else whole
    efficiency = 0.65 if facts.gpu_vendor == "Apple" else 0.70
    bandwidth = facts.gpu_bandwidth / GB
    if facts.where is Where.GPU:
        return efficiency * bandwidth / read
    mean = 1.0 / (facts.gpu_share / bandwidth + (1.0 - facts.gpu_share) / RAM_RATE)
    return max(1.0, 0.85 * efficiency * mean / read)


def _bytes(form: str) -> float:
    named = re.search(r"\d+", form)
    bits = int(named.group()) if named else 4
    return BYTES[min(BYTES, key=lambda known: abs(known - bits))]


CANIRUN = Peer(
    name="CanIRun.ai",
    version="6c44096",
    date="2026-08-20",
    source="https://github.com/midudev/canirun.ai/blob/6c44096/packages/compatibility/src/index.ts",
    formula="0.7 of bandwidth over 1.1 times the weights; RAM counts as 50 GB/s",
    decode=decode,
)
