"""What many run: how many publishers have figures of a card, by engine; a table of the rows.

    python -m lab.many_run

writes data/measurements/what_many_run.csv anew. A publisher is the owner of a repository or site,
the thread in which strangers post, or a test that somebody sent to localscore.ai.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from advisor.advice.table.rules import ManyRunRow
from advisor.catalog.csv_tables import DATA
from advisor.catalog.records import csv_text
from advisor.errors import AdvisorError
from advisor.evidence.published.engines import engine
from advisor.evidence.published.machine import stated_gpus
from advisor.evidence.published.row import PublishedRow
from advisor.machine.catalog import GPUS
from advisor.machine.spec import MachineSpec
from lab import write
from lab.published import published_rows

TABLE = DATA / "measurements/what_many_run.csv"
FILES = ("llama_cpp.csv", "llama_cpp_more.csv", "frameworks_more.csv", "offload_papers.csv")
STRANGER = re.compile(r"localscore\.ai test \d+")
THREAD = re.compile(r"github\.com/[^/]+/[^/]+/(?:issues|discussions|pull)/\d+")


def publisher(row: PublishedRow) -> str:
    """Who published a row: the owner of its page, its thread, or a stranger's test."""
    page = re.sub(r"^https?://(www\.|gist\.)?|[#?].*", "", row.source_url)
    known = STRANGER.search(row.source_note) or THREAD.match(page)
    if known:
        return known[0]
    return "/".join(page.split("/")[:2])


def many_run(rows: Iterable[PublishedRow]) -> list[ManyRunRow]:
    """Rows of the table, most publishers first; without cards that have no name, or several."""
    seen: dict[tuple[str, str], list[PublishedRow]] = defaultdict(list)
    for row in rows:
        runtime = engine(row.runtime, row.category)
        with suppress(AdvisorError):
            names, _ = stated_gpus(row)
            if (
                runtime is not None
                and MachineSpec.MIXED not in names
                and names != MachineSpec.NO_GPU
            ):
                seen[GPUS.find(names).name, runtime.engine].append(row)
    counted = (
        ManyRunRow(
            gpu=card,
            runtime=runtime,
            publishers=len(set(map(publisher, of_both))),
            rows=len(of_both),
            newest=max(row.date for row in of_both),
        )
        for (card, runtime), of_both in seen.items()
    )
    return sorted(counted, key=lambda row: (-row.publishers, row.gpu))


def main(path: Path = TABLE) -> int:
    """Write the table."""
    rows = (row for name in FILES for row in published_rows(DATA / "measurements" / name))
    return write({path: csv_text(many_run(rows))})


if __name__ == "__main__":
    sys.exit(main())
