"""Table of the software that a person can state, with its published effect."""

import math
from collections.abc import Iterator, Sequence

from advisor.formatting import number
from advisor.machine.software import DRIVER_LABELS, SoftwareEffect, software_effects
from advisor.ui.parts.markup import block, joined

HEADINGS = ("Stated", "For", "Tokens", "Prompts", "Range wider", "Comparisons", "What was compared")
WORDS = {
    "driver": "graphics driver",
    "build": "build with",
    "kernel": "build without a kernel for",
    "experts": "experts, graphics driver",
    "numa": "--numa",
    "threads": "threads:",
}
"""Inputs in words, by the option that an effect belongs to."""


def software_rows() -> Iterator[Sequence[object]]:
    """One row for each published effect: factors on the speed of the part that it concerns."""
    for row in software_effects():
        told = (f"{row.note} (", block("oa-soft", f"{row.source}, {row.date}", "span"), ")")
        yield (
            f"{WORDS[row.option]} {DRIVER_LABELS.get(row.value, row.value)}{_versions(row)}",
            " ".join(filter(None, (row.vendor, row.family, row.backend))) or "any",
            f"{number(row.token, 2)} x",
            f"{number(row.prompt, 2)} x",
            f"{number(math.exp(row.doubt), 2)} x",
            f"{row.sources}",
            joined(block("", part, "span") for part in told),
        )


def _versions(row: SoftwareEffect) -> str:
    since = f" from {row.since}" if row.since else ""
    return f"{since} before {row.before}" if row.before else since
