"""Sortable table of speeds, with the columns that Models and Machines share."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from advisor.advice.compare import TITLES
from advisor.advice.speeds import Speed

HEIGHT = 458
"""Height of the table, twelve rows; it scrolls [pixels]."""
ADVISE = "Advise"
"""Column of links to the page Advise."""
Columns = Mapping[str, Sequence[Any]]


def speed_table(
    before: Columns, speeds: Sequence[Speed], after: Columns, settings: Mapping[str, Any], *,
    key: str, alt: str,
) -> None:  # fmt: skip
    """Table, in the given order."""
    shared = {
        "tokens/s": [speed.decode for speed in speeds],
        "Format": [speed.format for speed in speeds],
        "At least": [speed.low for speed in speeds],
        "At most": [speed.high for speed in speeds],
        "Weights are": [TITLES[speed.strategy] for speed in speeds],
        "First token": [speed.first_token for speed in speeds],
    }
    st.dataframe(
        {**before, **shared, **after}, hide_index=True, key=key, alt=alt,
        height=min(38 + 35 * len(speeds), HEIGHT), column_config={**_shared(), **settings},
    )  # fmt: skip


def _shared() -> dict[str, Any]:
    config, speed = st.column_config, "%.1f"
    return {
        "tokens/s": config.NumberColumn(
            format=speed, width=74, help="Tokens generated in a second for each user, as predicted."
        ),
        "Format": config.TextColumn(width="small", help="How the weights are packed."),
        "At least": config.NumberColumn(
            format=speed, help="Lower end of the range that should hold the speed 4 times in 5."
        ),
        "At most": config.NumberColumn(format=speed, help="Upper end of that range."),
        "Weights are": config.TextColumn(
            help="Place of the weights: in the GPU alone, or in part in RAM or on the drive."
        ),
        "First token": config.NumberColumn(
            format="%.2f s", help="Seconds until the first token of a reply."
        ),
        ADVISE: config.LinkColumn(
            display_text="open", width=62, help="Opens Advise with this row filled in."
        ),
    }  # fmt: skip
