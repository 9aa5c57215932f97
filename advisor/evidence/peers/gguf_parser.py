"""GGUF Parser: each device's bytes over its bandwidth, by its share of the layers.

gpustack/gguf-parser-go, `file_estimate__llamacpp.go` (maximum tokens per second) in v0.25.0,
2026-07-12.
"""

from advisor.evidence.peers.peer import Facts, Peer

BATCHES = 4.0
"""Factor on the cache: a logical batch of 2048 tokens over a physical one of 512."""


def decode(facts: Facts) -> float | None:
    """t_max / sum of t_i^2, with t_i = (W_i + 4 K_i) / S_i times the share of layers [tokens/s].

    A device's share counts the output head and one more layer. The bound by FLOPs is omitted: a GPU
    does not reach it, and no row states the FLOP/s of a processor. The formula reads every expert,
    so it is used for dense models only.
    """
    if facts.experts:
        return None
    rows = (facts.layers + 1.0) / (facts.layers + 2.0)
    devices = [(1.0 - facts.gpu_share, 1.0 - facts.gpu_layers, facts.ram_peak)]
    if facts.gpus:
        devices.append((facts.gpu_share, facts.gpu_layers, facts.gpu_bandwidth))
    times = [
        (share * facts.file_bytes + layers * BATCHES * facts.cache_read) / speed * layers * rows
        for share, layers, speed in devices
    ]
    return max(times) / sum(time * time for time in times)


GGUF_PARSER = Peer(
    name="GGUF Parser",
    version="0.25.0",
    date="2026-07-12",
    source="https://github.com/gpustack/gguf-parser-go/blob/v0.25.0/file_estimate__llamacpp.go",
    formula="bandwidth over bytes of each device, weighed by its share of the layers; dense",
    decode=decode,
)
