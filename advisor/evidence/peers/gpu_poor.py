"""gpu_poor: bandwidth over 1.5 times the bytes, for dense models.

RahulSChand/gpu_poor, `src/App.js` at commit 24f6c5f, 2024-11-01.
"""

from advisor.evidence.peers.peer import Facts, Peer, Where
from advisor.units import GB, GIB


def decode(facts: Facts) -> float | None:
    """1 / (f (W + K) / S) with f 1.5 on a GPU, 2 for Q2_K, 1.6 on a processor [tokens/s].

    Bytes are counted in GiB, bandwidth in GB/s. K is a 16-bit cache with all query heads. Several
    GPUs divide the time, which then grows by a quarter. The bound by FLOPs is omitted, as a single
    token does not reach it. There is no formula for experts or splits.
    """
    if facts.experts or facts.where in (Where.SPLIT, Where.EXPERTS):
        return None
    cache = 4.0 * facts.layers * facts.hidden * facts.depth
    moved = (_weights(facts) + cache) / GIB
    if facts.where is Where.RAM:
        return facts.ram_peak / GB / (1.6 * moved)
    factor = 2.0 if facts.format == "Q2_K" else 1.5
    return facts.gpu_bandwidth / GB / (factor * moved * _several(facts))


def prefill(facts: Facts) -> float | None:
    """Speed n / (1.8 F / (0.85 C) + one read of the weights), C in 32 bits [tokens/s].

    F is 2 n (W / 2 + 2 L h^2) FLOPs for n tokens; the read takes 80 us for each MiB.
    """
    if facts.experts or facts.where is not Where.GPU:
        return None
    square = 2.0 * facts.layers * facts.hidden**2
    flops = 2.0 * facts.prompt * (_weights(facts) / 2.0 + square)
    seconds = 1.8 * flops / (0.85 * facts.gpu_fp32) + _weights(facts) / 2**20 * 80e-6
    return facts.prompt / seconds


def _weights(facts: Facts) -> float:
    """Weights by the advisor's own count, at the mean bytes per weight of the file [B].

    Four square matrices a layer for attention, three for the feed-forward part.
    """
    attention = 4.0 * facts.layers * facts.hidden**2
    feed_forward = 3.0 * facts.layers * facts.hidden * facts.intermediate
    counted = 2.0 * facts.vocab * facts.hidden + attention + feed_forward
    return counted * facts.file_bytes / facts.params


def _several(facts: Facts) -> float:
    return 1.25 / facts.gpus if facts.gpus > 1 else 1.0


GPU_POOR = Peer(
    name="gpu_poor",
    version="24f6c5f",
    date="2024-11-01",
    source="https://github.com/RahulSChand/gpu_poor/blob/24f6c5f/src/App.js",
    formula="bandwidth over 1.5 times weights and cache (1.6 on a processor); dense",
    decode=decode,
    prefill=prefill,
)
