"""State of one visitor: login, reports, address of the page."""

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import streamlit as st

from advisor.errors import InputError
from advisor.ui.parts import audience

if TYPE_CHECKING:
    from advisor.reports.store.store import ReportStore

LOCAL = "http://localhost:8501/"
PUBLIC_VARIABLE = audience.ADDRESS
PAGES = ("find", "run", "reports", "calibrate", "accuracy")


@st.cache_resource(show_spinner=False, max_entries=1)
def store() -> "ReportStore":
    """Store of all reports, opened once per server; raises StoreError where its place cannot be
    used.
    """
    # The first page is shown without it: SQLAlchemy takes a fifth of a second to import.
    from advisor.reports.store.store import open_store

    return open_store()


def own_store() -> "ReportStore | None":
    """Reports that the visitor may see; None where a login is required first, or where strangers
    reach a server without one. Raises as `store`.
    """
    if not login_configured():
        if audience.is_public():
            return None
        return store()
    if not st.user.get("is_logged_in", False):
        return None
    return store().of(f"{st.user.get('iss', '')}#{st.user.get('sub', '')}")  # issuer and subject


def login_configured() -> bool:
    """Whether .streamlit/secrets.toml names an OpenID Connect provider under [auth]."""
    try:
        return "auth" in st.secrets
    except FileNotFoundError:
        return False


def author() -> str:
    """Name of the visitor; empty without login."""
    if not login_configured() or not st.user.get("is_logged_in", False):
        return ""
    return str(st.user.get("name") or st.user.get("email") or "")


def base() -> str:
    """Address of the Advise page, public where configured; raises InputError where that is none."""
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
