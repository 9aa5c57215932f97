"""GGUF formats of the same size, for runtimes whose formats are a number of bits per weight."""

from collections.abc import Mapping

from advisor.cost_model.runtime import LoadedFormat
from advisor.runtimes.format_support import bits

IN_GROUPS: Mapping[int, str] = {
    3: "Q3_K_S", 4: "Q4_0", 5: "Q5_0", 6: "Q6_K", 8: "Q8_0", 16: "BF16",
}  # fmt: skip
"""GGUF format by bits per weight, to which the scale and offset of each 64 weights add half a
bit."""


def whole_bits(form: str) -> int:
    """Available number of bits closest to a format's; the lower of two equally close ones."""
    return min(IN_GROUPS, key=lambda there: (abs(there - bits(form)), there))


def in_groups(form: str, runtime: str) -> LoadedFormat:
    """Format with the nearest number of bits in a runtime.

    Args:
        form: requested format.
        runtime: name of the runtime.
    """
    near, number = IN_GROUPS[whole_bits(form)], whole_bits(form)
    if near == form and number == 16:
        return LoadedFormat(format=form)
    return LoadedFormat(format=near, reason=f"as {runtime}'s {number} bits, the size of {near}")
