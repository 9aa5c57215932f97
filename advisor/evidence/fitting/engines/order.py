"""Order of the generations of GPUs in the constants of serving engines.

Some generations have few measurements; a GPU that is at least as good in all figures of its
datasheet must not be predicted slower.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from advisor.catalog.constants import ConstantRow
from advisor.cost_model.timing import HOST_MEMORY

Rows = dict[tuple[str, str, str], ConstantRow]
"""Rows by constant, engine and family; the latter two empty for all."""


def ordered_generations(rows: Rows) -> Rows:
    """Rows with an older generation bounded by the next: no larger share, no shorter start."""
    ordered = dict(rows)
    for name, engine in dict.fromkeys((name, engine) for name, engine, _ in rows):
        kernel = {key[2]: row for key, row in rows.items() if key[:2] == (name, engine)}
        if name.startswith(SUMS):
            kernel = _no_slower_than_through_the_host(
                _bounded(kernel, (*OLDER, ("Ada", "Ampere HBM")), max), rows
            )
        elif "_int4_" in name:
            kernel = _bounded(_bounded(kernel, INT4_NEWER, max), FAR_WIDER, _at_least_a_part)
        elif name.endswith("_share"):
            kernel = _bounded(kernel, (*OLDER, *_unmeasured(kernel)), min)
        else:
            kernel = _bounded(kernel, (*STARTS_OLDER, *OLDER, *_unmeasured(kernel)), max)
        ordered |= {(name, engine, family): row for family, row in kernel.items()}
    return ordered


Kernel = dict[str, ConstantRow]
"""Rows of one constant in one engine by family."""


def _bounded(
    kernel: Kernel, pairs: Iterable[tuple[str, str]], bound: Callable[[float, float], float]
) -> Kernel:
    """Rows with the second family of each pair bounded by the first, pair after pair."""
    bounded = dict(kernel)
    for first, second in pairs:
        if first in bounded and second in bounded:
            value = bound(bounded[second].value, bounded[first].value)
            bounded[second] = replace(bounded[second], value=value)
    return bounded


def _unmeasured(kernel: Kernel) -> Iterable[tuple[str, str]]:
    """Pairs for a generation that nobody measured in a kernel.

    A100s lack the kernels of Hopper alone (FlashMLA, native 8-bit floats), which is their next
    generation with HBM; without evidence they are not taken to be better than Ada, either.
    """
    own = kernel.get("Ampere HBM")
    if own is not None and own.kind == "assumed":
        yield "Ada", "Ampere HBM"


def _at_least_a_part(own: float, other: float) -> float:
    """Smallest share of B200's bandwidth with which it is not slower than an H200 with a given
    share.
    """
    return max(own, other * 4.8 / 8.0)


def _no_slower_than_through_the_host(kernel: Kernel, rows: Rows) -> Kernel:
    """Rows of all-reduces with access to other GPUs' memory, not slower than through the host's
    memory.

    1 / (share (1 + sharing f)) for f further cards, f large.
    """
    share, through = (
        rows[name, "", ""].value for name in ("peer_share", f"peer_share {HOST_MEMORY}")
    )
    most = rows[f"{SUMS} {HOST_MEMORY}", "", ""].value * share / through
    return {
        family: replace(row, value=float(f"{min(row.value, most):.4g}"))
        for family, row in kernel.items()
    }


SUMS = "peer_sharing"
"""Constant with the additional time of a long all-reduce for each further GPU."""
OLDER = (
    ("Blackwell", "Ada"), ("Ada", "Ampere"), ("Ampere", "Turing"), ("Hopper", "Ampere HBM"),
)  # fmt: skip
"""Pairs of a GPU generation and the one before, with GDDR and with HBM memory, newest first."""
STARTS_OLDER = (("Blackwell HBM", "Hopper"),)
"""Further pairs for the start of kernels alone: B200 has so much more bandwidth and peak than H200
that it may reach a smaller share of them."""
INT4_NEWER = (
    ("Turing", "Ampere"), ("Ampere", "Ada"), ("Ada", "Blackwell"), ("Ampere", "Ampere HBM"),
    ("Ampere HBM", "Hopper"), ("Ada", "Hopper"),
)  # fmt: skip
"""Pairs of a generation and the next for 4-bit integers, where the newer one is raised instead:
Marlin is measured on GeForce cards, Machete is newer, and the simulator's kernels on data-centre
GPUs are Triton's older ones (vllm-project/vllm pull request 14447 of March 2025)."""
FAR_WIDER = (("Hopper", "Blackwell HBM"),)
"""Pairs of a generation and a later one with at least 1.67 times its bandwidth."""
