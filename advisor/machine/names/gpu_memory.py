"""Memory sizes in names of GPUs: which card has a size, and which sizes are refused."""

from advisor.errors import UnknownName
from advisor.machine.names.apple_names import memory_options
from advisor.machine.rows import GpuRow

LESS, MORE = 0.13, 0.075
"""Largest part of a card's memory by which a stated size may differ from it: with error correction
a T4 shows 15 of its 16 GB and leaves programs 14; a B200 of 180 GB is sold as 192."""
OF_VARIANT = 0.045
"""Largest relative difference for a card that the size alone distinguishes."""


class OtherMemory(UnknownName):
    """Card with a memory size that it is not sold with.

    Args:
        name: name with the size.
        same: cards of that name, the meant one first.
        size_gib: stated size [GiB].
        alone: whether the name has no other words, whose memory it may be.
    """

    def __init__(self, name: str, same: list[GpuRow], size_gib: float, *, alone: bool) -> None:
        sizes = sorted({card.memory_gib for card in same})
        self.size_gib = size_gib
        self.alone = alone
        self.sold_gib = sizes[-1]
        sold = " or ".join(f"{own:g}" for own in sizes)
        hint = (
            f"{same[0].name} has {sold} GB, not {size_gib:g}: name it without the size, and type "
            "the memory of a changed card (--vram-gb) or of the machine (--ram-gb) by itself."
        )
        super().__init__("GPU", name, (same[0].name,), hint)


def of_size(rows: list[GpuRow], size: float | None) -> list[GpuRow]:
    """Cards whose memory is nearest to a size [GiB]; none where no card is near it."""
    if size is None:
        return []
    off = {
        row.name: 0.0 if size in memory_options(row) else size / row.memory_gib - 1 for row in rows
    }
    least = min(map(abs, off.values()))
    return [row for row in rows if abs(off[row.name]) == least and -LESS <= off[row.name] <= MORE]


def is_of_size(row: GpuRow, size: float) -> bool:
    """Whether a card's memory is a stated size [GiB]."""
    return abs(row.memory_gib - size) <= OF_VARIANT * size
