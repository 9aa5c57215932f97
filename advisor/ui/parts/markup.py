"""HTML in which all text is escaped.

Streamlit's own text commands read Markdown, and Markdown in a link or a report's name can fetch an
image from anywhere. What people typed is therefore shown through this module.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st
from markupsafe import Markup, escape

from advisor.catalog.inputs import INPUTS


def show(html: Markup) -> None:
    """Put escaped HTML on the page; nothing where it is empty."""
    if html:
        st.html(str(html))


def say(text: object, style: str = "oa-soft") -> None:
    """Put a paragraph on the page, escaped unless it is markup."""
    show(block(style, text, "p"))


def joined(parts: Iterable[Markup]) -> Markup:
    """Concatenation of parts."""
    return Markup("").join(parts)


def block(style: str, content: object, element: str = "div") -> Markup:
    """Element with a class, both fixed in the program; its content is escaped or markup."""
    # Plain strings: hundreds of cells are made in a run, and Markup.format takes ten times longer.
    return Markup(f"<{element} class='{style}'>{escape(content)}</{element}>")  # noqa: S704  escaped


def head(title: str, *badges: str) -> Markup:
    """Title of a card, and its badges: words and look of each in turn."""
    html = Markup("<span class='oa-badge oa-{}'>{}</span>")
    marks = joined(
        html.format(look, words) for words, look in zip(badges[::2], badges[1::2], strict=True)
    )
    return block("oa-head", block("oa-name", title, "span") + block("oa-badges", marks, "span"))


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def _label(option: re.Match[str]) -> str:
    """Name that a page has for an option: the label of its input in quotes, or its own words."""
    known = next((each.label for each in INPUTS.values() if each.option == option[0]), "")
    return f"\u201c{known}\u201d" if known else option[0].strip("-").replace("-", " ")


def plain_words(text: str) -> str:
    """Message for people who see a page, without options, file paths and quotes of a program."""
    text = re.sub(r"\s*\([^()]*(?<!\w)--[a-z][^()]*\)", "", text)
    text = re.sub(r"\s*\(-[a-z]+\)", "", text)
    text = re.sub(r" as --own-(?:price|rent) \S+", " under More settings, Money", text)
    text = re.sub(r"(?:python -m lab on )?data/measurements/[\w*]+\.csv", "measured runs", text)
    text = re.sub(r"\s*\(\[Errno[^)]*\)", "", text)
    text = re.sub(r"\s*`[^`]*`(?:`[^`]*`|[^.`])*\.", "", text)
    text = OPTION.sub(_label, text)
    return re.sub(r"(?<![\w])'([^']{1,80})'(?!\w)", "\u201c\\1\u201d", text)


def link(address: str, words: object) -> Markup:
    """Link to another page of this visit, which the script of the pages opens without a reload."""
    return Markup("<a href='{}' target='_self'>{}</a>").format(address, words)


def outward(address: str, words: object) -> Markup:
    """Link to another site, in a tab of its own; that site is not told the page that the link was
    on.
    """
    html = Markup("<a href='{}' target='_blank' rel='noopener noreferrer'>{}</a>")
    return html.format(address, words)


def heading(coloured: str, rest: str, tone: str) -> Markup:
    """Answer of a page, to which the skip link leads: words in the colour of a tone, and others."""
    html = Markup(
        "<h1 id='verdict' tabindex='-1' class='oa-verdict'><span class='{}'>{}</span>{}</h1>"
    )
    return html.format(tone, coloured, rest)


def section(title: str, anchor: str) -> Markup:
    """Heading of a part of a page, with its name in an address."""
    return Markup("<h2 id='{}' class='oa-section'>{}</h2>").format(anchor, title)


def notice(text: str, kind: str = "note") -> None:
    """Put a sentence in a box on the page."""
    show(boxed(text, kind))


def boxed(text: str, kind: str = "note") -> Markup:
    """Sentence in a box: "note", "warning", "error" or "failure" (of the program).

    The kind is also said in words, for people who do not see the colour.
    """
    label = {
        "note": "",
        "warning": "Please note. ",
        "error": "Not possible. ",
        "failure": "Something went wrong. ",
    }[kind]
    box = Markup("<div class='oa-notice oa-{}' role='status'><b>{}</b>{}</div>")
    text = plain_words(text)
    return box.format(kind, label, text if text.endswith((".", "?")) else f"{text}.")


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    label: str,
    numeric: Sequence[int] = (),
) -> Markup:
    """Table that scrolls in its own frame on a narrow screen.

    Cells are escaped unless they are markup; numeric columns are right-aligned; the label is for
    screen readers.
    """
    sides = ["oa-right" if place in numeric else "" for place in range(len(headings))]
    head = _cells("th", headings, sides)
    body = "".join(f"<tr>{_cells('td', row, sides)}</tr>" for row in rows)
    frame = Markup(
        "<div class='oa-scroll' tabindex='0' role='region' aria-label='{}'>"
        "<table class='oa-table'><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    )
    # Every cell of head and body is escaped.
    return frame.format(label, Markup(head), Markup(body))  # noqa: S704  escaped cells


def columned(
    columns: Mapping[str, Callable[[Any], object]],
    items: Iterable[object],
    *,
    label: str,
    numeric: Sequence[int] = (),
) -> Markup:
    """Table with a row for each item; `columns` has the function of each cell by its heading."""
    rows = ([of(item) for of in columns.values()] for item in items)
    return table(list(columns), rows, label=label, numeric=numeric)


def _cells(element: str, cells: Iterable[object], sides: Iterable[str]) -> str:
    each = ((element if cell else "td", cell) for cell in cells)
    return "".join(
        f"<{name} class='{side}'>{escape(cell)}</{name}>"
        for (name, cell), side in zip(each, sides, strict=True)
    )


def two_lines(first: str, second: str | Markup) -> Markup:
    """Cell with a smaller second line."""
    return escape(first) + (block("oa-soft", second) if second else "")


def facts(named: Mapping[str, object]) -> Markup:
    """Figures with their names."""
    row = Markup("<span>{}</span><span>{}</span>")
    return block("oa-facts", joined(row.format(*each) for each in named.items()))


def listed(rows: Iterable[tuple[object, str, str]]) -> Markup:
    """Rows of words, a remark and a figure."""
    row = Markup("<div><span>{}</span><span>{}</span><b>{}</b></div>")
    return block("oa-list", joined(row.format(*each) for each in rows))


# Buttons within HTML: an answer is one element, which changes at once, where a row of columns with
# widgets is drawn part by part. The script of the pages hands a press on to the widget.


def press(key: str, words: str, style: str = "oa-press") -> Markup:
    """Button that presses the widget of a key, or does the action that `pressed` keeps for the
    key.
    """
    html = Markup("<button type='button' class='{}' data-press='{}'>{}</button>")
    return html.format(style, key, words)


def pressed(actions: Mapping[str, Callable[[], None]]) -> None:
    """Keep the actions of the page's HTML buttons, by their keys, in one hidden widget."""

    def act() -> None:
        key = st.session_state["pressed"]
        st.session_state["pressed"] = None  # so that it can be pressed again
        if key in actions:
            actions[key]()

    st.pills("Pressed", list(actions), key="pressed", on_change=act, label_visibility="collapsed")


