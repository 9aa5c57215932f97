"""Main part of the Method page: idea, routes, formulas, constants, software, limits."""

from collections.abc import Iterable

import streamlit as st

from advisor.errors import AdvisorError
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.ui.method import constants, formulas, routes, software_table
from advisor.ui.method.answer import route_use_of
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, joined, notice, show, table
from advisor.ui.sidebar.choices import Choices

LIMITS = (
    "Experts are taken as chosen evenly and independently; text on one subject repeats some of "
    "them, which runtimes with a cache of experts profit from.",
    "Sustained speed is predicted: a laptop that gets hot, a power limit or other programs make "
    "it less. The range carries what is usual of this.",
    "Other traffic on the link, between GPUs and on the drive is not counted.",
    "Loading the model is a plain read of the file; compiling kernels and warming up are left out.",
    "Of a serving engine its web server and tokenizer are left out.",
    "The quality of an answer is never predicted; scores and losses are published ones.",
)
"""What the formulas leave out, a sentence or two each."""


def head() -> None:
    """Title and idea of the page."""
    show(block("oa-title", "Method", "h1"))
    show(
        block(
            "oa-verdict", "Generating a token means reading bytes: where they lie and who "
            "reads them decides the speed.", "p",
        )
    )  # fmt: skip


def unanswered(error: AdvisorError | str, problems: Iterable[str]) -> None:
    """Message for inputs that cannot be drawn; the formulas hold without them."""
    for sentence in problems:
        notice(sentence, "warning")
    notice(str(error), "error")
    _general()


def shown(model: Model, machine: Machine, choices: Choices, problems: Iterable[str]) -> None:
    """Routes of a model on a machine, then what holds for all."""
    for sentence in problems:
        notice(sentence, "warning")
    st.subheader("Five routes", anchor="routes")
    show(block("oa-sub", f"Speeds of {machine.name}. Hover over one for its source.", "p"))
    use = route_use_of(model, machine, choices.workload())
    show(routes.drawing(machine, use, f"{model.name}, {model.format}"))
    _general()


def _general() -> None:
    st.subheader("Formulas", anchor="formulas")
    formulas.shown()
    st.subheader("Constants", anchor="constants")
    show(
        block(
            "oa-sub", "Shares of datasheet speeds, and fixed costs. Each is fitted to published "
            "runs, measured, worked out from a document, or assumed; a case of its own is a "
            "family of GPUs, a runtime, a build or a format that differs. The Accuracy page says "
            "how right they are.", "p",
        )
    )  # fmt: skip
    with st.expander("All constants"):
        rows = constants.constants_rows()
        show(table(constants.HEADINGS, rows, label="Constants", numeric=(1, 3, 4)))
    st.subheader("Software that you state", anchor="software")
    show(
        block(
            "oa-sub", "A graphics driver, a policy for several sockets and threads past the cores "
            "have factors from published comparisons. These are too few to be fitted, so they "
            "widen the range too. An older build has the constants of builds of its time.", "p",
        )
    )  # fmt: skip
    with st.expander("All comparisons"):
        compared = software_table.software_rows()
        show(table(software_table.HEADINGS, compared, label="Software", numeric=(2, 3, 4, 5)))
    st.subheader("Limits", anchor="limits")
    show(block("oa-answer", joined(block("", explained(limit), "li") for limit in LIMITS), "ul"))
