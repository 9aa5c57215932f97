"""Sortable table of speeds, with the columns that Models and Machines share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from advisor.advice.speeds import Speed
from advisor.catalog.csv_tables import DATA, read
from advisor.formatting import shown_currency

HEIGHT = 458  # height of the table, twelve rows; it scrolls [pixels]
ADVISE = "Advise"  # column of links to the page Advise
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """Column of a sortable table, a row of data/pages/columns.csv."""

    page: str  # page that has it; empty for several
    heading: str  # its heading
    kind: str  # "number", "text" or "link"
    format: str  # of numbers, or the words of a link
    width: int | None = None  # None for as wide as its content [pixels]
    pinned: bool | None = None  # stays when the others scroll
    help: str  # explanation behind the heading

    def settings(self, sign: str) -> Any:
        """Settings of Streamlit, with the sign of amounts of money."""
        config = st.column_config
        words: dict[str, Any] = {"width": self.width, "help": self.help or None}
        if self.kind == "number":
            return config.NumberColumn(format=self.format.replace("{sign}", sign), **words)
        if self.kind == "link":
            return config.LinkColumn(display_text=self.format, **words)
        return config.TextColumn(pinned=self.pinned, **words)


COLUMNS = read(DATA / "pages" / "columns.csv", TableColumn)


def settings_of(page: str) -> dict[str, Any]:
    """Settings of the columns of a page's table by heading; amounts are in the currency shown."""
    sign = shown_currency().sign
    return {row.heading: row.settings(sign) for row in COLUMNS if row.page in ("", page)}


def speed_table(
    page: str, before: Columns, speeds: Sequence[Speed], after: Columns, *, key: str, alt: str
) -> None:
    """Table, in the given order."""
    shared = {
        "tokens/s": [speed.decode for speed in speeds],
        "Format": [speed.format for speed in speeds],
        "At least": [speed.low for speed in speeds],
        "At most": [speed.high for speed in speeds],
        "Weights are": [speed.strategy.heading for speed in speeds],
        "First token": [speed.first_token for speed in speeds],
    }
    st.dataframe(
        {**before, **shared, **after},
        hide_index=True,
        key=key,
        alt=alt,
        height=min(38 + 35 * len(speeds), HEIGHT),
        column_config=settings_of(page),
    )
