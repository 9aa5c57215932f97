"""The format in which a maker publishes a model's weights, where that is not 16 bits.

gpt-oss comes in MXFP4, DeepSeek-V3 in FP8: a runtime that runs these reads them as they are, and
nobody has to choose a format. Elsewhere the usual format of files stands in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.model.names import is_size, take_apart

USUAL = "Q4_K_M"
"""What most people download of a model that comes in 16 bits."""
GGUF_OF_NATIVE = {"MXFP4-hf": "MXFP4"}
"""GGUF files that hold the same weights, unchanged."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NativeFormatRow:
    """One row of data/models/native_formats.csv.

    Attributes:
        name: tokens that the model's name begins with, by `names.take_apart`, sizes left out.
        format: of data/models/recipes.csv; the nearest where none is the maker's own.
        source: where the maker says so.
        source_date: when that was read.
    """

    name: str
    format: str
    source: str
    source_date: str


@cache
def _rows() -> Mapping[str, str]:
    rows = read(DATA / "models" / "native_formats.csv", NativeFormatRow)
    return {row.name: row.format for row in rows}


def native_format(model: str) -> str:
    """The maker's own format of a known model; empty where it comes in 16 bits.

    Args:
        model: as the catalogue or the list has it.
    """
    name = take_apart(model)
    for tokens in (name.identity, name.shape):
        key = " ".join(token for token in tokens if not is_size(token))
        if key in _rows():
            return _rows()[key]
    return ""


def usual_format(native: str) -> str:
    """The GGUF format to show where nobody chose: the maker's own weights, else the usual one."""
    return GGUF_OF_NATIVE.get(native, USUAL)
