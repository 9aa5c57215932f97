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
    """Facts about one run; every formula gets the same."""

    where: Where  # location of the weights
    format: str  # name of the format ("Q4_K_M")
    params: float  # weights of the model
    active_params: float  # weights used for a token
    experts: int  # routed experts per layer; 0 for a dense model
    experts_used: int  # routed experts used for a token
    expert_params: float  # weights of the routed experts used for a token, all layers
    shared_params: float  # weights of attention, shared experts and routers, all layers
    layers: int  # repeating layers
    hidden: int  # width of the residual stream
    intermediate: int  # width of a dense feed-forward layer; 0 where there is none
    vocab: int  # rows of the token table
    file_bytes: float  # size of all weights [B]
    gpu_read: float  # weights read from VRAM per token [B]
    ram_read: float  # weights read from RAM per token [B]
    cache_read: float  # 16-bit cache read per token [B]
    depth: float  # tokens in the cache
    gpu_share: float  # share of the file in VRAM
    gpu_layers: float  # share of the layers computed by a GPU, with the output head as one layer
    gpus: int  # number of GPUs
    gpu_vendor: str  # "NVIDIA", "AMD", "Intel", "Apple"; empty for none
    gpu_unified: bool  # the GPU uses the host's memory
    gpu_memory: float  # memory of each GPU [B]
    gpu_bandwidth: float  # peak bandwidth of each GPU [B/s]
    gpu_fp16: float  # dense 16-bit peak of each GPU [FLOP/s]
    gpu_fp32: float  # 32-bit peak of each GPU [FLOP/s]
    ram: float  # sustained read rate of RAM [B/s]
    ram_peak: float  # theoretical bandwidth of RAM, or as the source states it [B/s]
    cores: int  # cores that compute
    arm: bool  # ARM cores
    prompt: float  # tokens of the prompt, for its speed; 0 for the speed of generation
    prompt_flops: float  # work on the whole prompt [FLOP]


Formula = Callable[[Facts], float | None]
"""Speed of a run [tokens/s]; None where the advisor has no formula for it."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One public advisor."""

    name: str  # its authors' name for it
    version: str  # release or commit that was read
    date: str  # date of that version
    source: str  # address of its formula
    formula: str  # the formula in one line
    decode: Formula  # speed of generation [tokens/s]
    # speed of the prompt [tokens/s]; None for an advisor without one
    prefill: Formula | None = None

    def answer(self, facts: Facts) -> float | None:
        """Speed of a run's prompt, or of its generation without one [tokens/s]."""
        if not facts.prompt:
            return self.decode(facts)
        return self.prefill(facts) if self.prefill else None
