"""Public advisors: the facts they get, and their formulas."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Where(StrEnum):
    """Location of the weights in a run."""

    GPU = "in the GPU"
    RAM = "in RAM"
    SPLIT = "layers split between GPU and RAM"
    EXPERTS = "routed experts in RAM"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Facts about one run; every formula gets the same.

    Attributes:
        where: location of the weights.
        format: name of the format ("Q4_K_M").
        params: weights of the model.
        active_params: weights used for a token.
        experts: routed experts per layer; 0 for a dense model.
        experts_used: routed experts used for a token.
        expert_params: weights of the routed experts used for a token, all layers.
        shared_params: weights of attention, shared experts and routers, all layers.
        layers: repeating layers.
        hidden: width of the residual stream.
        intermediate: width of a dense feed-forward layer; 0 where there is none.
        vocab: rows of the token table.
        file_bytes: size of all weights [B].
        gpu_read: weights read from VRAM per token [B].
        ram_read: weights read from RAM per token [B].
        cache_read: 16-bit cache read per token [B].
        depth: tokens in the cache.
        gpu_share: share of the file in VRAM.
        gpu_layers: share of the layers computed by a GPU, with the output head as one layer.
        gpus: number of GPUs.
        gpu_vendor: "NVIDIA", "AMD", "Intel", "Apple"; empty for none.
        gpu_unified: the GPU uses the host's memory.
        gpu_memory: memory of each GPU [B].
        gpu_bandwidth: peak bandwidth of each GPU [B/s].
        gpu_fp16: dense 16-bit peak of each GPU [FLOP/s].
        gpu_fp32: 32-bit peak of each GPU [FLOP/s].
        ram: sustained read rate of RAM [B/s].
        ram_peak: theoretical bandwidth of RAM, or as the source states it [B/s].
        cores: cores that compute.
        arm: ARM cores.
        prompt: tokens of the prompt, for its speed; 0 for the speed of generation.
        prompt_flops: work on the whole prompt [FLOP].
    """

    where: Where
    format: str
    params: float
    active_params: float
    experts: int
    experts_used: int
    expert_params: float
    shared_params: float
    layers: int
    hidden: int
    intermediate: int
    vocab: int
    file_bytes: float
    gpu_read: float
    ram_read: float
    cache_read: float
    depth: float
    gpu_share: float
    gpu_layers: float
    gpus: int
    gpu_vendor: str
    gpu_unified: bool
    gpu_memory: float
    gpu_bandwidth: float
    gpu_fp16: float
    gpu_fp32: float
    ram: float
    ram_peak: float
    cores: int
    arm: bool
    prompt: float
    prompt_flops: float


Formula = Callable[[Facts], float | None]
"""Speed of a run [tokens/s]; None where the advisor has no formula for it."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One public advisor.

    Attributes:
        name: its authors' name for it.
        version: release or commit that was read.
        date: date of that version.
        source: address of its formula.
        formula: the formula in one line.
        decode: speed of generation [tokens/s].
        prefill: speed of the prompt [tokens/s]; None for an advisor without one.
    """

    name: str
    version: str
    date: str
    source: str
    formula: str
    decode: Formula
    prefill: Formula | None = None

    def answer(self, facts: Facts) -> float | None:
        """Speed of a run's prompt, or of its generation without one [tokens/s]."""
        if not facts.prompt:
            return self.decode(facts)
        return self.prefill(facts) if self.prefill else None
