"""Formats of weights and cache that are tried, the one that loses least first.

GGUF formats stand in the order of their published loss (data/models/format_loss.csv); between them
those of serving engines by their bits.
"""

from collections.abc import Iterable, Iterator

from advisor.errors import Refusal, UnknownName
from advisor.model import catalog
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.model.model import Model
from advisor.runtimes import Runtime

FORMATS = (
    "BF16", "BF16-hf", "Q8_0", "FP8", "Q6_K", "Q5_K_M", "Q4_K_M", "AWQ", "IQ4_XS", "Q3_K_M",
)  # fmt: skip
"""Formats of weights that are tried for a target."""
CACHES = tuple(sorted(KV_BYTES_PER_VALUE, key=lambda name: -KV_BYTES_PER_VALUE[name]))
"""Formats of the cache, the largest first."""


def in_formats(model: Model, formats: Iterable[str] = FORMATS) -> Iterator[Model]:
    """The model in each format that it can have, one after the other; alone where it comes in its
    own only.
    """
    able = False
    for form in formats:
        try:
            yield catalog.in_format(model.architecture, form)
        except (Refusal, UnknownName):
            continue
        able = True
    if not able:
        yield model


def cache_types(runtime: Runtime) -> tuple[str, ...]:
    """Formats that a runtime keeps a cache in, by the largest that it quantizes to."""
    least = runtime.quantized_kv_type
    if least == "q8_0":
        return ("f16", "q8_0", "q4_0")
    return ("f16", least) if least else ("f16",)
