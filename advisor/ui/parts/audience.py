"""Audience: who reaches the server, and what its visitors may therefore do.

One's own computer serves itself alone and allows everything. Where others reach the server, it
reads none of its files, measures nothing, takes no machines in and saves for those who log in only,
unless its operator says that all of them are trusted.
"""

import os

import streamlit as st

PUBLIC = "ADVISOR_PUBLIC"  # setting: "off" trusts everybody who reaches the server, "on" nobody
LOCAL_FILES = "ADVISOR_LOCAL_FILES"
PROBES = "ADVISOR_PROBES"
"""Settings of what is allowed by itself, whoever reaches the server."""
LOOPBACK = ("127.0.0.1", "localhost", "::1")
YES = ("on", "1", "yes", "true")
NO = ("off", "0", "no", "false")


def is_public() -> bool:
    """Whether people reach the server who are not trusted: as set, else all but this computer's."""
    return _stated(PUBLIC, st.get_option("server.address") not in LOOPBACK)


def reads_local_files() -> bool:
    """Whether a visitor may name files of the server, as set for them or for the public."""
    return _stated(LOCAL_FILES, not is_public())


def probes() -> bool:
    """Whether a visitor may measure the server."""
    return _stated(PROBES, not is_public())


def _stated(name: str, usual: bool) -> bool:
    setting = os.environ.get(name, "").strip().casefold()
    if setting in YES:
        return True
    if setting in NO:
        return False
    return usual
