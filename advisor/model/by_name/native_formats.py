"""Native format: the one in which a publisher offers the weights, if it is not 16 bits.

gpt-oss comes in MXFP4, DeepSeek-V3 in FP8. Runtimes that support these formats load them by
default; for other models and runtimes the usual file format is the default.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.model.by_name.listed.hub_list import HubRow
from advisor.model.by_name.names import is_size, take_apart

USUAL = "Q4_K_M"
"""Default format of a model published in 16 bits."""
GGUF_OF_NATIVE = {"MXFP4-hf": "MXFP4"}
"""GGUF format with the same, unchanged weights."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NativeFormatRow:
    """One row of data/models/native_formats.csv.

    Attributes:
        name: tokens that the model's name begins with, by `names.take_apart`, sizes left out.
        family: `model_type` whose other repositories hold that format, too; empty for none.
        hidden: width that they have; None where the family has one size.
        format: format in data/models/recipes.csv, the nearest one if there is no exact one.
        source: publisher's statement.
        source_date: when that was read.
    """

    name: str
    family: str
    hidden: int | None
    format: str
    source: str
    source_date: str


@cache
def native_rows() -> tuple[NativeFormatRow, ...]:
    """The table."""
    return read(DATA / "models" / "native_formats.csv", NativeFormatRow)


@cache
def _by_name() -> Mapping[str, str]:
    return {row.name: row.format for row in native_rows()}


def native_format(model: str, row: HubRow | None = None) -> str:
    """Native format of a model; empty for 16 bits.

    Args:
        model: name, as the catalogue or the list has it.
        row: of the list, whose family and width tell it where the name does not; a stand-in's
            relative.
    """
    name = take_apart(model)
    for tokens in (name.identity, name.shape):
        key = " ".join(token for token in tokens if not is_size(token))
        if key in _by_name():
            return _by_name()[key]
    return "" if row is None else _of_family(row)


def _of_family(row: HubRow) -> str:
    """The format of a family's repositories of that width."""
    formats = (
        native.format
        for native in native_rows()
        if native.family == row.architecture and native.hidden in (None, row.hidden)
    )
    return next(formats, "")


def usual_format(native: str) -> str:
    """Default GGUF format: that of the native weights, else the usual one."""
    return GGUF_OF_NATIVE.get(native, USUAL)
