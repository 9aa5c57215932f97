"""What is looked for, and one thing that meets it."""

from dataclasses import dataclass

from advisor.advice.speeds import Speed
from advisor.catalog.inputs import TARGET, check_all


@dataclass(frozen=True, kw_only=True)
class Target:
    """Least speed and most cost.

    Attributes:
        min_tps: tokens generated for each user [tokens/s].
        max_usd_per_month: all of a month; None for any [USD/month].
        max_usd: paid once; None for any [USD].

    Raises:
        InputError: a number out of its limits.
    """

    min_tps: float = 0.0
    max_usd_per_month: float | None = None
    max_usd: float | None = None

    def __post_init__(self) -> None:
        check_all(TARGET, vars(self))

    @property
    def costs_count(self) -> bool:
        """A faster answer may be cheap enough where a slower one is not."""
        return (self.max_usd_per_month, self.max_usd) != (None, None)


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One combination that meets a target.

    Attributes:
        model: name.
        runtime: name.
        machine: GPU, or whole machine.
        count: GPUs of it.
        whole: it is sold as one.
        gpu: name of its GPUs.
        ram_gib: main memory, which the GPU of a whole machine shares [GiB].
        context: cache for each user [tokens].
        users: served together, by all machines.
        machines: alike, of which each answers its part of the users.
        kv_type: format of the cache.
        speed: placement, format, tokens/s and first token.
        offer: bought or rented.
        upfront: paid once [USD]; None without a price.
        monthly: all of a month [USD/month]; None without a price.
        price_date: of its oldest part, ISO; empty without one.
        dated: every part of the price is of a known day, or typed.
        stale: the price is old, or not dated.
    """

    model: str
    runtime: str
    machine: str
    count: int
    whole: bool
    gpu: str
    ram_gib: float
    context: float
    users: float
    kv_type: str
    speed: Speed
    offer: str
    upfront: float | None
    monthly: float | None
    price_date: str = ""
    dated: bool = False
    stale: bool = False
    machines: int = 1

    @property
    def may_win(self) -> bool:
        """It can be had at a price of a known day."""
        return self.monthly is not None and self.dated

    @property
    def cards(self) -> str:
        """The machine with the number of its GPUs."""
        return f"{self.count}x {self.machine}" if self.count > 1 else self.machine

    @property
    def title(self) -> str:
        """The same with the number of machines, where it takes several."""
        return f"{self.machines} machines, {self.cards}" if self.machines > 1 else self.cards
