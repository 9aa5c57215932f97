"""Selection among hits: the best of each machine, and the Pareto front of speed and cost."""

from collections.abc import Sequence

import numpy as np

from advisor.advice.finder.formats import BY_LOSS, CACHES, SEARCHED
from advisor.advice.finder.target import Hit
from advisor.advice.options.pareto import on_front

MAINSTREAM = frozenset(known.name for known in SEARCHED if known.mainstream)
"""Names of the runtimes in common use."""


def best_of_each(hits: Sequence[Hit]) -> list[Hit]:
    """Best hit of each machine, bought and rented: least loss of quality, then highest speed.

    Each of several contexts has its own best hit. Ties are decided by the order of `BY_LOSS`, then
    by the larger cache format, then by runtimes in common use.

    Args:
        hits: hits; the order of their machines is kept.
    """
    best: dict[tuple[str, int, str, float], Hit] = {}
    for hit in hits:
        key = (hit.machine, hit.count, hit.offer, hit.context)
        known = best.get(key)
        if known is None or _rank(hit) < _rank(known):
            best[key] = hit
    return list(best.values())


def _rank(hit: Hit) -> tuple[int, int, bool, float]:
    form = hit.speed.format
    loss = BY_LOSS.index(form) if form in BY_LOSS else len(BY_LOSS)
    unusual = hit.runtime not in MAINSTREAM
    return (loss, CACHES.index(hit.kv_type), unusual, -hit.speed.decode)


def front(hits: Sequence[Hit]) -> list[Hit]:
    """Hits that no other beats in monthly cost and speed, cheapest first.

    Hits without a dated price are left out.
    """
    able = [hit for hit in hits if hit.may_win]
    cost = np.array([hit.monthly or 0.0 for hit in able])
    speed = np.array([hit.speed.decode for hit in able])
    on = [hit for hit, best in zip(able, on_front(cost, speed), strict=True) if best]
    return sorted(on, key=lambda hit: (hit.monthly or 0.0, hit.speed.decode))
