"""Handling of unexpected errors: named on the page, logged on the server, no input lost."""

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

import advisor
from advisor.ui.parts.markup import notice

PACKAGE = Path(advisor.__file__).parent
LOG = logging.getLogger(__name__)


@contextmanager
def named() -> Iterator[None]:
    """Context that replaces the rest of the page by a message if an error occurs.

    The run ends as one that was stopped: Streamlit then forgets no input, not even one that this
    run did not come to draw, and nothing runs again until the visitor changes something.
    """
    try:
        yield
    except Exception as error:
        LOG.exception("A page failed.")
        notice(sentence(error), "failure")
        st.stop()


def sentence(error: Exception) -> str:
    """Message with the kind and place of the error, without its text, which may be secret."""
    return (
        f"{type(error).__name__} in {place(error)}, version {advisor.__version__}. This is a fault "
        "of the program, not of your input. Your input is kept; change it to try again. The log of "
        "the server tells more"
    )


def place(error: Exception) -> str:
    """File and line of the program's code that failed."""
    frames = [
        (Path(frame.filename), frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if PACKAGE in Path(frame.filename).parents and Path(frame.filename) != Path(__file__)
    ]
    if not frames:
        return "app.py"
    path, line = frames[-1]
    return f"advisor/{path.relative_to(PACKAGE).as_posix()}, line {line}"
