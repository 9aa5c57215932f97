"""What is asked about many users."""

from dataclasses import dataclass

from advisor.catalog.inputs import LOAD, check_all


@dataclass(frozen=True, kw_only=True)
class LoadQuestion:
    """What each user should have, and how requests come.

    Attributes:
        user_tps: tokens a second once a reply has begun [tokens/s].
        first_token_within: longest wait for the first token [s].
        length_spread: standard deviation of prompts and replies over their mean.
        requests_per_hour: of all people together, at random times; None where that is not asked
            [1/h].

    Raises:
        InputError: a number out of its limits.
    """

    user_tps: float = 20.0
    first_token_within: float = 2.0
    length_spread: float = 0.5
    requests_per_hour: float | None = None

    def __post_init__(self) -> None:
        check_all(LOAD, vars(self))
