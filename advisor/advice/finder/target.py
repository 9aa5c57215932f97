"""Target of a search, and a combination that reaches it."""

from dataclasses import dataclass

from advisor.advice.speeds import Speed
from advisor.catalog.inputs import TARGET
from advisor.catalog.limits import check_all


@dataclass(frozen=True, kw_only=True)
class Target:
    """Least speed and highest cost.

    Attributes:
        min_tps: least decode speed for each user [tokens/s].
        max_usd_per_month: highest monthly cost; None for any [USD/month].
        max_usd: most that is paid once; None for any [USD].

    Raises:
        InputError: a number outside its limits.
    """

    min_tps: float = 0.0
    max_usd_per_month: float | None = None
    max_usd: float | None = None

    def __post_init__(self) -> None:
        check_all(TARGET, vars(self))

    @property
    def costs_count(self) -> bool:
        """Whether the target limits the cost, so that a faster machine may meet it where a slower
        does not.
        """
        return (self.max_usd_per_month, self.max_usd) != (None, None)


@dataclass(frozen=True, kw_only=True)
class Hit:
    """Combination that reaches the target.

    Attributes:
        model: name of the model.
        runtime: name of the runtime.
        machine: name of the GPU, or of the whole machine.
        count: number of its GPUs.
        whole: sold as a whole machine.
        gpu: name of its GPUs.
        ram_gib: main memory, which the GPU of a whole machine shares [GiB].
        context: cache of each user [tokens].
        users: users served together by all machines.
        machines: number of such machines, each serving its share of the users.
        kv_type: format of the cache.
        speed: placement, format, tokens/s and first token.
        offer: bought or rented.
        upfront: paid once [USD]; None without a price.
        monthly: monthly cost [USD/month]; None without a price.
        compared: that cost with launch prices counted `LAUNCH_MARGIN` times, by which a verdict and
            the order of hits compare; None without a price [USD/month].
        price_date: date of the oldest part of the price, ISO; may be empty.
        dated: every part of the price has a date, or was typed.
        stale: the price is old, or has no date.
        listed: a part has its maker's list price at launch.
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
    compared: float | None
    price_date: str = ""
    dated: bool = False
    stale: bool = False
    listed: bool = False
    machines: int = 1

    @property
    def may_win(self) -> bool:
        """Whether it has a dated price."""
        return self.monthly is not None and self.dated

    @property
    def order(self) -> tuple[bool, float]:
        """Sort key: cheapest month first, those without a dated price last."""
        return (not self.may_win, self.compared or 0.0)

    @property
    def aged(self) -> str:
        """Remark on an old or launch price; empty for others."""
        if self.monthly is None or not (self.listed or self.stale):
            return ""
        return f"{'launch price' if self.listed else 'price'} of {self.price_date or 'no day'}"

    @property
    def cards(self) -> str:
        """Machine with the number of its GPUs."""
        return f"{self.count}x {self.machine}" if self.count > 1 else self.machine

    @property
    def title(self) -> str:
        """Machine with its number, where several are needed."""
        return f"{self.machines} machines, {self.cards}" if self.machines > 1 else self.cards
