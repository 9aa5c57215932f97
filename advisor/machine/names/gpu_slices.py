"""Slices of a data-centre card (NVIDIA's Multi-Instance GPU): "H100 MIG 3g.40gb".

The first number counts compute slices, the second is the memory. Memory and its bandwidth are cut
into eight parts, the multiprocessors into seven; A30 and RTX PRO 6000 have four of both.
"""

import re
from dataclasses import dataclass, replace

from advisor.errors import UnknownName
from advisor.machine.rows import GpuRow

SOURCE = "https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html"
PROFILE = re.compile(
    r"[\s,:(-]*(?:\bmig\b[\s:-]*)?\b(\d) ?g[._](\d{1,3}) ?gb(?:\+\w+(?:\.all)?)?\)?", re.IGNORECASE
)
UNSAID = re.compile(r"\bmig\b", re.IGNORECASE)
CAN = re.compile(
    r"^(?:A30|A100|A800|H100(?! 64GB)|H800|H20|H200|GH200|B200|B300|GB200|GB300)\b|^RTX PRO 6000"
)
QUARTERS = re.compile(r"^(?:A30|RTX PRO 6000)\b")
ROUNDED = 0.08
"""Relative difference between a profile's memory and its share of the card: a B200's names count
180 of 192 GB."""
MEMORY_SLICES: dict[int, dict[int, tuple[int, ...]]] = {
    8: {1: (1, 2), 2: (2,), 3: (4,), 4: (4,), 7: (8,)},
    4: {1: (1,), 2: (2,), 4: (4,)},
}
"""Memory slices that come with a number of compute slices, by the memory slices of the card."""


@dataclass(frozen=True)
class Slice:
    """Part of a card.

    Attributes:
        compute: number of compute slices.
        memory_gb: memory as the profile's name says [GiB].
    """

    compute: int
    memory_gb: int

    def __str__(self) -> str:
        return f"MIG {self.compute}g.{self.memory_gb}gb"


def sliced(name: str) -> tuple[str, Slice] | None:
    """Name of the card without its profile, and the slice; None for a whole card.

    Raises:
        UnknownName: a slice without its profile.
    """
    match = PROFILE.search(name)
    if match is None:
        if UNSAID.search(name):
            raise UnknownName("GPU", name, (), 'Say which slice, as in "H100 MIG 3g.40gb".')
        return None
    bare = f"{name[: match.start()]} {name[match.end() :]}".strip()
    return bare, Slice(int(match[1]), int(match[2]))


def has_profile(card: GpuRow, part: Slice) -> bool:
    """Whether a card can be cut into slices of this profile."""
    return bool(CAN.match(card.name)) and _memory_slices(card, part) is not None


def _slices(card: GpuRow) -> tuple[int, int]:
    """Memory slices and compute slices of a whole card."""
    return (4, 4) if QUARTERS.match(card.name) else (8, 7)


def _memory_slices(card: GpuRow, part: Slice) -> int | None:
    """Memory slices of a profile; None where the card does not have it."""
    total, _ = _slices(card)
    size = part.memory_gb / card.memory_gib * total
    known = MEMORY_SLICES[total].get(part.compute, ())
    return next((slices for slices in known if abs(size - slices) <= ROUNDED * slices), None)


def slice_of(card: GpuRow, part: Slice) -> GpuRow:
    """Row of a slice: its memory, its eighths of the bandwidth, its sevenths of the arithmetic.

    Source: NVIDIA's MIG user guide.

    Raises:
        UnknownName: a card without slices, or a profile that the card does not have.
    """
    memory, (eighths, sevenths) = _memory_slices(card, part), _slices(card)
    if memory is None or not has_profile(card, part):
        profile = f"{part.compute}g.{part.memory_gb}gb"
        hint = f"{card.name} has no slice {profile}; `nvidia-smi mig -lgip` lists a card's."
        raise UnknownName("GPU", f"{card.name} {part}", (), hint)
    share, arithmetic = memory / eighths, part.compute / sevenths
    return replace(
        card,
        name=f"{card.name} {part}",
        aliases="",
        memory_gib=float(part.memory_gb),
        bus_bits=card.bus_bits * share,
        bandwidth_gbs=card.bandwidth_gbs * share,
        fp32_tflops=_times(card.fp32_tflops, arithmetic),
        fp16_tflops=_times(card.fp16_tflops, arithmetic),
        bf16_tflops=_times(card.bf16_tflops, arithmetic),
        int8_tops=_times(card.int8_tops, arithmetic),
        fp8_tflops=_times(card.fp8_tflops, arithmetic),
        fp4_tflops=_times(card.fp4_tflops, arithmetic),
        link_gbs=None,
        source=SOURCE,
        note=f"{memory} of {eighths} memory slices and {part.compute} of {sevenths} compute slices",
    )


def _times(rate: float | None, share: float) -> float | None:
    return None if rate is None else rate * share
