"""How it works: idea, routes, formulas, limits; constants and software."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from advisor.advice.compare import compare
from advisor.advice.speeds import RouteUse, route_use
from advisor.catalog.constants import FACTOR, ConstantRow, fitted_constants
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.formatting import number, quantity, rate
from advisor.machine.backends import DRIVER_LABELS, SoftwareEffect, software_effects
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.model.model import Model
from advisor.runtimes import RUNTIMES, beside
from advisor.ui.parts.glossary import explained, term
from advisor.ui.parts.markup import block, heading, joined, say, section, show, table

# Use of the routes by a model on a machine.


def route_use_of(model: Model, machine: Machine, work: Workload) -> Mapping[Route, RouteUse]:
    """Routes that the runtimes of a comparison take, fastest runtime first."""
    estimates = compare(model, machine, work, runtimes=(*RUNTIMES, *beside(machine)))
    timed = [each for each in estimates if each.decode_tps is not None]
    return route_use(sorted(timed, key=lambda each: -float(each.decode_tps or 0.0)))


# Table of the constants: share or cost, value, and what it rests on.

HEADINGS = ("Constant", "Value", "Kind", "Measurements", "Cases of its own")
RANGES = ("spread", "lean", "sources")
"""Beginnings of the constants that are widths of ranges."""


def constants_rows() -> Iterator[Sequence[str]]:
    """One row for each constant: its most general value, and how many cases differ from it."""
    for rows in fitted_constants().rows.values():
        general = min((row for row in rows if row.unit != FACTOR), key=_reach)
        if not general.constant.startswith(RANGES):
            yield (
                general.note or general.constant,
                _value(general),
                general.kind,
                f"{general.rows:,}" if general.rows else "",
                f"{len(rows) - 1}" if len(rows) > 1 else "",
            )


def _reach(row: ConstantRow) -> tuple[int, int]:
    """Order: the most general scope first, then the most measurements."""
    return row.precision, -(row.rows or 0)


def _value(row: ConstantRow) -> str:
    if row.unit in ("share", "ratio", "tokens"):
        unit = "" if row.unit != "tokens" else " tokens"
        return f"{number(row.value)}{unit}"
    return quantity(row.value, row.unit)


# Table of the software that a person can state, with its published effect.

SOFTWARE_HEADINGS = (
    "Stated", "For", "Tokens", "Prompts", "Range wider", "Comparisons", "What was compared",
)  # fmt: skip
WORDS = {
    "driver": "graphics driver",
    "build": "build with",
    "kernel": "build without a kernel for",
    "experts": "experts, graphics driver",
    "numa": "policy for several sockets",
    "threads": "threads:",
}
"""Inputs in words, by the option that an effect belongs to."""


def software_rows() -> Iterator[Sequence[object]]:
    """One row for each published effect: factors on the speed of the part that it concerns."""
    for row in software_effects():
        told = (f"{row.note} (", block("oa-soft", f"{row.source}, {row.date}", "span"), ")")
        yield (
            f"{WORDS[row.option]} {DRIVER_LABELS.get(row.value, row.value)}{_versions(row)}",
            " ".join(filter(None, (row.vendor, row.family, row.backend))) or "any",
            f"{number(row.token, 2)} x",
            f"{number(row.prompt, 2)} x",
            f"{number(math.exp(row.doubt), 2)} x",
            f"{row.sources}",
            joined(block("", part, "span") for part in told),
        )


def _versions(row: SoftwareEffect) -> str:
    since = f" from {row.since}" if row.since else ""
    return f"{since} before {row.before}" if row.before else since


# Formulas of the cost model, and what they leave out.

TEXT = DATA / "pages" / "method.md"
LIMITS = "Limits"
"""Title of the last section of the text, a list."""


def general() -> None:
    """Formulas under their titles with the meaning of their symbols; the limits."""
    show(section("Formulas", "formulas"))
    *formulas, (_, limits) = sections()
    for place, (title, parts) in enumerate(formulas):
        with st.container(gap=None, key=f"formula_{place}"):
            module, *rest = parts
            html = Markup("<h3 class='oa-name' title='{}'>{}</h3>")
            show(html.format(module.replace("`", ""), title))
            for part in rest:
                if part.startswith("$$"):
                    st.latex(part.strip("$ "))
                else:
                    say(explained(part), "oa-answer")
    items = (block("", explained(limit.removeprefix("- ")), "li") for limit in limits)
    show(section(LIMITS, "limits") + block("oa-answer", joined(items), "ul"))


def sections() -> list[tuple[str, list[str]]]:
    """Titles and paragraphs of the text: of a formula its module, equations and symbols."""
    _, *parts = TEXT.read_text(encoding="utf-8").split("\n## ")
    split = (part.strip().split("\n\n") for part in parts)
    return [(title, paragraphs) for title, *paragraphs in split]


# Drawing of the five routes, with the speeds of a machine.

GPU_MEMORY, RAM, LINK, DRIVE = "GPU memory", "RAM", "link", "drive"
"""Parts of a machine whose speed limits a route."""


@dataclass(frozen=True, kw_only=True)
class RouteText:
    """Words of a route, a row of data/pages/routes.csv."""

    route: str  # value of the route
    title: str  # name on the page
    # places that the bytes pass and the parts of the machine between them, in turn; the processor
    # that computes last
    steps: str
    meaning: str  # description in a sentence or two


TEXTS = {Route(row.route): row for row in read(DATA / "pages" / "routes.csv", RouteText)}
"""Words of each route, fastest first."""


def drawing(machine: Machine, use: Mapping[Route, RouteUse], model: str) -> Markup:
    """Each route with the speeds of a machine and the runtimes that take it."""
    speeds = speeds_of(machine)
    rows = (_route(TEXTS[route], speeds, use.get(route), model) for route in TEXTS)
    return block("oa-routes", joined(rows))


def speeds_of(machine: Machine) -> dict[str, Quantity]:
    """Speeds of the parts that a machine has; of several GPUs the first one's."""
    speeds = {RAM: machine.host.bandwidth}
    if machine.gpus:
        first = machine.gpus[0]
        speeds[GPU_MEMORY] = first.bandwidth
        if not first.unified:
            speeds[LINK] = first.link.pinned
    if machine.disk is not None:
        speeds[DRIVE] = machine.disk.sequential
    return speeds


