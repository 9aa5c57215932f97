"""A model from its name alone, without a network: what every door of the program asks.

The catalogue's rows come first, then the list of the Hub, then what the name itself says.
"""

from dataclasses import dataclass, replace

from advisor.errors import UnknownName
from advisor.model import catalog
from advisor.model.architecture import Architecture
from advisor.model.by_name.listed.from_row import Listed, listed
from advisor.model.by_name.listed.hub_list import READ, HubRow
from advisor.model.by_name.lookup import Meant, UnknownModel, meant
from advisor.model.by_name.names import take_apart
from advisor.model.by_name.native_formats import native_format
from advisor.model.by_name.stand_in import stand_in
from advisor.model.formats.format_names import format_in_name
from advisor.model.spec import ArchitectureSpec


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """Model that a name means.

    Attributes:
        architecture: of the model, or of its stand-in.
        taken_as: the model's own name, where another was typed; empty where it was this one.
        notes: sentences a person should read.
        format: that the name itself carries, as `-AWQ` or `:q4_K_M`; empty where it has none.
        native: in which its maker publishes the weights; empty for 16 bits.
        known: it is a model of the catalogue or the list, not a stand-in.
    """

    architecture: Architecture
    taken_as: str = ""
    notes: tuple[str, ...] = ()
    format: str = ""
    native: str = ""
    known: bool = True


def named(text: str) -> NamedModel:
    """The model that a name means, or a stand-in of the sizes that it tells.

    Raises:
        UnknownName: neither, with close names.
        Refusal: a model that cannot be described, or that does not run alone.
    """
    form = format_in_name(text, catalog.model_formats())
    stated = form.name if form else ""
    try:
        known = meant(text)
    except UnknownModel as unknown:
        return replace(_stand_in(text, unknown), format=stated)
    native = native_format(known.name, known.row if isinstance(known.row, HubRow) else None)
    return replace(_known(text, known), format=stated, native=native)


def is_named(text: str) -> bool:
    """The catalogue or the list has the model, or refuses it for a reason."""
    try:
        meant(text)
    except UnknownName:
        return False
    return True


def _stand_in(text: str, unknown: UnknownModel) -> NamedModel:
    """A stand-in, where no close name may be meant instead.

    Raises:
        UnknownName: one may, or the name tells no size.
    """
    made = None if unknown.close else stand_in(take_apart(text))
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
    return NamedModel(
        architecture=entry.architecture,
        taken_as=known.taken_as,
        notes=(*taken, *_list_notes(entry)),
    )


def _list_notes(entry: Listed) -> tuple[str, ...]:
    """Origin of its sizes, and how certain they are."""
    about = f"Its sizes are from a list of Hugging Face's models of {READ}"
    if entry.generic:
        return (
            f"{about}; no rule of its family is known here, so its layers are counted as those of "
            "Llama. Its config.json or GGUF file would tell them.",
        )
    if entry.derived:
        return (f"{about}; {', '.join(entry.derived)} derived from its stated total.",)
    return (f"{about} and the rule of its family.",)
