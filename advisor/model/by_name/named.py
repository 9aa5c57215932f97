"""Model from its name alone, without a network.

Tried are the catalogue, then the Hub's list, then a stand-in of the size in the name.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import UnknownName
from advisor.model import catalog
from advisor.model.architecture import Architecture
from advisor.model.by_name.hub_list import READ, HubRow, Listed, counts_weights, listed
from advisor.model.by_name.lookup import Meant, UnknownModel, meant
from advisor.model.by_name.names import (
    StatedSize,
    format_in_name,
    is_size,
    ollama_tag,
    stated_size,
    take_apart,
)
from advisor.model.by_name.stand_in import NEWEST, of_size, stand_in
from advisor.model.spec import ArchitectureSpec

# Native format: the one in which a publisher offers the weights, if it is not 16 bits.
#
# gpt-oss comes in MXFP4, DeepSeek-V3 in FP8. Runtimes that support these formats load them by
# default; for other models and runtimes the usual file format is the default.

USUAL = "Q4_K_M"
"""Default format of a model published in 16 bits."""
GGUF_OF_NATIVE = {"MXFP4-hf": "MXFP4"}
"""GGUF format with the same, unchanged weights."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NativeFormatRow:
    """One row of data/models/native_formats.csv."""

    name: str  # tokens that the model's name begins with, by `names.take_apart`, sizes left out
    family: str  # `model_type` whose other repositories hold that format, too; empty for none
    hidden: int | None  # width that they have; None where the family has one size
    format: str  # format in data/models/recipes.csv, the nearest one if there is no exact one
    source: str  # publisher's statement
    source_date: str  # when that was read


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


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """Model of a name."""

    architecture: Architecture  # architecture of the model, or of its stand-in
    taken_as: str = ""  # name of the model if another was typed; else empty
    notes: tuple[str, ...] = ()  # sentences for the user
    format: str = ""  # format in the name, such as `-AWQ` or `:q4_K_M`; empty for none
    native: str = ""  # format in which the publisher offers the weights; empty for 16 bits
    known: bool = True  # whether it is in the catalogue or the list; else it is a stand-in


def named(text: str, year: int = NEWEST) -> NamedModel:
    """Model of a name, or a stand-in of the size in the name.

    Args:
        text: name in any spelling.
        year: year in which it was in use, for a stand-in.

    Raises:
        UnknownName: neither; lists similar names.
        Refusal: a model that cannot be described, or that does not run alone.
    """
    tag = ollama_tag(text)
    form = format_in_name(tag.full if tag else text, catalog.model_formats())
    stated = form.name if form else ""
    try:
        known = meant(text)
    except UnknownModel as unknown:
        return replace(_stand_in(text, unknown, year), format=stated)
    native = native_format(known.name, known.row if isinstance(known.row, HubRow) else None)
    return replace(_known(text, known), format=stated, native=native)


def is_named(text: str) -> bool:
    """Whether the catalogue or the list has the model, even if it is refused."""
    try:
        meant(text)
    except UnknownName:
        return False
    return True


def _stand_in(text: str, unknown: UnknownModel, year: int) -> NamedModel:
    """Stand-in for an unknown name without similar names.

    Raises:
        UnknownName: there are similar names, or the name has no size.
    """
    made = None if unknown.close else stand_in(take_apart(text), year)
    if made is None:
        raise unknown
    relative = made.relative
    native = native_format(relative.name, relative if isinstance(relative, HubRow) else None)
    return NamedModel(
        architecture=made.architecture, notes=(made.note,), native=native, known=False
    )


def _known(text: str, known: Meant) -> NamedModel:
    taken = (f"{text[:80]} is taken as {known.name}.",) if known.taken_as else ()
    if isinstance(known.row, ArchitectureSpec):
        about = known.row.note
        notes = (*taken, f"{about[:1].upper()}{about[1:]}.") if about else taken
        architecture = catalog.architecture(known.row.name)
        return NamedModel(architecture=architecture, taken_as=known.taken_as, notes=notes)
    entry = listed(known.row)
    if entry.generic and _misses(known.row, entry.architecture):
        return _of_stated_total(known, known.row, taken)
    return NamedModel(
        architecture=entry.architecture,
        taken_as=known.taken_as,
        notes=(*taken, *_list_notes(entry)),
    )


OTHER_LAYERS = 0.3
"""Logarithm of how far Llama's layers may count from a stated total: towers make a quarter."""


def _misses(row: HubRow, built: Architecture) -> bool:
    """The sizes of a row, as Llama's layers, are not where its weights are: experts are missing,
    or its layers are of another kind.
    """
    return counts_weights(row) and abs(math.log(built.params / row.parameters)) > OTHER_LAYERS


def _of_stated_total(known: Meant, row: HubRow, taken: tuple[str, ...]) -> NamedModel:
    """A stand-in with the weights that a row states, and the active ones that its name does."""
    told = stated_size(take_apart(f"{row.name} {row.parameters / 1e9:.2f}b"))
    total = float(row.parameters)
    active = told.active if told and told.active and told.active < total else None
    size = StatedSize(
        params=total, active=active, layers=row.layers, may_have_experts=active is None
    )
    note = (
        f"Its layers are of a kind that is not known here: its {total / 1e9:,.4g} B weights are "
        f"those of a list of Hugging Face's models of {READ}, its shape that of a relative. Its "
        "config.json or GGUF file would tell them."
    )
    return NamedModel(
        architecture=of_size(row.name, size),
        taken_as=known.taken_as,
        notes=(*taken, note),
        known=False,
    )


def _list_notes(entry: Listed) -> tuple[str, ...]:
    """Notes on the origin of its sizes and their certainty."""
    about = f"Its sizes are from a list of Hugging Face's models of {READ}"
    if entry.generic:
        return (
            f"{about}; no rule of its family is known here, so its layers are counted as those of "
            "Llama. Its config.json or GGUF file would tell them.",
        )
    if entry.derived:
        return (f"{about}; {', '.join(entry.derived)} derived from its stated total.",)
    return (f"{about} and the rule of its family.",)