def _route(
    text: RouteText, speeds: Mapping[str, Quantity], use: RouteUse | None, model: str
) -> Markup:
    parts = [block("oa-name", text.title), _chain(text, speeds), block("oa-answer", text.meaning)]
    parts.append(block("oa-soft", explained(_used(use, model))))
    return block("oa-route", joined(parts))


def _chain(text: RouteText, speeds: Mapping[str, Quantity]) -> Markup:
    first, *rest = text.steps.split("; ")
    steps = [block("oa-place", first, "span")]
    for part, place in zip(rest[::2], rest[1::2], strict=True):
        steps += [_hop(part, speeds.get(part)), block("oa-place", place, "span")]
    return block("oa-chain", joined(steps))


def _hop(part: str, speed: Quantity | None) -> Markup:
    if speed is None:
        return block("oa-hop oa-absent", f"no {part} here", "span")
    shown = rate(float(speed.value))
    return block("oa-hop", term(shown, f"{part}: {_origin(speed)}"), "span")


def _origin(speed: Quantity) -> str:
    if speed.kind is Provenance.ASSUMED:
        return "assumed, not measured"
    return ", ".join(part for part in (speed.kind.value, speed.source, speed.date) if part)


def _used(use: RouteUse | None, model: str) -> str:
    if use is None:
        return f"No runtime takes it for {model} here."
    return f"For {model}: {rate(use.rate)} in {use.runtimes[0]}{_others(use.runtimes[1:])}."


def _others(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"; also {listed}" if listed else ""


IDEA = heading(
    "Generating a token means reading bytes:",
    " where they lie and who reads them decides the speed.",
    "oa-good-text",
)
"""Idea of the method."""


def five_routes(model: Model, machine: Machine, work: Workload) -> Markup:
    """Routes of a model on a machine."""
    told = f"Speeds of {machine.name}. Hover over one for its source."
    use = route_use_of(model, machine, work)
    drawn = drawing(machine, use, f"{model.name}, {model.format}")
    return section("Five routes", "routes") + block("oa-sub", told, "p") + drawn


def figures() -> None:
    """Constants, and factors of stated software."""
    st.subheader("Constants", anchor="constants")
    say(
        "Shares of datasheet speeds, and fixed costs. Each is fitted to published runs, measured, "
        "derived from a document, or assumed. Families of GPUs, runtimes, builds or formats that "
        "differ have values of their own. How good shows the errors that remain.", "oa-sub",
    )  # fmt: skip
    with st.expander("All constants"):
        show(table(HEADINGS, constants_rows(), label="Constants", numeric=(1, 3, 4)))
    st.subheader("Software that you state", anchor="software")
    say(
        "Factors from published comparisons for a graphics driver, a policy for several sockets, "
        "and more threads than cores. The comparisons are too few for a fit, so they also widen "
        "the range. An older build has the constants of its time.", "oa-sub",
    )  # fmt: skip
    with st.expander("All comparisons"):
        compared = software_rows()
        show(table(SOFTWARE_HEADINGS, compared, label="Software", numeric=(2, 3, 4, 5)))
