"""Checks of addresses that a report may link to."""

import re
from urllib.parse import urlsplit

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0")  # noqa: S104  named to be left out


def is_web_address(link: str) -> bool:
    """Whether an address opens a page; `javascript:` and others do not."""
    return re.fullmatch(r"https?://[^\s<>]+", link) is not None


def is_public(link: str) -> bool:
    """Whether an address opens the same page on another machine."""
    if not is_web_address(link):
        return False
    try:
        host = urlsplit(link).hostname
    except ValueError:
        return False
    return bool(host) and host not in LOCAL_HOSTS
