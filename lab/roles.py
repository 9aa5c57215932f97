"""What each publisher's rows decided: lab/publishers.csv.

Publishers by whose rows a parameter, a factor or a trait was chosen say too little of a stranger's
error. So the level of ranges is set by others, of whose rows the constants may know (each predicted
without its fold) and nothing else does.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from advisor.catalog.csv_tables import read

TABLE = Path(__file__).with_name("publishers.csv")
PARAMETERS = "parameters"  # role of a publisher by whose rows parameters were chosen
WIDTHS = "widths"  # role of a publisher who sets the level of ranges


@dataclass(frozen=True, kw_only=True)
class PublisherRow:
    """A publisher; the fields are the columns of publishers.csv."""

    publisher: str
    role: str


@cache
def roles() -> dict[str, str]:
    """Role of each publisher."""
    return {row.publisher: row.role for row in read(TABLE, PublisherRow)}


def set_widths(publishers: Iterable[str]) -> npt.NDArray[np.bool_]:
    """Mask of the rows whose publishers set the level of ranges."""
    known = roles()
    return np.array([known.get(name) == WIDTHS for name in publishers], dtype=bool)
