"""Formats of runtimes that choose a number of bits, as the formats of GGUF of the same size."""

from collections.abc import Mapping

from advisor.cost_model.runtime import LoadedFormat
from advisor.runtimes.format_support import bits

IN_GROUPS: Mapping[int, str] = {
    3: "Q3_K_S", 4: "Q4_0", 5: "Q5_0", 6: "Q6_K", 8: "Q8_0", 16: "BF16",
}  # fmt: skip
"""By bits of a weight, with half a bit more for the scale and offset of each 64 weights."""


def whole_bits(form: str) -> int:
    """The number of bits, of those that there are, closest to a format's; the lower of two."""
    return min(IN_GROUPS, key=lambda there: (abs(there - bits(form)), there))


def in_groups(form: str, runtime: str) -> LoadedFormat:
    """The format that stands for so many bits in a runtime.

    Args:
        form: format asked for.
        runtime: its name.
    """
    near, number = IN_GROUPS[whole_bits(form)], whole_bits(form)
    if near == form and number == 16:
        return LoadedFormat(format=form)
    return LoadedFormat(format=near, reason=f"as {runtime}'s {number} bits, the size of {near}")
