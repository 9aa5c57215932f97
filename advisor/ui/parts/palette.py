"""Colours of the charts in both themes: those of Okabe and Ito, lighter on the dark page."""

from dataclasses import dataclass

import streamlit as st

from advisor.reports.charts import COLOURS


@dataclass(frozen=True, kw_only=True)
class Palette:
    """Colours of one theme."""

    ink: str
    soft: str
    line: str
    series: tuple[str, ...]


LIGHT = Palette(
    ink="#1b1f24", soft="#5b6470", line="#dfe2e7",
    series=COLOURS,
)  # fmt: skip
DARK = Palette(
    ink="#e8eaed", soft="#a7b0bb", line="#343a42",
    series=("#56b4e9", "#e69f00", "#2fc39a", "#e39ac4", "#ff8a4d", "#8fd0f5", "#9aa2ac", "#d5dae0"),
)  # fmt: skip


def palette() -> Palette:
    """Colours of the visitor's theme."""
    return DARK if st.context.theme.type == "dark" else LIGHT
