"""LLM-Viewer: a roofline over the operations of a dense model on one GPU.

hahnyuan/LLM-Viewer, `roofline_model.py` and `model_analyzer.py` at commit 472f71f, 2024-07-30.
"""

from advisor.evidence.peers.peer import Facts, Peer, Where


def decode(facts: Facts) -> float | None:
    """Reciprocal of the larger of bytes / bandwidth and FLOPs / peak [tokens/s].

    The source takes the larger for each operation; a token reads weights and cache and is never
    bound by FLOPs. Activations, some kB beside GB, are omitted. Dense models only.
    """
    if facts.where is not Where.GPU or facts.experts:
        return None
    read = (facts.gpu_read + facts.cache_read) / facts.gpu_bandwidth
    return 1.0 / max(read, 2.0 * facts.params / facts.gpu_fp16)


def prefill(facts: Facts) -> float | None:
    """Prompt over the larger of FLOPs / 16-bit peak and weights / bandwidth [tokens/s]."""
    if facts.where is not Where.GPU or facts.experts:
        return None
    computing = facts.prompt_flops / facts.gpu_fp16
    return facts.prompt / max(computing, facts.file_bytes / facts.gpu_bandwidth)


LLM_VIEWER = Peer(
    name="LLM-Viewer",
    version="472f71f",
    date="2024-07-30",
    source="https://github.com/hahnyuan/LLM-Viewer/blob/472f71f/roofline_model.py",
    formula="the longer of bytes over bandwidth and FLOPs over the 16-bit peak; dense, resident",
    decode=decode,
    prefill=prefill,
)
