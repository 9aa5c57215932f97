"""How it works: idea, routes, formulas, limits; constants and software."""

import streamlit as st

from advisor.cost_model.workload import Workload
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.ui.method import constants, formulas, routes, software_table
from advisor.ui.method.answer import route_use_of
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, joined, show, table

LIMITS = (
    "Experts are assumed to be chosen evenly and independently; text on one subject repeats some "
    "of them, which helps runtimes that cache experts.",
    "The speed is a sustained one: a hot laptop, a power limit or other programs lower it. The "
    "range covers the usual extent of this.",
    "Other traffic on the link, between GPUs and on the drive is not counted.",
    "Loading the model is a plain read of the file, without compiling kernels and warming up.",
    "The web server and tokenizer of a serving engine are not counted.",
    "The quality of answers is not predicted; scores and losses are published ones.",
)
"""What the formulas leave out, a sentence or two each."""


def idea() -> None:
    """Idea of the method."""
    show(
        block(
            "oa-way", "Generating a token means reading bytes: where they lie and who "
            "reads them decides the speed.", "p",
        )
    )  # fmt: skip


def five_routes(model: Model, machine: Machine, work: Workload) -> None:
    """Routes of a model on a machine."""
    st.subheader("Five routes", anchor="routes")
    show(block("oa-sub", f"Speeds of {machine.name}. Hover over one for its source.", "p"))
    use = route_use_of(model, machine, work)
    show(routes.drawing(machine, use, f"{model.name}, {model.format}"))


def general() -> None:
    """Formulas and limits."""
    st.subheader("Formulas", anchor="formulas")
    formulas.shown()
    st.subheader("Limits", anchor="limits")
    show(block("oa-answer", joined(block("", explained(limit), "li") for limit in LIMITS), "ul"))


def figures() -> None:
    """Constants, and factors of stated software."""
    st.subheader("Constants", anchor="constants")
    show(
        block(
            "oa-sub", "Shares of datasheet speeds, and fixed costs. Each is fitted to published "
            "runs, measured, derived from a document, or assumed. Families of GPUs, runtimes, "
            "builds or formats that differ have values of their own. How good shows "
            "the errors that remain.", "p",
        )
    )  # fmt: skip
    with st.expander("All constants"):
        rows = constants.constants_rows()
        show(table(constants.HEADINGS, rows, label="Constants", numeric=(1, 3, 4)))
    st.subheader("Software that you state", anchor="software")
    show(
        block(
            "oa-sub", "Factors from published comparisons for a graphics driver, a policy for "
            "several sockets, and more threads than cores. The comparisons are too few for a fit, "
            "so they also widen the range. An older build has the constants of its time.", "p",
        )
    )  # fmt: skip
    with st.expander("All comparisons"):
        compared = software_table.software_rows()
        show(table(software_table.HEADINGS, compared, label="Software", numeric=(2, 3, 4, 5)))
