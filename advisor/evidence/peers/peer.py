"""What a public advisor is asked, and what it is."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Where(StrEnum):
    """Where the weights of a run lie."""

    GPU = "in the GPU"
    RAM = "in RAM"
    SPLIT = "layers split between GPU and RAM"
    EXPERTS = "routed experts in RAM"


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One run, as the formulas want it: every one is given the same facts, none more.

    Attributes:
        where: the weights lie.
        format: name of the format ("Q4_K_M").
        params: weights of the model.
        active_params: weights that a token passes through.
        experts: routed experts of a layer; 0 for a dense model.
        experts_used: those of them that a token uses.
        expert_params: weights of the routed experts that a token uses, all layers.
        shared_params: weights of attention, shared experts and routers, all layers.
        layers: repeating layers.
        hidden: width of the residual stream.
        intermediate: width of a dense feed-forward layer; 0 where there is none.
        vocab: rows of the token table.
        file_bytes: all weights [B].
        gpu_read: weights that a token reads from VRAM [B].
        ram_read: weights that a token reads from RAM [B].
        cache_read: cache in 16 bits that a token reads [B].
        depth: tokens in the cache.
        gpu_share: share of the file that lies in VRAM.
        gpu_layers: share of the layers, output head counted as one, that a GPU computes.
        gpus: how many.
        gpu_vendor: "NVIDIA", "AMD", "Intel", "Apple"; empty for none.
        gpu_unified: the GPU's memory is the host's own.
        gpu_memory: of each GPU [B].
        gpu_bandwidth: of each GPU, peak [B/s].
        gpu_fp16: dense peak of each GPU in 16 bits [FLOP/s].
        gpu_fp32: in 32 bits [FLOP/s].
        ram: sustained read rate of RAM [B/s].
        ram_peak: the same in theory, or as the source states it [B/s].
        cores: that compute.
        arm: they are ARM cores.
        prompt: tokens of a prompt whose speed is asked; 0 where it is not.
        prompt_flops: work on all of it [FLOP].
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
"""Tokens per second of a run; None where the advisor has no formula for it."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """One public advisor.

    Attributes:
        name: as its authors call it.
        version: what was read of it: a release, or a commit.
        date: of that.
        source: where its formula can be read.
        formula: it, in a line.
        decode: tokens a second while generating.
        prefill: prompt tokens a second; None for an advisor that does not say.
    """

    name: str
    version: str
    date: str
    source: str
    formula: str
    decode: Formula
    prefill: Formula | None = None

    def answer(self, facts: Facts) -> float | None:
        """What it says of a run: of its prompt where that is asked [tokens/s]."""
        if not facts.prompt:
            return self.decode(facts)
        return self.prefill(facts) if self.prefill else None
