"""Machine described by the sidebar."""

from collections.abc import Iterable

from advisor.errors import AdvisorError
from advisor.ui.sidebar.choices import Choices


def machine_problems(choices: Choices) -> Iterable[str]:
    """Problem with the machine, for a page that cannot answer because of the model."""
    try:
        _ = choices.request.nouns().machine
    except AdvisorError as error:
        yield str(error)
