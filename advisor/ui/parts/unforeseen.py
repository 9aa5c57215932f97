"""An error that nobody foresaw: named on the page, written to the server's log, no input lost."""

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
    """Where something fails within, say what, in the place of the rest of the page.

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
    """What failed and where, and what can be done; what the error says may be secret."""
    return (
        f"{type(error).__name__} in {place(error)}, version {advisor.__version__}. This is a fault "
        "of the program, not of what you chose. Everything you chose is kept: change it and it is "
        "tried again. The log of the server tells more"
    )


def place(error: Exception) -> str:
    """File and line of the program's own code that failed last."""
    frames = [
        (Path(frame.filename), frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if PACKAGE in Path(frame.filename).parents and Path(frame.filename) != Path(__file__)
    ]
    if not frames:
        return "app.py"
    path, line = frames[-1]
    return f"advisor/{path.relative_to(PACKAGE).as_posix()}, line {line}"
