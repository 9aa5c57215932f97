"""Explanation of a speed: the formula with its values, and every input with its origin."""

from collections.abc import Iterable

import streamlit as st
from markupsafe import Markup

from advisor.advice.compare import decode_tps
from advisor.advice.speeds import route_bytes
from advisor.cost_model.estimate import Estimate
from advisor.formatting import number, seconds, tokens_per_second
from advisor.reports.document import time_part
from advisor.reports.from_advice import figure_text
from advisor.ui.parts.glossary import explained
from advisor.ui.parts.markup import block, joined, plain_words, show, table, two_lines
from advisor.units import GB


@st.dialog("Why this number?", width="large")
def dialog(estimate: Estimate) -> None:
    """Dialog with the explanation."""
    show(joined(explanation(estimate)))


def explanation(estimate: Estimate) -> Iterable[Markup]:
    """Formula, parts and inputs of an estimate."""
    if estimate.step is None or estimate.decode is None:
        return
    total = float(estimate.step.total)
    yield block("oa-strong", "Time of a token, by part", "p")
    yield table(("Part", "Bytes", "Speed", "Time"), _parts(estimate), label="Time of one token",
                numeric=(1, 2, 3))  # fmt: skip
    speed = tokens_per_second(decode_tps(estimate))
    short = "" if bool(estimate.fits) else " This is what it would reach if it fitted."
    told = f"{seconds(total)} for a token, so 1 / {number(total, 3)} s = {speed}.{short}"
    yield block("oa-why", told, "p")
    if (hidden := float(estimate.step.hidden)) > 0:
        words = f"{seconds(hidden)} overlap with a longer part and add nothing."
        yield block("oa-soft", words, "p")
    yield block("oa-strong", "What it rests on", "p")
    inputs = _inputs(estimate)
    yield table(("Figure", "Value"), inputs, label="Inputs of the estimate", numeric=(1,))


def _parts(estimate: Estimate) -> Iterable[tuple[Markup, str, str, str]]:
    moved = {route.value: size for route, size in route_bytes(estimate).items()}
    parts = estimate.step.parts if estimate.step else {}
    for name, duration in sorted(parts.items(), key=lambda part: -float(part[1])):
        spent, size = float(duration), moved.get(name, 0.0)
        if spent > 0:
            read = number(size / GB, 3), number(size / spent / GB, 3)
            cells = (f"{read[0]} GB", f"{read[1]} GB/s") if size else ("", "")
            yield explained(time_part(str(name))), *cells, seconds(spent)


def _inputs(estimate: Estimate) -> Iterable[tuple[Markup, str]]:
    for item in estimate.assumptions:
        figure = item.figure
        origin = ", ".join(part for part in (figure.kind.value, figure.source, figure.date) if part)
        yield two_lines(item.what, plain_words(origin)), figure_text(item)
