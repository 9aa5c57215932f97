"""Bytes over bandwidth: the rule that all the others start from."""

from advisor.evidence.peers.peer import Facts, Peer


def decode(facts: Facts) -> float:
    """A token reads its weights and the cache once, each memory at its peak [tokens/s].

    1 / (W_gpu / S_gpu + W_ram / S_ram), the cache beside the GPU's weights where there is a GPU.

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
