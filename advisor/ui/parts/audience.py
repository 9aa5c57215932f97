"""Audience of the server: who reaches it, and what its visitors may therefore do.

One's own computer serves itself alone and allows everything. Where others reach the server, it
reads none of its files, measures nothing, shows nothing of its own computer, takes no machines in
and saves for those who log in only, unless its operator says that all of them are trusted.
"""

import os
from collections.abc import Sequence
from urllib.parse import urlsplit

import streamlit as st

from advisor.errors import InputError
from advisor.permission import Permission, decided_by

PUBLIC = "ADVISOR_PUBLIC"  # setting: "off" trusts everybody who reaches the server, "on" nobody
LOCAL_FILES = "ADVISOR_LOCAL_FILES"
PROBES = "ADVISOR_PROBES"
"""Settings of what is allowed by itself, whoever reaches the server."""
ADDRESS = "ADVISOR_PUBLIC_URL"  # setting: address under which people open the dashboard
LOOPBACK = ("127.0.0.1", "localhost", "::1")
YES = ("on", "1", "yes", "true")
NO = ("off", "0", "no", "false")


INSTEAD = (
    "give the name of a model or a repository, or paste its config.json or upload the beginning of "
    "its GGUF file under Other ways"
)


def start() -> None:
    """Set the permission of the server's names, for all of its threads, by who can reach it.

    Raises:
        InputError: a setting that is neither on nor off.
    """
    for name in (PUBLIC, LOCAL_FILES, PROBES):
        _stated(name, usual=True)
    decided_by(permission)


def permission() -> Permission:
    """Permission of a visitor's names."""
    own = not is_public()
    return Permission(
        files=reads_local_files(),
        network=False,
        here=own or probes(),
        token=own,
        instead=INSTEAD,
    )


def is_public() -> bool:
    """Whether people who are not trusted can reach the server.

    It is as set, or true where the server listens to more than this computer, or is called by
    another name than this computer's own.
    """
    return _stated(PUBLIC, usual=_reached_by_others())


def _reached_by_others() -> bool:
    hosts: Sequence[str] = st.get_option("server.allowedHosts") or ("*",)  # none named: any
    address = os.environ.get(ADDRESS, "").strip()
    named = [urlsplit(f"//{host}").hostname or "" for host in hosts]
    if address:
        named.append(urlsplit(address).hostname or "")
    return any(name not in LOOPBACK for name in (st.get_option("server.address"), *named))


def reads_local_files() -> bool:
    """Whether a visitor may name files of the server, as set for them or for the public."""
    return _stated(LOCAL_FILES, usual=not is_public())


def probes() -> bool:
    """Whether a visitor may measure the server."""
    return _stated(PROBES, usual=not is_public())


def _stated(name: str, *, usual: bool) -> bool:
    """Value of a setting, or its default; raises InputError for a value that is not allowed."""
    setting = os.environ.get(name, "").strip()
    if not setting:
        return usual
    if setting.casefold() not in (*YES, *NO):
        raise InputError(f"{name} is {setting[:40]!r}; it must be on or off, or not set.")
    return setting.casefold() in YES
