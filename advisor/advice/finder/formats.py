"""Formats of weights and cache that are tried, in the order of their quality loss.

GGUF formats are ordered by published loss (data/models/format_loss.csv), formats of serving engines
among them by bits.
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
"""Weight formats tried for a target."""
CACHES = tuple(sorted(KV_BYTES_PER_VALUE, key=lambda name: -KV_BYTES_PER_VALUE[name]))
"""Cache formats, largest first."""


def in_formats(model: Model, formats: Iterable[str] = FORMATS) -> Iterator[Model]:
    """The model in each possible format; alone where it exists in a single one."""
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
    """Cache formats of a runtime, derived from the largest quantized one."""
    least = runtime.quantized_kv_type
    if least == "q8_0":
        return ("f16", "q8_0", "q4_0")
    return ("f16", least) if least else ("f16",)
