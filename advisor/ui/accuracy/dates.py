"""Dates: how old each table is that can be renewed, and a button that renews them where it may."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import streamlit as st
from markupsafe import Markup

from advisor.model.hub import offline
from advisor.refresh import renewal
from advisor.refresh.dates import TableDate, table_dates
from advisor.refresh.releases import releases
from advisor.refresh.renewal import RenewalResult
from advisor.ui.parts import audience
from advisor.ui.parts.markup import notice, outward, say, section, show, table, two_lines

SECONDS = 600.0  # time limit of each source [s]
EVERY = 1.0  # time between two looks at a running renewal [s]
NAMED = 3  # most rows of a kind that are named
HEADINGS = ("Table", "Read on", "Age", "Source", "Licence")


@dataclass
class RenewalJob:
    """Renewal of all tables in a thread, which never touches Streamlit."""

    results: list[RenewalResult] = field(default_factory=list)  # of the tables that are done
    running: bool = True  # the thread is running

    @property
    def doing(self) -> str:
        """Table that is renewed now."""
        tables = renewal.chosen(())
        return tables[min(len(self.results), len(tables) - 1)]

    def work(self) -> None:
        """Renew one table after another; one that fails does not stop the others."""
        try:
            for name in renewal.chosen(()):
                self.results.append(renewal.renew(name, SECONDS, _today()))
        finally:
            self.running = False


class Renewer:
    """Starter of renewals, one at a time; one per server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.job: RenewalJob | None = None

    def start(self) -> None:
        """Start a renewal, unless one runs."""
        with self._lock:
            if self.job is None or not self.job.running:
                self.job = RenewalJob()
                threading.Thread(target=self.job.work, daemon=True, name="renewal").start()


@st.cache_resource(show_spinner=False)
def renewer() -> Renewer:
    """Starter of renewals that all sessions share."""
    return Renewer()


def _today() -> date:
    return datetime.now(UTC).date()


def dates_section() -> None:
    """Show the age of each table, and the command that renews it."""
    show(section("What is how old", "dates"))
    say(
        "Tables that go on changing. The newer counts: the one that came with this version, or the "
        "one that was renewed here. A source that fails, or sends what cannot be, changes nothing.",
        "oa-sub",
    )
    _ages()
    if audience.is_public():
        say("Whoever runs this server renews them: offload-advisor refresh.")
    elif offline():
        say("Network requests are switched off here, so nothing can be renewed.")
    else:
        _button()
    releases_section()


RELEASES = ("Runtime", "Written for", "Newest", "Checked", "What a newer one does otherwise")


def releases_section() -> None:
    """Show the releases of runtimes that commands and constants were written for."""
    show(section("Releases of the runtimes", "releases"))
    say(
        "What the commands and constants were written for, and what was newer when checked.",
        "oa-sub",
    )
    rows = [
        (row.runtime, row.written_for, row.newest, outward(row.source, row.checked), row.difference)
        for row in releases()
    ]
    show(table(RELEASES, rows, label="Releases of the runtimes"))


def _ages() -> None:
    rows = [_row(row) for row in table_dates(_today())]
    show(table(HEADINGS, rows, label="Dates of the tables", numeric=(2,)))


def _row(row: TableDate) -> Sequence[object]:
    origin = "renewed here" if row.renewed else "as shipped"
    return (
        row.what[:1].upper() + row.what[1:],
        two_lines(row.day, origin) if row.day else "never",
        _age(row),
        outward(row.source, row.source.split("/")[2]),
        row.licence,
    )


def _age(row: TableDate) -> Markup | str:
    if row.days is None:
        return ""
    days = f"{row.days:,} day{'' if row.days == 1 else 's'}"
    if row.old:
        return two_lines(days, "old")
    return days


@st.fragment(run_every=EVERY)
def _button() -> None:
    """Button, then the progress, then what was found; the page is drawn anew when it ends."""
    job = renewer().job
    running = job is not None and job.running
    st.button(
        "Renew all",
        icon=":material/refresh:",
        key="renew",
        disabled=running,
        on_click=renewer().start,
    )
    if job is None:
        return
    for result in job.results:
        notice(*_told(result))
    if running:
        say(f"Renewing: {job.doing} ...")
    elif st.session_state.get("renewed") is not job:
        st.session_state["renewed"] = job
        st.cache_data.clear()
        st.rerun()


def _told(result: RenewalResult) -> tuple[str, str]:
    """Result in words, and the kind of their notice."""
    what = result.what[:1].upper() + result.what[1:]
    if result.failed:
        return f"{what}: {result.failed}", "warning"
    parts = [f"{what}: {result.rows:,} rows, {len(result.new):,} new"]
    if result.changed:
        parts.append(f"{len(result.changed):,} changed")
    if result.left_out:
        named = "; ".join(result.left_out[:NAMED])
        parts.append(f"{len(result.left_out):,} left out ({named})")
    return f"{', '.join(parts)}.", "note"
