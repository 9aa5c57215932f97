"""Options about money and ownership, and the records built from them."""

import argparse
import math
from collections.abc import Callable
from dataclasses import replace

from advisor.advice.prices.price import priced_name
from advisor.catalog.inputs import CURRENCY, MONEY, OWNERSHIP, in_usd
from advisor.cli import options
from advisor.cli.currency import currency_code, currency_of
from advisor.machine import from_spec
from advisor.machine.catalog import find_gpu
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.request.money import MoneyInputs, money_in_usd
from advisor.request.ownership import Form, Ownership, form_of

NOTHING = "nothing"
"""Word of `--own` for who has no machine."""


def add_money(parser: argparse.ArgumentParser) -> None:
    """Add the options about time and money."""
    group = parser.add_argument_group("time and money")
    options.add_inputs(group, MONEY, MoneyInputs)
    group.add_argument(
        "--own-rent", type=own_rent, action="append", default=[], metavar="GPU=USD",
        help="rent of a GPU by the hour that replaces the price on record",
    )  # fmt: skip
    group.add_argument(
        "--own-price", type=own_price, action="append", default=[], metavar="NAME=USD",
        help="price of a GPU, a whole machine or a part (psu, dock, ram ...) that replaces the one "
        "on record",
    )  # fmt: skip
    group.add_argument(
        "--currency", type=currency_code, default="USD", metavar="CODE",
        help="currency of all typed and printed amounts; needs --usd-rate (USD)",
    )  # fmt: skip
    options.add_inputs(group, (CURRENCY,))


def add_ownership(parser: argparse.ArgumentParser) -> None:
    """Add the options about owned hardware."""
    group = parser.add_argument_group("what you have")
    group.add_argument(
        "--own", metavar="GPU",
        help=f"GPUs that you own (those of the machine), or {NOTHING}, without a machine either",
    )  # fmt: skip
    options.add_inputs(group, OWNERSHIP, Ownership)
    group.add_argument(
        "--resale-counts", action="store_true",
        help="count the value that is tied up in what you keep as a monthly cost",
    )  # fmt: skip
    group.add_argument(
        "--also", action="append", default=[], metavar="NAME",
        help='further options to print, by a part of their name ("RTX 5090")',
    )  # fmt: skip
    group.add_argument(
        "--form",
        type=str.lower,
        choices=list(Form),
        help="form of the machine (derived from its parts)",
    )


def ownership_of(args: argparse.Namespace, machine: Machine) -> Ownership:
    """Ownership of the machine.

    Raises:
        InputError: an amount out of range, or a resale value of a rented machine.
    """
    form = Form(args.form) if args.form else form_of(machine)
    amounts = in_usd(options.given(args, OWNERSHIP), currency_of(args).usd)
    return Ownership(form=form, **amounts, nothing=owns_nothing(args))


def owns_nothing(args: argparse.Namespace) -> bool:
    """Whether `--own` says that there is no machine."""
    return (args.own or "").strip().casefold() == NOTHING


def owned_machine(args: argparse.Namespace, machine: Machine) -> Machine:
    """Machine with the GPUs of `--own`; unchanged without it.

    Raises:
        UnknownName: a GPU that the catalogue does not hold.
    """
    if args.own is None or owns_nothing(args):
        return machine
    own = from_spec.machine(MachineSpec(gpu=args.own))
    if own.unified:
        return own
    name = from_spec.name_of(own.gpus, machine.host)
    return replace(machine, name=name, gpus=own.gpus, rented="")


def own_rent(text: str) -> tuple[str, float]:
    """GPU and its hourly rent, from "RTX 4090=0.4".

    Raises:
        ArgumentTypeError: another form, or a negative rent.
    """
    return _name_and_usd(text, "rent", "RTX 4090=0.4", lambda name: find_gpu(name).name)


def own_price(text: str) -> tuple[str, float]:
    """Part and its price, from "RTX 4090=1800" or "dock=110".

    Raises:
        ArgumentTypeError: another form, or a negative price.
    """
    return _name_and_usd(text, "price", "RTX 4090=1800", priced_name)


def _name_and_usd(
    text: str, what: str, example: str, read: Callable[[str], str]
) -> tuple[str, float]:
    name, _, usd = text.rpartition("=")
    try:
        amount = float(usd)
    except ValueError:
        amount = math.nan
    if name and 0 < amount < math.inf:
        return options.typed(read)(name), amount
    raise argparse.ArgumentTypeError(
        f"{text!r} is no {what}; write NAME=AMOUNT with an amount above 0, as {example!r}."
    )


def money_of(args: argparse.Namespace) -> MoneyInputs:
    """Inputs about time and money, in US dollars.

    Raises:
        InputError: a number out of range.
    """
    usd = currency_of(args).usd
    return money_in_usd(
        options.given(args, MONEY), args.own_rent, args.own_price, usd,
        resale_counts=getattr(args, "resale_counts", False),
    )  # fmt: skip
