"""Models that the engine benchmark predicts and then runs: shapes of the catalogue, no weights."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from advisor.model.catalog import find_model
from advisor.model.spec import ArchitectureSpec
from advisor.probes.llama_cpp.synthetic_model import Synthetic, in_format, write

CONTEXTS = (128, 4096)


@dataclass(frozen=True, kw_only=True)
class Target:
    """One model to predict.

    Attributes:
        name: shape and format.
        synthetic: the model.
        twin: one with the same cache and next to no weights, which fills that cache quickly.
    """

    name: str
    synthetic: Synthetic
    twin: Synthetic


SMALL_EXPERTS = ArchitectureSpec(
    name="MoE 3B-A0.8B", layers=32, hidden=1536, moe_intermediate=512, experts=40,
    experts_per_token=8, heads=24, kv_heads=8, head_dim=64, vocab=49152, tied=True,
)  # fmt: skip
"""The shape of IBM's Granite 3.1 3B-A800M."""
EXPERTS = ArchitectureSpec(
    name="MoE 7B-A1B", layers=16, hidden=2048, moe_intermediate=1024, experts=64,
    experts_per_token=8, heads=16, kv_heads=16, head_dim=128, vocab=50304,
)  # fmt: skip
"""The shape of AllenAI's OLMoE-1B-7B."""

MANY_EXPERTS = ArchitectureSpec(
    name="MoE 30B-A3B", layers=48, hidden=2048, moe_intermediate=768, experts=128,
    experts_per_token=8, heads=32, kv_heads=4, head_dim=128, vocab=151936,
)  # fmt: skip
"""The shape of Alibaba's Qwen3-30B-A3B."""


def large() -> Target:
    """One with 30 billion weights in many experts, which GPU machines run with experts in RAM."""
    return _target(MANY_EXPERTS, "Q4_K_M")


def targets() -> list[Target]:
    """From 0.6 to 8 billion weights, dense and with experts; none is among the probe's samples."""
    return [
        _named("Qwen3-0.6B", "Q8_0"),
        _named("TinyLlama-1.1B", "Q6_K"),
        _named("Llama-3.2-1B", "Q4_K_M"),
        _named("Qwen3-1.7B", "F16"),
        _named("Llama-3.2-3B", "Q4_0"),
        _named("Qwen3-4B", "Q6_K"),
        _named("Mistral-7B", "Q4_K_M"),
        _named("Llama-3.1-8B", "Q8_0"),
        _target(SMALL_EXPERTS, "Q8_0"),
        _target(EXPERTS, "Q4_K_M"),
    ]


def _named(name: str, form: str) -> Target:
    # Norms of queries and keys, and biases, would take another of llama.cpp's architectures; a
    # model trained on little context is not given more.
    plain = replace(find_model(name), qk_norm="", qkv_bias=False, max_context=None)
    return _target(plain, form)


def _target(facts: ArchitectureSpec, form: str) -> Target:
    twin = ArchitectureSpec(
        name="twin", layers=facts.layers, hidden=256, intermediate=256, heads=facts.kv_heads,
        kv_heads=facts.kv_heads, head_dim=facts.head_dim, vocab=1024,
    )  # fmt: skip
    return Target(
        name=f"{facts.name} {form}",
        synthetic=in_format(facts, form),
        twin=in_format(twin, "Q8_0"),
    )


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
