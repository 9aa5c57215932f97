"""Points of engines that keep experts in VRAM, RAM and on the drive, each predicted without its
publisher.
"""

from collections.abc import Iterable

from advisor.catalog.accuracy_points import AccuracyPoint
from advisor.catalog.csv_tables import read
from advisor.evidence.published.tiered import CATEGORY
from lab.held_out import READ
from lab.llama_cpp import placed_case
from lab.points import margins_of, point_of
from lab.tiers import LEFT_OUT, REGIME, LeftOutTiers, published


def points() -> Iterable[AccuracyPoint]:
    """Tokens and prompts of every run whose engine, model and machine are understood."""
    rows = {row.id: row for row in published()}
    for kept in read(LEFT_OUT, LeftOutTiers):
        row = rows[kept.id]
        case = placed_case(row)
        if case is None or case.runtime.engine != REGIME:
            continue
        work = case.estimate.work
        reads = kept.timed == READ
        speed = case.estimate.prefill if reads else case.estimate.decode
        measured = row.pp_tps if reads else row.tg_tps
        if speed is None or not measured:
            continue
        tokens = float((work.fresh if reads else work.tokens_per_step) * work.users)
        yield point_of(
            row,
            {"category": CATEGORY, "timed": kept.timed},
            group=f"{row.publisher} on {row.gpu}",
            measured=measured,
            predicted=tokens / kept.seconds,
            margins=margins_of(speed),
        )
