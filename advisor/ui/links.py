"""What is wrong with a link that somebody opened."""

from collections.abc import Mapping

from advisor.ui.fields import fields


def problems(parameters: Mapping[str, str]) -> tuple[str, ...]:
    """One sentence for each value that cannot be used; keys that mean nothing here are passed by.

    Args:
        parameters: of the address, as they came.
    """
    known = fields()
    found = (known[key].problem(text) for key, text in parameters.items() if key in known and text)
    return tuple(sentence for sentence in found if sentence)
