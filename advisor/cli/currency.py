"""Currency of the amounts that are typed and printed."""

import argparse

from advisor.catalog.inputs import CURRENCY
from advisor.errors import InputError
from advisor.formatting import Currency


def currency_code(text: str) -> str:
    """Currency code of three letters, such as "EUR".

    Raises:
        ArgumentTypeError: not three letters.
    """
    code = text.strip().upper()
    if len(code) == 3 and code.isascii() and code.isalpha():
        return code
    raise argparse.ArgumentTypeError(
        f"{text!r} is not a currency code; give three letters, such as EUR."
    )


def currency_of(args: argparse.Namespace) -> Currency:
    """Currency of typed and shown amounts.

    Raises:
        InputError: a currency other than the dollar without an exchange rate, or the reverse.
    """
    code, rate = args.currency, args.usd_rate
    if (code == "USD") != (rate is None):
        raise InputError(
            f"--currency {code} needs --usd-rate, the value of one {code} in US dollars today; "
            "no rate is assumed. Give both, or leave both out."
        )
    CURRENCY.check(rate)
    return Currency(code=code, usd=rate or 1.0)
