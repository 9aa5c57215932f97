"""Paging of llama.cpp: bytes read from the drive per token when the file exceeds RAM.

Weights that every token reads are a cyclic scan, whose pages are kept first. Experts get the rest
of the cache, which serves those that the text used last (`model/expert_use.py`).

The constants fit the rows of data/measurements/own.csv with `read_gb`, where llama.cpp was observed
under memory limits (`python -m benchmarks.engine`); a test repeats the fit.
"""

from dataclasses import dataclass

import numpy as np

from advisor.cost_model.loads import Load
from advisor.cost_model.placement import Location, Placement
from advisor.machine.machine import Disk, Machine
from advisor.model.architecture import Group
from advisor.model.expert_use import USUAL
from advisor.model.model import Model
from advisor.units import Array

MATRICES = 3  # matrices of an expert, in separate places of the file: gate, up and down


@dataclass(frozen=True, kw_only=True)
class Rereading:
    """Constants of rereading; each may be an array, to try several values."""

    kept: Array  # share of a scan that stays cached although the cache is too small for it
    renewed: Array  # rate of a core that evicts pages, with a read-ahead of 128 KiB [B/s]
    growth: Array  # exponent of that rate in the read-ahead, whose pages are evicted together
    windows: Array  # read-ahead windows read in addition to each piece of an expert
    most: Array  # limit of expert bytes read over all experts; above 1, some are evicted before use


WATCHED = Rereading(kept=0.13, renewed=0.45e9, growth=0.65, windows=1.75, most=1.3)
CORNER = 64
"""Exponent of the transition to no rereading, when the cache holds the whole scan; assumed. Rows
with 0.88 of the scan cached reread as much as those with half of it, rows with all of it nothing,
and results in between differ from run to run."""


@dataclass(frozen=True, kw_only=True)
class Reread:
    """Bytes of a mapped file that a step reads again."""

    scanned: Array  # sequential bytes, read ahead while earlier ones are computed [B]
    pieces: Array  # experts, scattered over the file [B]
    renewal: Array  # time of the cores for evicting old pages [s]

    @property
    def total(self) -> Array:
        """Sequential and scattered bytes [B]."""
        return self.scanned + self.pieces


def reread(
    model: Model,
    placement: Placement,
    load: Load,
    machine: Machine,
    constants: Rereading = WATCHED,
    variety: float = USUAL,
) -> Reread:
    """Bytes of a mapped file that a step reads again.

    The kernel reads ahead around the ends of each contiguous piece of an expert, `windows` times
    its window.
    """
    sizes = model.bytes_per_layer[Group.ROUTED_EXPERTS]
    held = np.vecdot(placement.weights[Location.DISK][Group.ROUTED_EXPERTS], sizes)
    dense = load.weights - load.experts  # a head that is the token table among it
    cache = np.asarray(placement.page_cache, dtype=float)
    mixed = model.architecture.experts
    use = model.expert_use(variety)
    ahead: Array = 0.0
    if mixed is not None and machine.disk is not None:
        pieces = float(np.sum(model.per_layer.expert_layers)) * mixed.total * MATRICES
        piece = np.sum(sizes, axis=-1) / max(pieces, 1.0)
        ahead = constants.windows * machine.disk.read_ahead.value / np.maximum(piece, 1.0)
    experts = np.minimum(
        load.experts * (1.0 + ahead), np.maximum(constants.most * held, load.experts)
    )
    if use is not None:
        cached = np.clip(np.maximum(cache - dense, 0.0) / np.maximum(held, 1.0), 0.0, 1.0)
        experts = experts * (1.0 - use.served(cached * use.total, by_layer=True))
    scanned = dense * missed_share(cache / np.maximum(dense, 1.0), constants.kept)
    renewal = (scanned + experts) / renewal_rate(machine, constants)
    return Reread(scanned=scanned, pieces=experts, renewal=renewal)


def renewal_rate(machine: Machine, constants: Rereading = WATCHED) -> Array:
    """Rate at which all cores exchange pages of a full cache [B/s].

    C R (A / 128 KiB)^g for C cores and a read-ahead of A. A cold map shows the kernel's cost of
    reading, but evicts no page for it; with a small read-ahead, evicting takes longer than the
    drive.
    """
    usual = Disk.USUAL_READ_AHEAD.value
    if machine.disk:
        ahead = machine.disk.read_ahead.value
    else:
        ahead = usual
    wide = np.maximum(ahead, usual) / usual
    return np.asarray(machine.host.cores * constants.renewed * wide**constants.growth)


def missed_share(cached: Array, kept: Array = WATCHED.kept) -> Array:
    """Share of a scan that each pass reads again, with a part r of it in the page cache, `kept` of
    it lasting.

    m = (1 - kept) (1 - r^64). The kernel first evicts the pages that were unused for longest, which
    a scan needs next. A slightly too small cache thus keeps almost nothing, except pages that were
    read again soon after eviction, which Linux then keeps longer (mm/workingset.c).
    """
    held = np.clip(np.asarray(cached, dtype=float), 0.0, 1.0)
    return np.asarray((1.0 - np.minimum(kept, held)) * (1.0 - held**CORNER))
