"""Addresses of sources: those of the table of tables, or others from a setting."""

import os
from urllib.parse import urlsplit

from advisor.catalog import renewed
from advisor.errors import InputError
from advisor.model.hub import LOOPBACK, Limits, fetch, refuse_status

CAP = 8_000_000  # most of an answer that is read [B]


def address(table: str) -> str:
    """Address of a table's source; ADVISOR_SCORES_URL and the like name another.

    Raises:
        InputError: the setting is no https address.
    """
    setting = f"ADVISOR_{table.upper()}_URL"
    stated = os.environ.get(setting, "").strip()
    parts = urlsplit(stated or renewed.tables()[table].address)
    local = parts.scheme == "http" and parts.hostname in LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or local):
        raise InputError(f"{setting} is {stated[:80]!r}; it must be an https address.")
    return parts.geturl()


def text_of(url: str, seconds: float) -> str:
    """Text of an answer within a time limit [s].

    Raises:
        NetworkError: no answer, an unreadable one, or a huge one.
    """
    answer = fetch(url, cap=CAP, limits=Limits(seconds=seconds))
    refuse_status(answer, urlsplit(url).hostname or url, (200,))
    return answer.body.decode("utf-8-sig", "replace")
