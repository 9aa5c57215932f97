"""What every data file owes its readers: a public source, and a date that can be."""

import re
from datetime import date

ISO = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


def is_public(source: str) -> bool:
    """It begins with an address that anybody can open."""
    return bool(re.match(r"https://[\w.-]+\.[a-z]+(/|$|\s)", source))


def is_past(when: str) -> bool:
    """A year, month or day in ISO form whose first day is not in the future."""
    match = ISO.fullmatch(when)
    return match is not None and date(*(int(part or 1) for part in match.groups())) <= date.today()
