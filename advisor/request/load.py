"""Question about many users of one server."""

from dataclasses import dataclass

from advisor.catalog.inputs import LOAD, check_all


@dataclass(frozen=True, kw_only=True)
class LoadQuestion:
    """Speed and wait that each user should have, and the rate of requests.

    Attributes:
        user_tps: least decode speed for each user [tokens/s].
        first_token_within: longest wait for the first token [s].
        length_spread: standard deviation of prompt and reply lengths over their mean.
        requests_per_hour: requests of all users together, at random times; None if not stated
            [1/h].

    Raises:
        InputError: a number outside its limits.
    """

    user_tps: float = 20.0
    first_token_within: float = 2.0
    length_spread: float = 0.5
    requests_per_hour: float | None = None

    def __post_init__(self) -> None:
        check_all(LOAD, vars(self))
