"""Architectures that GGUF files name, and what llama.cpp knows of their attention beside the file.

Reference: ggml-org/llama.cpp, src/llama-arch.cpp, and `load_arch_hparams` in src/llama-model.cpp
and src/models/*.cpp, read 2026-11-21.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import Refusal
from advisor.model.gguf.header import Header


@dataclass(frozen=True, kw_only=True, slots=True)
class GgufArchitecture:
    """One row of data/models/gguf_architectures.csv: the cache and states of an architecture."""

    architecture: str  # `general.architecture` of its files
    refused: str  # what it is and why it is not described; empty where it is
    latent: bool = False  # latent attention (MLA), whose cache llama.cpp keeps latent
    bare_layers: bool = False  # some layers keep nothing of the past
    shares_cache: bool = False  # the last layers reuse an earlier layer's cache
    # how many first layers have a cache of their own where the file does not say; None for all
    caching_layers: int | None
    # layers of which one has no window; 0 where the file lists them, -1 where every attention layer
    # has one, if any; None for no windows
    period: int | None
    full_first: bool = False  # the layer without is the first of each period; else the last
    # window where the file names none; 0 for no windows then, None where a file must name it
    # [tokens]
    window: int | None
    fixed_window: int = 0  # window whatever the file says; 0 for the file's [tokens]
    windowed_depth: int = 0  # layers of the only size that has windows; 0 for all sizes


@cache
def architectures() -> Mapping[str, GgufArchitecture]:
    """Architectures by name; attention of those without a period sees everything."""
    rows = read(DATA / "models/gguf_architectures.csv", GgufArchitecture)
    return {row.architecture: row for row in rows}


def traits_of(name: str, header: Header) -> GgufArchitecture:
    """Architecture of a file; the file's own keys describe an unknown one.

    Raises:
        Refusal: it is no language model.
    """
    row = architectures().get(name)
    if row is None:
        return _by_keys(name, header)
    if row.refused:
        raise Refusal(f"{name} is {row.refused}. Give a language model's file.")
    return row


def _by_keys(name: str, header: Header) -> GgufArchitecture:
    """What the keys of a file tell of an architecture that nobody described: latent attention by
    its rank, windows where their layers are listed. Layers without attention may be of any kind.
    """
    rank = header.values.get(f"{name}.attention.kv_lora_rank")
    listed = header.values.get(f"{name}.attention.sliding_window_pattern")
    return GgufArchitecture(
        architecture=name,
        refused="",
        latent=bool(rank),
        bare_layers=True,
        caching_layers=None,
        period=0 if isinstance(listed, tuple) else None,
        window=0,
    )
