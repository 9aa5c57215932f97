"""HTML in which every text is escaped, whoever wrote it.

Streamlit's own text commands read Markdown, and Markdown in a link or a report's name can fetch an
image from anywhere. What people typed is therefore shown through this module.
"""

from collections.abc import Iterable, Sequence

import streamlit as st
from markupsafe import Markup


def show(html: Markup) -> None:
    """Put escaped HTML on the page."""
    st.html(str(html))


def joined(parts: Iterable[Markup]) -> Markup:
    """Parts one after the other."""
    return Markup("").join(parts)


def block(style: str, content: object, element: str = "div") -> Markup:
    """One element with a class; its content is escaped unless it is markup already."""
    return Markup("<{} class='{}'>{}</{}>").format(element, style, content, element)


def notice(text: str, kind: str = "note") -> None:
    """A sentence in a box.

    Args:
        text: plain.
        kind: "note", "warning" or "error"; said in words to those who do not see the colour.
    """
    label = {"note": "Note", "warning": "Please note", "error": "Not possible"}[kind]
    box = Markup("<div class='oa-notice oa-{}' role='status'><b>{}.</b> {}</div>")
    show(box.format(kind, label, text))


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    label: str,
    numeric: Sequence[int] = (),
) -> Markup:
    """A table that scrolls in its own frame where the screen is narrow.

    Args:
        headings: of the columns.
        rows: cells, escaped unless they are markup already.
        label: what the table shows, for those who cannot see it.
        numeric: columns that are aligned to the right.
    """
    head = joined(_cell("th", one, place in numeric) for place, one in enumerate(headings))
    body = joined(
        block(
            "", joined(_cell("td", one, place in numeric) for place, one in enumerate(row)), "tr"
        )
        for row in rows
    )
    frame = Markup(
        "<div class='oa-scroll' tabindex='0' role='region' aria-label='{}'>"
        "<table class='oa-table'><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    )
    return frame.format(label, head, body)


def _cell(element: str, content: object, right: bool) -> Markup:
    return block("oa-right" if right else "", content, element)


def two_lines(first: str, second: str) -> Markup:
    """A cell with a lesser line under its text."""
    return Markup("{}{}").format(first, block("oa-soft", second)) if second else Markup("{}").format(first)
