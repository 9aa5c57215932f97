"""Fleets that serve many users, in words."""

from collections.abc import Iterable, Sequence

from advisor.advice.serving.fleets import FleetPart, ServingFleet
from advisor.advice.serving.replicas import Demand
from advisor.formatting import money, seconds, tokens_per_second

NONE_SERVES = (
    "No machine with a dated price serves a user at this speed and wait; lower the speed, allow a "
    "longer wait, or choose a smaller format."
)


def heading(demand: Demand) -> str:
    """Heading above fleets: the demand that they serve, and their order."""
    load, users = demand.load, demand.users
    who = "1 user" if users == 1 else f"{users:,} users"
    return (
        f"Machines that serve {who} with {tokens_per_second(load.user_tps)} each and the first "
        f"token within {seconds(load.first_token_within)}, cheapest first:"
    )


def lines(fleets: Sequence[ServingFleet]) -> Iterable[str]:
    """One sentence for each fleet; one that says so where there is none."""
    if not fleets:
        yield NONE_SERVES
    for fleet in fleets:
        yield f"{cost(fleet)}: {machines(fleet)}."


def machines(fleet: ServingFleet) -> str:
    """Number and kind of the machines, their users, and how GPUs are divided."""
    return ", and ".join(_machines(part) for part in fleet.parts)


def _machines(part: FleetPart) -> str:
    many = f"{part.machines:,} machines" if part.machines > 1 else "1 machine"
    return f"{many} with {part.offer.name}, {part.offer.kind} ({_users(part)})"


def cost(fleet: ServingFleet) -> str:
    """Cost of a month and at once, with a remark on old and launch prices."""
    once = f", {money(fleet.upfront)} at once" if fleet.upfront else ""
    return f"{money(fleet.monthly)} a month{once}{aged(fleet)}"


def aged(fleet: ServingFleet) -> str:
    """Remark on an old or launch price; empty for others."""
    if fleet.listed:
        return f" (launch price of {fleet.price_date})"
    return f" (oldest price of {fleet.price_date})" if fleet.stale else ""


def _users(part: FleetPart) -> str:
    each = f"{part.users_each:,} users" if part.users_each > 1 else "1 user"
    return f"{each} each in {part.runtime}, {part.format}{_division(part)}"


def _division(part: FleetPart) -> str:
    """Copies of the model in a machine with several GPUs; empty with a single one."""
    if part.offer.count == 1:
        return ""
    if len(part.copies) == 1:
        return f", a copy on {part.copies[0]} GPUs"
    sizes = " + ".join(str(size) for size in part.copies)
    return f", {len(part.copies)} copies on {sizes} GPUs"
