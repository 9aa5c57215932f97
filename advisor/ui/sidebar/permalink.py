"""Content of an opened link: spelling of names, and problems."""

from collections.abc import Mapping

from advisor.ui.sidebar.field_kinds import Field, Pick
from advisor.ui.sidebar.fields import fields


def respelled(parameters: Mapping[str, str]) -> dict[str, str]:
    """Names in the spelling of their lists, as the widgets require.

    Args:
        parameters: parameters of the address.
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
    """One sentence per invalid value; unknown keys are ignored.

    Args:
        parameters: parameters of the address.
        known: inputs of the page; None for those of the Advise page.
    """
    known = fields() if known is None else known
    sentences = (
        known[key].problem(text) for key, text in parameters.items() if key in known and text
    )
    return tuple(sentence for sentence in sentences if sentence)
