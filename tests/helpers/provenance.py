"""Checks of the sources in data files: public address, and date in the past."""

import re
from datetime import date

ISO = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")


def is_public(source: str) -> bool:
    """Whether the source begins with a public address."""
    return bool(re.match(r"https://[\w.-]+\.[a-z]+(/|$|\s)", source))


def is_past(when: str) -> bool:
    """Whether the text is a year, month or day in ISO form that has begun."""
    match = ISO.fullmatch(when)
    return match is not None and date(*(int(part or 1) for part in match.groups())) <= date.today()
