"""Concurrency: speed per user and in total, up to the limits of memory and reading speed.

Decoding for several users reads the weights once for all of them, so the total speed grows almost
in proportion to their number while weights take most of the time, as where they cross a link. Each
user has a cache, which takes memory and time.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from advisor.advice.compare import decode_tps, own_settings
from advisor.catalog.constants import fitted_constants
from advisor.cost_model.estimate import Estimate, estimate
from advisor.cost_model.placement import Settings, parts_held
from advisor.cost_model.workload import Workload
from advisor.model.model import Floats

READING = 5.0
"""Reading speed [tokens/s]: 238 words a minute (Brysbaert 2019,
https://doi.org/10.1016/j.jml.2019.104047) of about 4/3 tokens each are 5.3."""
USERS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
"""Numbers of users that are tried; limits are then searched between them."""


@dataclass(frozen=True, kw_only=True)
class Together:
    """Speeds of one runtime and placement over the number of users.

    Attributes:
        estimate: estimate that is varied.
        users: numbers of users that fit, shape (points,).
        each: speed of each user, shape (points,) [tokens/s].
        kv_bytes: cache of one user, for the whole context [B].
        memory_ends: largest number of users that fit; None if all of `USERS` do.
        target: speed that each user should have [tokens/s].
        target_ends: largest number of users who all have it, 0 if a single one does not; None if
            all that fit have it.
    """

    estimate: Estimate
    users: Floats
    each: Floats
    kv_bytes: float
    memory_ends: int | None
    target: float
    target_ends: int | None

    @property
    def total(self) -> Floats:
        """Speed of all users together, shape (points,) [tokens/s]."""
        return self.each * self.users

    @property
    def gain(self) -> float:
        """Total speed of the largest number of users, relative to a single user."""
        return float(self.total[-1] / self.total[0])


def again(before: Estimate, work: Workload, settings: Settings | None = None) -> Estimate:
    """Estimate of the same runtime and placement for another request.

    Args:
        before: estimate, not an impossible one.
        work: other request.
        settings: fixed settings, for runtimes that take layers.
    """
    if before.machine is None:
        return before
    own = own_settings(before.how, settings)
    return estimate(
        before.model,
        before.machine,
        work,
        before.how,
        before.strategy,
        fitted_constants(),
        own,
        before.format_note,
    )


def together(
    estimate: Estimate, target: float = READING, settings: Settings | None = None
) -> Together | None:
    """Speeds of a runtime and placement over the number of users; None if not even one fits.

    Args:
        estimate: estimate to vary.
        target: speed that each user should have [tokens/s].
        settings: fixed settings of the placement.
    """
    tried: dict[int, Estimate] = {}

    def of(users: int) -> Estimate:
        if users not in tried:
            tried[users] = again(estimate, replace(estimate.work, users=users), settings)
        return tried[users]

    def fits(users: int) -> bool:
        return of(users).decode is not None and bool(of(users).fits) and not of(users).waiting

    def fast(users: int) -> bool:
        return fits(users) and decode_tps(of(users)) >= target

    most = last(fits)
    if most == 0:
        return None
    enough = last(fast)
    counts = sorted(count for count in tried if count <= most)
    return Together(
        estimate=estimate,
        users=np.array(counts, dtype=float),
        each=np.array([decode_tps(of(count)) for count in counts]),
        kv_bytes=_cache(of(1)),
        memory_ends=None if most == USERS[-1] else most,
        target=target,
        target_ends=None if enough == most else enough,
    )


def last(holds: Callable[[int], bool]) -> int:
    """Largest number of users for which a condition holds, from 0 to the last of `USERS`."""
    below = 0
    for count in USERS:
        if not holds(count):
            return _between(holds, below, count)
        below = count
    return below


def _between(holds: Callable[[int], bool], below: int, above: int) -> int:
    while above - below > 1:
        middle = (below + above) // 2
        if holds(middle):
            below = middle
        else:
            above = middle
    return below


def _cache(estimate: Estimate) -> float:
    """KV cache of all users, in every memory [B]."""
    if estimate.placement is None:
        return 0.0
    held = parts_held(estimate.model, estimate.placement, estimate.work).values()
    return sum(parts["KV cache"] for parts in held)
