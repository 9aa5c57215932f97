"""Handling of unexpected errors: named on the page, logged on the server, no input lost."""

import logging
import platform
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

import advisor
from advisor.ui.parts.markup import copyable, notice

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
        notice(f"{type(error).__name__}: {FAULT}", "failure")
        copyable(report(error))
        st.stop()


FAULT = (
    "this is a fault of the program, not of your input, which is kept: change it to try again. "
    "Whoever mends it needs these lines, and the log of the server"
)
SECRET = ("shared",)  # parameters of an address that open what others must not see


def report(error: Exception) -> str:
    """Kind and place of an error, versions and the question; not its text, which may be secret."""
    question = {key: text for key, text in st.query_params.to_dict().items() if key not in SECRET}
    versions = f"Python {platform.python_version()}, Streamlit {st.__version__}"
    return "\n".join(
        (
            f"{type(error).__name__} in {place(error)}, version {advisor.__version__}",
            f"{versions}, {platform.system()}",
            urlencode(question),
        )
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
