"""Runtimes, formats of weights and formats of the cache that are tried, by quality loss.

GGUF formats are ordered by published loss (data/models/format_loss.csv), formats of serving engines
among them by bits.
"""

from collections.abc import Iterable, Iterator, Sequence

from advisor.errors import Refusal, UnknownName
from advisor.model import catalog
from advisor.model.kv_cache import KV_BYTES_PER_VALUE
from advisor.model.model import Model
from advisor.runtimes import ASIDE, EXLLAMAV3, MLX, RUNTIMES, Runtime

SEARCHED = (*RUNTIMES, *ASIDE)
"""Runtimes tried for a target: all."""
BY_LOSS = (
    "BF16", "BF16-hf", "Q8_0", "FP8", "Q6_K", "Q5_K_M", "Q5_0", "Q4_K_M", "AWQ", "IQ4_XS", "Q4_0",
    "Q3_K_M", "Q3_K_S",
)  # fmt: skip
"""Weight formats tried for a target, smallest loss first."""
BY_BITS = frozenset({"Q5_0", "Q4_0", "Q3_K_S"})
"""Formats of the size that 5, 4 and 3 bits have in `IN_BITS`; GGUF has better ones of that size."""
IN_BITS = frozenset({MLX.name, EXLLAMAV3.name})
"""Runtimes whose formats are a number of bits, as `runtimes.by_bits` matches them."""
FORMATS = tuple(form for form in BY_LOSS if form not in BY_BITS)
"""Weight formats tried in other runtimes."""
CACHES = tuple(sorted(KV_BYTES_PER_VALUE, key=lambda name: -KV_BYTES_PER_VALUE[name]))
"""Cache formats, largest first."""


def in_formats(model: Model, formats: Iterable[str] = BY_LOSS) -> Iterator[Model]:
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


def tried_in(runtime: Runtime, models: Sequence[Model], *, stated: bool) -> tuple[int, ...]:
    """Indices of the formats that are tried in a runtime.

    Args:
        runtime: runtime.
        models: model in each format.
        stated: the formats were chosen, and not all.
    """
    bits = stated or len(models) == 1 or runtime.name in IN_BITS
    return tuple(at for at, model in enumerate(models) if bits or model.format not in BY_BITS)


def cache_types(runtime: Runtime) -> tuple[str, ...]:
    """Cache formats of a runtime, derived from the largest quantized one."""
    least = runtime.quantized_kv_type
    if least == "q8_0":
        return ("f16", "q8_0", "q4_0")
    return ("f16", least) if least else ("f16",)
