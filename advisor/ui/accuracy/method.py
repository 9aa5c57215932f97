"""Page on the method: idea, routes, formulas, limits; constants and software."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from advisor.advice.speeds import RouteUse, route_use
from advisor.catalog.constants import ConstantRow, Constants
from advisor.catalog.csv_tables import DATA, read
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.formatting import quantity, rate
from advisor.machine.backends import SoftwareEffect
from advisor.machine.machine import Machine
from advisor.model.model import Model
from advisor.runtimes import compared
from advisor.runtimes.compare import compare
from advisor.ui.parts.glossary import explained, term
from advisor.ui.parts.markup import block, heading, joined, say, section, show, table
from advisor.units import Provenance, Quantity, number

# Table of the constants: share or cost, value, and what it rests on.

HEADINGS = ("Constant", "Value", "Kind", "Measurements", "Cases of its own")
RANGES = (
    "spread",
    "sources",
    "engine_publishers",
)  # beginnings of the constants that are widths of ranges


def constants_rows() -> Iterator[Sequence[str]]:
    """Row for each constant: its most general value, and the number of cases that differ from
    it.
    """
    for rows in Constants.fitted().rows.values():
        scopes = (row for row in rows if not row.is_factor)
        general = min(scopes, key=lambda row: (row.precision, -(row.rows or 0)))
        if not general.constant.startswith(RANGES):
            yield (
                general.note or general.constant,
                _value(general),
                general.kind,
                f"{general.rows:,}" if general.rows else "",
                f"{len(rows) - 1}" if len(rows) > 1 else "",
            )


def _value(row: ConstantRow) -> str:
    """Value of a constant with its unit; shares and ratios have none."""
    if row.unit == "tokens":
        return f"{number(row.value)} tokens"
    if row.unit in ("share", "ratio"):
        return number(row.value)
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
    """Rows of published effects of software, as factors on the speed of a part."""
    for row in SoftwareEffect.rows():
        told = (f"{row.note} (", block("oa-soft", f"{row.source}, {row.date}", "span"), ")")
        yield (
            f"{WORDS[row.option]} {row.label}"
            + (f" from {row.since}" if row.since else "")
            + (f" before {row.before}" if row.before else ""),
            " ".join(filter(None, (row.vendor, row.family, row.backend))) or "any",
            f"{number(row.token, 2)} x",
            f"{number(row.prompt, 2)} x",
            f"{number(math.exp(row.doubt), 2)} x",
            f"{row.sources}",
            joined(block("", part, "span") for part in told),
        )


# Formulas of the cost model, and what they leave out.

TEXT = DATA / "pages" / "method.md"
LIMITS = "Limits"  # title of the last section of the text, a list


def general() -> None:
    """Show the formulas with the meaning of their symbols, and the limits."""
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

GPU_MEMORY = "GPU memory"
RAM = "RAM"
LINK = "link"
DRIVE = "drive"
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


def speeds_of(machine: Machine) -> dict[str, Quantity]:
    """Speeds of the parts of a machine; of several GPUs those of the first."""
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
    first, *rest = text.steps.split("; ")
    steps = [block("oa-place", first, "span")]
    for part, place in zip(rest[::2], rest[1::2], strict=True):
        steps += [_hop(part, speeds.get(part)), block("oa-place", place, "span")]
    used = f"No runtime takes it for {model} here."
    if use is not None:
        if use.runtimes[1:]:
            others = f"; also {', '.join(use.runtimes[1:])}"
        else:
            others = ""
        used = f"For {model}: {rate(use.rate)} in {use.runtimes[0]}{others}."
    parts = [block("oa-name", text.title), block("oa-chain", joined(steps))]
    parts += [block("oa-answer", text.meaning), block("oa-soft", explained(used))]
    return block("oa-route", joined(parts))


def _hop(part: str, speed: Quantity | None) -> Markup:
    if speed is None:
        return block("oa-hop oa-absent", f"no {part} here", "span")
    origin = ", ".join(filter(None, (speed.kind.value, speed.source, speed.date)))
    if speed.kind is Provenance.ASSUMED:
        origin = "assumed, not measured"
    return block("oa-hop", term(rate(float(speed.value)), f"{part}: {origin}"), "span")


IDEA = heading(
    "Generating a token means reading bytes:",
    " where they lie and who reads them decides the speed.",
    "oa-good-text",
)
"""Idea of the method."""


def five_routes(model: Model, machine: Machine, work: Workload) -> Markup:
    """Routes of a model on a machine."""
    estimates = compare(model, machine, work, runtimes=compared(machine))
    timed = [each for each in estimates if each.decode_tps is not None]
    use = route_use(sorted(timed, key=lambda each: -float(each.decode_tps or 0.0)))
    speeds = speeds_of(machine)
    name = f"{model.name}, {model.format}"
    rows = joined(_route(TEXTS[route], speeds, use.get(route), name) for route in TEXTS)
    told = block("oa-sub", f"Speeds of {machine.name}. Hover over one for its source.", "p")
    return section("Five routes", "routes") + told + block("oa-routes", rows)


def figures() -> None:
    """Show constants, and factors of stated software."""
    st.subheader("Constants", anchor="constants")
    say(
        "Shares of datasheet speeds, and fixed costs. Each is fitted to published runs, measured, "
        "derived from a document, or assumed. Families of GPUs, runtimes, builds or formats that "
        "differ have values of their own. How good shows the errors that remain.",
        "oa-sub",
    )
    with st.expander("All constants"):
        show(table(HEADINGS, constants_rows(), label="Constants", numeric=(1, 3, 4)))
    st.subheader("Software that you state", anchor="software")
    say(
        "Factors from published comparisons for a graphics driver, a policy for several sockets, "
        "and more threads than cores. The comparisons are too few for a fit, so they also widen "
        "the range. An older build has the constants of its time.",
        "oa-sub",
    )
    with st.expander("All comparisons"):
        compared = software_rows()
        show(table(SOFTWARE_HEADINGS, compared, label="Software", numeric=(2, 3, 4, 5)))
