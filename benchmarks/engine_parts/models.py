"""Models that the engine benchmark predicts and then runs: shapes of the catalogue, no weights."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from advisor.model.architecture import ArchitectureSpec
from advisor.model.catalog import find_model
from advisor.probes.llama_cpp.synthetic_model import Synthetic, in_format, write

CONTEXTS = (128, 4096)


@dataclass(frozen=True, kw_only=True)
class Target:
    """One model to predict."""

    name: str  # shape and format
    synthetic: Synthetic  # the model
    # shares of its file for which memory has room, beside what the process needs; none for a model
    # that lies in memory whole
    shares: tuple[float, ...] = ()

    @property
    def twin(self) -> Synthetic:
        """Model with the same cache and next to no weights, which fills that cache quickly."""
        facts = self.synthetic.facts
        twin = ArchitectureSpec(
            name="twin",
            layers=facts.layers,
            hidden=256,
            intermediate=256,
            heads=facts.kv_heads,
            kv_heads=facts.kv_heads,
            head_dim=facts.head_dim,
            vocab=1024,
        )
        return in_format(twin, "Q8_0")


def target(facts: ArchitectureSpec, form: str, shares: tuple[float, ...] = ()) -> Target:
    """Model of a shape in a format."""
    return Target(name=f"{facts.name} {form}", synthetic=in_format(facts, form), shares=shares)


SMALL_EXPERTS = ArchitectureSpec(
    name="MoE 3B-A0.8B",
    layers=32,
    hidden=1536,
    moe_intermediate=512,
    experts=40,
    experts_per_token=8,
    heads=24,
    kv_heads=8,
    head_dim=64,
    vocab=49152,
    tied=True,
)
"""The shape of IBM's Granite 3.1 3B-A800M."""
EXPERTS = ArchitectureSpec(
    name="MoE 7B-A1B",
    layers=16,
    hidden=2048,
    moe_intermediate=1024,
    experts=64,
    experts_per_token=8,
    heads=16,
    kv_heads=16,
    head_dim=128,
    vocab=50304,
)
"""The shape of AllenAI's OLMoE-1B-7B."""

MANY_EXPERTS = ArchitectureSpec(
    name="MoE 30B-A3B",
    layers=48,
    hidden=2048,
    moe_intermediate=768,
    experts=128,
    experts_per_token=8,
    heads=32,
    kv_heads=4,
    head_dim=128,
    vocab=151936,
)
"""The shape of Alibaba's Qwen3-30B-A3B."""


SMALL_PIECES = ArchitectureSpec(
    name="MoE 2.6B-A0.5B",
    layers=12,
    hidden=2048,
    moe_intermediate=1024,
    experts=32,
    experts_per_token=4,
    heads=16,
    kv_heads=8,
    head_dim=128,
    vocab=4096,
)
LARGE_PIECES = ArchitectureSpec(
    name="MoE 3.5B-A1.0B",
    layers=8,
    hidden=2048,
    moe_intermediate=4096,
    experts=16,
    experts_per_token=4,
    heads=16,
    kv_heads=8,
    head_dim=128,
    vocab=4096,
)
NAMED = (
    ("Qwen3-0.6B", "Q8_0"), ("TinyLlama-1.1B", "Q6_K"), ("Llama-3.2-1B", "Q4_K_M"),
    ("Qwen3-1.7B", "F16"), ("Llama-3.2-3B", "Q4_0"), ("Qwen3-4B", "Q6_K"),
    ("Mistral-7B", "Q4_K_M"), ("Llama-3.1-8B", "Q8_0"),
)  # fmt: skip
"""Models of the catalogue, by name and format."""


def targets() -> list[Target]:
    """From 0.6 to 8 billion weights, dense and with experts; none is among the probe's samples."""
    # Norms of queries and keys, and biases, would take another of llama.cpp's architectures; a
    # model trained on little context is not given more.
    plain = [
        (replace(find_model(name), qk_norm="", qkv_bias=False, max_context=None), form)
        for name, form in NAMED
    ]
    return [target(*each) for each in (*plain, (SMALL_EXPERTS, "Q8_0"), (EXPERTS, "Q4_K_M"))]


def larger() -> list[Target]:
    """Models that are to be larger than memory: two dense ones, and two with experts, which lie in
    small and in large pieces.
    """
    dense = ((find_model("TinyLlama-1.1B"), "Q8_0"), (find_model("Llama-3.2-1B"), "Q6_K"))
    # Random weights in Q4_0 are below zero on average, and would send all tokens to like experts.
    routed = ((SMALL_PIECES, "Q4_K_M"), (LARGE_PIECES, "Q4_K_M"))
    scans = (0.5, 0.75, 0.9, 1.05)
    hits = (0.4, 0.6, 0.8)
    return [
        target(*model, shares)
        for shares, models in ((scans, dense), (hits, routed))
        for model in models
    ]


@contextmanager
def filled(synthetic: Synthetic, folder: Path) -> Iterator[Path]:
    """File of a model with random weights, gone when the block ends.

    Zeros would take less power, and a GPU at its power limit computes them faster.
    """
    path = folder / f"model-{os.getpid()}.gguf"
    try:
        with path.open("wb") as file:
            write(file, synthetic, filled=True)
            os.fsync(file.fileno())
        yield path
    finally:
        path.unlink(missing_ok=True)
