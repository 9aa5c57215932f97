"""Paging of llama.cpp: bytes read from the drive per token when the file exceeds RAM.

What every token reads is scanned in a cycle and keeps its pages first; experts take what cache is
left, and are hit in proportion, since each token picks others.

The constants are what the rows of data/measurements/own.csv with `read_gb` say, where real
llama.cpp was watched under memory caps (`python -m benchmarks.engine`); a test fits them again.
"""

from dataclasses import dataclass

import numpy as np

from advisor.cost_model.loads import Load
from advisor.cost_model.placement import DISK, Placement
from advisor.machine.machine import USUAL_READ_AHEAD, Machine
from advisor.model.architecture import Group
from advisor.model.model import Model
from advisor.units import Array

MATRICES = 3
"""Matrices of an expert, which lie apart in the file: gate, up and down."""


@dataclass(frozen=True, kw_only=True)
class Rereading:
    """Constants of what is read again; each may be an array, to try several.

    Attributes:
        kept: share of a scan that the cache still has, though it cannot hold all of it.
        renewed: by one core, which takes pages out of the cache to bring in others, where the
            kernel reads 128 KiB ahead [B/s].
        growth: power of the read-ahead with which that rate grows: what is read ahead together
            comes and goes together.
        windows: of read-ahead that come in beside each piece of an expert.
        most: of all experts, however much would come in beside; some of it pushes out what will be
            needed.
    """

    kept: Array
    renewed: Array
    growth: Array
    windows: Array
    most: Array


WATCHED = Rereading(kept=0.13, renewed=0.44e9, growth=0.65, windows=1.75, most=1.3)
CORNER = 64
"""How sharply a scan stops reading again when the cache holds all of it; assumed. Rows with 0.88 of
it in the cache read as much as those with half of it, those with all of it nothing, and what lies
between differs from run to run."""


@dataclass(frozen=True, kw_only=True)
class Reread:
    """Bytes that a step brings in again [B].

    Attributes:
        scanned: one after the other, read ahead while it is computed.
        pieces: experts, wherever they lie.
        renewal: time for which cores take old pages out of the cache [s].
    """

    scanned: Array
    pieces: Array
    renewal: Array

    @property
    def total(self) -> Array:
        """Both together [B]."""
        return self.scanned + self.pieces


def reread(
    model: Model,
    placement: Placement,
    load: Load,
    machine: Machine,
    constants: Rereading = WATCHED,
) -> Reread:
    """Bytes of a mapped file that a step must read again.

    Args:
        model: in its file's format.
        placement: with the page cache that is left for the file.
        load: what a step reads of the mapped file.
        machine: whose drive is read.
        constants: as they were watched.
    """
    experts_held = placement.weights[DISK][Group.ROUTED_EXPERTS] @ model.held[Group.ROUTED_EXPERTS]
    dense = load.weights - load.experts  # a head that is the token table among it
    cache = np.asarray(placement.page_cache, dtype=float)
    left = np.maximum(cache - dense, 0.0)
    hit = np.clip(left / np.maximum(experts_held, 1.0), 0.0, 1.0)
    beside = read_beside(model, machine, constants.windows)
    experts = np.minimum(
        load.experts * (1.0 + beside), np.maximum(constants.most * experts_held, load.experts)
    )
    scanned = dense * missed_share(cache / np.maximum(dense, 1.0), constants.kept)
    pieces = experts * (1.0 - hit)
    renewal = (scanned + pieces) / renewal_rate(machine, constants)
    return Reread(scanned=scanned, pieces=pieces, renewal=renewal)


def renewal_rate(machine: Machine, constants: Rereading = WATCHED) -> Array:
    """Pages of a full cache that all cores exchange for others [B/s].

    C R (A / 128 KiB)^g for C cores that read A ahead. A cold map shows what reading costs the
    kernel, but nothing has to go for its pages, which with little read ahead costs more than the
    drive does.

    Args:
        machine: its cores, each with pages of its own to wait for, and its drive.
        constants: R and g.
    """
    usual = USUAL_READ_AHEAD.value
    ahead = machine.disk.read_ahead.value if machine.disk else usual
    wide = np.maximum(ahead, usual) / usual
    return np.asarray(machine.host.cores * constants.renewed * wide**constants.growth)


def missed_share(cached: Array, kept: Array = WATCHED.kept) -> Array:
    """Share of a scan that is read again in each pass, when a part of it is in the page cache.

    m = (1 - kept) (1 - r^64). The kernel drops first what was not used for longest, and in a scan
    that is what comes next: a cache that is a little smaller keeps next to nothing, but for pages
    that came back soon after they were dropped, which Linux then keeps longer (mm/workingset.c).

    Args:
        cached: r, the part of the scan that the cache could hold.
        kept: what is kept so; nothing where no cache is.
    """
    held = np.clip(np.asarray(cached, dtype=float), 0.0, 1.0)
    return np.asarray((1.0 - np.minimum(kept, held)) * (1.0 - held**CORNER))


def read_beside(model: Model, machine: Machine, windows: Array = WATCHED.windows) -> Array:
    """What the kernel reads beside the experts that are needed, over what is needed of them.

    Around the ends of each piece that lies in one place, the kernel reads ahead.

    Args:
        model: whose experts lie in pieces.
        machine: whose drive has a read-ahead.
        windows: of that read-ahead for each piece.
    """
    experts = model.architecture.experts
    if experts is None or machine.disk is None:
        return 0.0
    pieces = float(np.sum(model.expert_layers)) * experts.total * MATRICES
    piece = float(np.sum(model.held[Group.ROUTED_EXPERTS])) / max(pieces, 1.0)
    return windows * machine.disk.read_ahead.value / max(piece, 1.0)
