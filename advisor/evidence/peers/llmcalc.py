"""LLMcalc: bandwidth over bytes, and an exponential of the offloaded share.

Raskoll2/LLMcalc, `LLMcalc.py` at commit 45f78d9, 2025-01-30.
"""

import math

from advisor.evidence.peers.peer import Facts, Peer, Where


def decode(facts: Facts) -> float | None:
    """S / W in the GPU, 0.9 S_ram / W in RAM, and for a split the latter times a factor [tokens/s].

    The factor is 0.052 exp(4.55 (1 - o)) + 1.06 for an offloaded share o, for any GPU. There is no
    formula for experts.
    """
    if facts.experts:
        return None
    if facts.where is Where.GPU:
        return facts.gpu_bandwidth / facts.file_bytes
    in_ram = 0.9 * facts.ram_peak / facts.file_bytes
    if facts.where is Where.RAM:
        return in_ram
    return in_ram * (0.052 * math.exp(4.55 * facts.gpu_share) + 1.06)


LLMCALC = Peer(
    name="LLMcalc",
    version="45f78d9",
    date="2025-01-30",
    source="https://github.com/Raskoll2/LLMcalc/blob/45f78d9/LLMcalc.py",
    formula="bandwidth over bytes; 0.9 of RAM's, growing with what lies in the GPU; dense",
    decode=decode,
)
