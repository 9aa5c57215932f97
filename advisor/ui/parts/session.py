"""What belongs to one visitor: who they are, their reports, the address of the page."""

import os
from urllib.parse import urlsplit

import streamlit as st

from advisor.errors import InputError
from advisor.reports.store import ReportStore, open_store

LOCAL = "http://localhost:8501/"
PUBLIC_VARIABLE = "ADVISOR_PUBLIC_URL"
PAGES = ("find", "run", "reports", "calibrate", "accuracy")


@st.cache_resource(show_spinner=False, max_entries=1)
def store() -> ReportStore:
    """The reports of everybody, opened once for the server.

    Raises:
        StoreError: the place cannot be made, opened or understood.
    """
    return open_store()


def own_store() -> ReportStore | None:
    """The reports that this visitor may see; None for one who has to log in first.

    Raises:
        StoreError: the place cannot be made, opened or understood.
    """
    if not login_configured():
        return store()
    owner = user()
    return store().of(owner) if owner else None


def login_configured() -> bool:
    """An OpenID Connect provider is named in .streamlit/secrets.toml, under [auth]."""
    try:
        return "auth" in st.secrets
    except FileNotFoundError:
        return False


def user() -> str:
    """What tells the visitor from others: issuer and subject of their login; empty without one."""
    if not st.user.get("is_logged_in", False):
        return ""
    return f"{st.user.get('iss', '')}#{st.user.get('sub', '')}"


def author() -> str:
    """What the visitor is called; empty where they did not log in."""
    if not login_configured() or not st.user.get("is_logged_in", False):
        return ""
    return str(st.user.get("name") or st.user.get("email") or "")


def base() -> str:
    """Address of the Advise page, the public one where it is set.

    Raises:
        InputError: what is set is no address.
    """
    public = os.environ.get(PUBLIC_VARIABLE, "").strip()
    if public:
        parts = urlsplit(public)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(
                f"{PUBLIC_VARIABLE} is {public[:80]!r}; it should be like https://advisor.example/."
            )
        return public.rstrip("/") + "/"
    url = (st.context.url or LOCAL).split("?")[0].rstrip("/")
    for page in PAGES:
        url = url.removesuffix(f"/{page}")
    return url + "/"
