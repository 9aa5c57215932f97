"""Words for the keys in a report: placements, tiers, parts of time, options.

A document keeps keys ("in_place"); every page and file shows these words.
"""

from advisor.advice.compare import TITLES
from advisor.formatting import money, number
from advisor.reports.document.parts import OptionKind, PlacementKey, SensitivityRow, Tier

PLACEMENTS: dict[PlacementKey, str] = {strategy.value: title for strategy, title in TITLES.items()}
TIERS: dict[Tier, str] = {"VRAM": "VRAM", "RAM": "RAM", "disk": "drive"}
MEMORY_PARTS = ("weights", "KV cache", "buffers")
TIME_PARTS = {
    "resident": "read from GPU memory",
    "in_place": "read from RAM by the CPU",
    "streamed": "copied over the link",
    "paged": "read from the drive",
    "staged": "drive, then link",
    "layers": "fixed cost of the layers",
    "crossings": "hand-overs between CPU and GPU",
    "token": "fixed cost of a token",
}
"""Words for the parts of a token's time, in the order of their colours."""
OPTIONS: dict[OptionKind, str] = {
    "keep": "what you have",
    "change": "change",
    "add": "add",
    "replace": "replace",
    "machine": "another machine",
    "rent": "rent",
    "api": "API",
    "upgrade": "bigger GPU",
}

INPUTS = {
    "speed now": ("what you have", "tokens/s"),
    "speed then": ("its speed", "tokens/s"),
    "price": ("its price", "a month"),
    "replies a day": ("replies a day", ""),
    "worth of an hour": ("worth of an hour", ""),
}
"""Words for the inputs of a verdict, and the unit behind their values."""
IN_MONEY = ("price", "worth of an hour")
"""Inputs that are amounts of money."""


def interval(row: SensitivityRow) -> str:
    """Ends of an input's interval: "$24 to $48 a month"."""
    _, unit = INPUTS.get(row.name, (row.name, ""))
    amount = money if row.name in IN_MONEY else number
    return f"{amount(row.low)} to {amount(row.high)} {unit}".strip()


def input_name(row: SensitivityRow) -> str:
    """Words for an input; an unknown one as it is."""
    return INPUTS.get(row.name, (row.name, ""))[0]


def time_part(key: str) -> str:
    """Words for a part of a token's time; an unknown key is shown with spaces."""
    return TIME_PARTS.get(key, key.replace("_", " "))
