"""What a link that somebody opened says: names as the lists spell them, and what is wrong."""

from collections.abc import Mapping

from advisor.ui.sidebar.field_kinds import Field, Pick
from advisor.ui.sidebar.fields import fields


def respelled(parameters: Mapping[str, str]) -> dict[str, str]:
    """Names that a list has in another spelling, as it has them; the widgets take no other.

    Args:
        parameters: of the address, as they came.
    """
    listed = {}
    for key, text in parameters.items():
        field = fields().get(key)
        name = field.meant(text) if isinstance(field, Pick) else None
        if name not in (None, text):
            listed[key] = str(name)
    return listed


def problems(
    parameters: Mapping[str, str], known: Mapping[str, Field] | None = None
) -> tuple[str, ...]:
    """One sentence for each value that cannot be used; keys that mean nothing here are passed by.

    Args:
        parameters: of the address, as they came.
        known: the page's inputs; those of Advise where none are given.
    """
    known = fields() if known is None else known
    sentences = (
        known[key].problem(text) for key, text in parameters.items() if key in known and text
    )
    return tuple(sentence for sentence in sentences if sentence)
