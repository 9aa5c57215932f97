"""Check of the whole list of the Hub's models: `python -m lab.listed_models`.

Writes data/refresh/doubted_models.csv anew, the models whose sizes contradict their files, their
name or the base that they pack, and prints how many of each family count the weights of their files
within a hundredth. Takes two minutes.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from advisor.catalog.csv_tables import DATA
from advisor.catalog.records import csv_text
from advisor.errors import AdvisorError
from advisor.model.by_name.hub_list import (
    DOUBTED,
    DoubtedModelRow,
    HubRow,
    counts_weights,
    hub_list,
    is_unpacked,
)
from advisor.model.by_name.listed import hub_rules, listed, text_parameters
from advisor.refresh import checks
from lab import write

NEAR = 0.01  # relative difference of weights that agree


def doubted(rows: Iterable[HubRow]) -> tuple[DoubtedModelRow, ...]:
    """Rows that cannot be right, by name."""
    doubts = (
        DoubtedModelRow(name=doubt.row.name, why=doubt.why) for doubt in checks.of_models(rows)
    )
    return tuple(sorted(doubts, key=lambda row: row.name.casefold()))


def compared(rows: Iterable[HubRow]) -> Iterator[tuple[str, bool]]:
    """Family of each unpacked repository with a rule whose files count its weights, and whether its
    sizes count them too.
    """
    for row in rows:
        if row.architecture not in hub_rules() or not is_unpacked(row) or not counts_weights(row):
            continue
        with suppress(AdvisorError):  # models that write no text are refused
            built = listed(row).architecture
            yield row.architecture, abs(built.params / text_parameters(row, built) - 1) < NEAR


def by_family(rows: Iterable[HubRow]) -> str:
    """Line for each family, the least exact first, and one for all."""
    agreeing: dict[str, list[bool]] = defaultdict(list)
    for family, agrees in compared(rows):
        agreeing[family].append(agrees)
    names = sorted(agreeing, key=lambda name: _share(agreeing, name))
    lines = [f"{sum(agreeing[name])} of {len(agreeing[name])} {name}" for name in names]
    near = sum(map(sum, agreeing.values()))
    total = sum(map(len, agreeing.values()))
    return "\n".join((*lines, f"{near} of {total}: {100 * near / total:.1f} %"))


def _share(agreeing: Mapping[str, Sequence[bool]], family: str) -> float:
    return sum(agreeing[family]) / len(agreeing[family])


def main() -> int:
    """Print the families and write the table; returns the exit code."""
    rows = tuple(hub_list())
    sys.stdout.write(f"{by_family(rows)}\n")
    return write({DATA / DOUBTED: csv_text(doubted(rows))})


if __name__ == "__main__":
    sys.exit(main())
