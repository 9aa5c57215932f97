"""JSON records printed by the commands, an interface for other programs: SI units, named in the
keys.
"""

from typing import Any

from advisor.cost_model.uncertainty import Range

Json = dict[str, Any]


def range_record(name: str, figure: Range | None, unit: str = "") -> Json:
    """Value and ends of a range under three keys; None where there is none.

    Args:
        name: what is ranged over, such as "decode_tps".
        figure: the range.
        unit: ending of the keys, such as "_s".
    """
    ends = ("value", "low", "high")
    keys = (f"{name}{unit}", f"{name}{unit}_low", f"{name}{unit}_high")
    return {
        key: None if figure is None else float(getattr(figure, end))
        for key, end in zip(keys, ends, strict=True)
    }
