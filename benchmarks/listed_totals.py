"""How well the families' rules count the models of the offline list.

    python -m benchmarks.listed_totals [family]

For each family with a rule, how many of its unpacked repositories with a counted total the rule
counts within a hundredth; with a family, each repository and its ratio. Takes a minute.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator

from advisor.model.by_name.hub_list import (
    HubRow,
    counts_weights,
    hub_list,
    hub_rules,
    is_unpacked,
    listed,
    text_parameters,
)

NEAR = 0.01


def ratio(row: HubRow) -> float:
    """Weights counted from the sizes over those of its text model."""
    built = listed(row).architecture
    return built.params / text_parameters(row, built)


def scored(family: str) -> Iterator[tuple[HubRow, float]]:
    """Unpacked repositories of a family, or of all with a rule, and their ratios."""
    for row in hub_list():
        known = row.architecture in hub_rules() and family in ("", row.architecture)
        if known and is_unpacked(row) and counts_weights(row):
            yield row, ratio(row)


def by_family() -> str:
    """A line for each family, the least exact first."""
    ratios: dict[str, list[float]] = defaultdict(list)
    for row, value in scored(""):
        ratios[row.architecture].append(value)
    near = {name: sum(abs(v - 1) < NEAR for v in values) for name, values in ratios.items()}
    total = sum(map(len, ratios.values()))
    names = sorted(ratios, key=lambda name: near[name] / len(ratios[name]))
    lines = [f"{near[name]} of {len(ratios[name])} {name}" for name in names]
    share = 100 * sum(near.values()) / total
    return "\n".join((*lines, f"{sum(near.values())} of {total}: {share:.1f} %"))


def main(family: str) -> str:
    """The table, or the rows of a family."""
    if family:
        return "\n".join(f"{value:.3f} {row.name}" for row, value in scored(family))
    return by_family()


if __name__ == "__main__":
    sys.stdout.write(main("".join(sys.argv[1:2])) + "\n")
