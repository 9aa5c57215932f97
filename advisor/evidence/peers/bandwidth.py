"""Bandwidth over bytes: the rule that all other formulas start from."""

from advisor.evidence.peers.peer import Facts, Peer


def decode(facts: Facts) -> float:
    """Peak bandwidth over the bytes that a token reads, once each [tokens/s].

    1 / (W_gpu / S_gpu + W_ram / S_ram); the cache is added to the GPU's weights, or to RAM's
    without a GPU.

    Carol Chen 2022 and Arseny Kapoulkine 2024 state it for one memory; Martin Alderson's calculator
    adds memories up, with the active weights of experts and the cache in the first memory.
    """
    in_ram = facts.ram_read + (0.0 if facts.gpus else facts.cache_read)
    seconds = in_ram / facts.ram_peak
    if facts.gpus:
        seconds += (facts.gpu_read + facts.cache_read) / facts.gpu_bandwidth
    return 1.0 / seconds


BANDWIDTH = Peer(
    name="bandwidth over bytes",
    version="LLM inference speed of light",
    date="2024-03-15",
    source="https://zeux.io/2024/03/15/llm-inference-sol/",
    formula="peak bandwidth over the bytes that a token reads, memories added up",
    decode=decode,
)