# Text to copy, such as a command or a file, with a button.
#
# Streamlit's code block loads a highlighter of 1.6 MB before it shows a line.


def copyable(text: str, label: Markup | str = "") -> None:
    """Text in a box, with a button that copies it, below a label."""
    box = Markup(
        "<div class='oa-code'><pre tabindex='0'><code>{}</code></pre>"
        "<button type='button' class='oa-copy'>Copy</button></div>"
    )
    show((block("oa-step", label, "p") if label else Markup()) + box.format(text))


# Placeholder while something is computed.


STEP = 0.02  # share of the work after which a bar of progress moves


@contextmanager
def progress() -> Iterator[Callable[[float], None]]:
    """Function that moves a bar to a share of the work, 0 to 1.

    There is no bar before the first call, and none after the block.
    """
    place = st.empty()
    shown = -STEP

    def move(done: float) -> None:
        nonlocal shown
        if done - shown >= STEP:
            shown = done
            place.progress(min(done, 1.0))

    try:
        yield move
    finally:
        place.empty()


@contextmanager
def waiting(text: str, *, height: int = 420) -> Iterator[None]:
    """Sentence and grey area [pixels] until the block ends; nothing for an empty text."""
    placeholder = st.empty()
    if text:
        with placeholder.container():
            show(block("oa-soft", text, "p"))
            st.skeleton(height=height)
    try:
        yield
    finally:
        placeholder.empty()
