"""How it works: idea, routes, formulas, limits; constants and software."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from advisor.advice.compare import compare
from advisor.advice.speeds import RouteUse, route_use
from advisor.catalog.constants import FACTOR, ConstantRow, fitted_constants
from advisor.cost_model.schedule import Route
from advisor.cost_model.workload import Workload
from advisor.formatting import number, quantity, rate
from advisor.machine.backends import DRIVER_LABELS, SoftwareEffect, software_effects
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.model.model import Model
from advisor.runtimes import RUNTIMES, beside
from advisor.ui.parts.glossary import explained, term
from advisor.ui.parts.markup import block, heading, joined, section, show, table

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
    "Stated",
    "For",
    "Tokens",
    "Prompts",
    "Range wider",
    "Comparisons",
    "What was compared",
)
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


# Formulas of the cost model, as the page sets them.


@dataclass(frozen=True, kw_only=True)
class Formula:
    """A formula with its meaning."""

    title: str  # quantity
    latex: tuple[str, ...]  # the formula in LaTeX, a text for each equation
    symbols: str  # meaning of its symbols, in sentences
    module: str  # file of the program that computes it


FORMULAS = (
    Formula(
        title="Bytes that a step reads",
        latex=(
            r"B = W_\text{dense} + \Bigl(1 - \bigl(1 - \tfrac{k}{E}\bigr)^{n}\Bigr)"
            r"\,W_\text{experts} + n\,K(d)",
        ),
        symbols="Dense weights are read once for all n tokens of a step. Of E routed experts each "
        "token picks k, so this share is read. Each of n sequences reads its own cache, d tokens "
        "deep. Of the token table each token reads one row.",
        module="advisor/model/model.py",
    ),
    Formula(
        title="KV cache of a sequence",
        latex=(
            r"K(d) = \sum_{\text{layers}} 2\,h_\text{kv}\,d_\text{head}\,"
            r"\min(d,\ \text{window})\,b",
        ),
        symbols="Keys and values of h heads, each of d numbers with b bytes; a layer with a "
        "sliding window keeps no more than that. Compressed attention keeps one shorter vector for "
        "each token, and layers with a state keep the same bytes whatever the depth.",
        module="advisor/model/model.py",
    ),
    Formula(
        title="Time on a route",
        latex=(
            r"t_\text{route} = \max\Bigl(\frac{W}{s\,S},\ \frac{F}{c\,C}\Bigr)"
            r" + \max\Bigl(\frac{K}{s_K\,S},\ \frac{F_a}{c_a\,C}\Bigr) + L\,\tau",
        ),
        symbols="Weights W over the bandwidth S, or the work F on them over the arithmetic speed "
        "C, whichever takes longer; the same for the cache K and attention; then a fixed cost for "
        "each of L layers. "
        "S and C are from datasheets or measured here; s and c are the shares of them that "
        "published runs reach.",
        module="advisor/cost_model/processors.py",
    ),
    Formula(
        title="Time of a token",
        latex=(
            r"t_\text{token} = \sum_{\text{stages}}\ \max_{\text{routes of the stage}}"
            r" t_\text{route} + x\,t_\text{crossing} + t_0",
            r"v = \frac{1}{t_\text{token}}",
        ),
        symbols="Routes in one stage overlap, so the slowest counts; routes that draw on the same "
        "RAM share its bandwidth. Stages follow each other and add, with x hand-overs between "
        "processors and a fixed cost of the step.",
        module="advisor/cost_model/timing.py",
    ),
    Formula(
        title="First token and whole reply",
        latex=(
            r"t_\text{first} = \Bigl\lceil \frac{P}{u} \Bigr\rceil\, t_\text{step}(u)",
            r"t_\text{reply} = t_\text{first} + N\,t_\text{token}",
        ),
        symbols="A prompt of P tokens is read in micro-batches of u, each of which reads the "
        "weights once; N tokens are generated after it. Several GPUs that hold different layers "
        "overlap on the micro-batches in part. Serving engines are timed kernel by kernel.",
        module="advisor/cost_model/estimate.py",
    ),
    Formula(
        title="Range",
        latex=(
            r"v_\text{low} = v\,e^{-q_\text{below}}",
            r"v_\text{high} = v\,e^{\,q_\text{above}}",
        ),
        symbols="The widths q hold four in five of the published figures, each predicted from "
        "constants that were fitted without its source and machine. They are wider where fewer "
        "sources measured, and lean to the slow side where runs do.",
        module="advisor/cost_model/uncertainty.py",
    ),
    Formula(
        title="Hours and money",
        latex=(
            r"h = \frac{r}{3600}\,\Bigl(t_\text{first} + \frac{N_\text{thought}}{v} + "
            r"\max\bigl(0,\ \tfrac{N}{v} - \tfrac{N}{v_\text{read}}\bigr)\Bigr)",
            r"w = \frac{c_\text{option} - c_\text{now}}{h_\text{now} - h_\text{option}}",
        ),
        symbols="Of r replies a month, only the time that a reader waits counts as lost hours h. "
        "An option that costs c a month pays if an hour of the reader is worth more than w.",
        module="advisor/advice/",
    ),
)
"""Formulas in the order of a computation."""


def shown() -> None:
    """Each formula under its title, then the meaning of its symbols."""
    for place, formula in enumerate(FORMULAS):
        with st.container(gap=None, key=f"formula_{place}"):
            title = Markup("<h3 class='oa-name' title='Computed in {}'>{}</h3>")
            show(title.format(formula.module, formula.title))
            for equation in formula.latex:
                st.latex(equation)
            show(block("oa-answer", explained(formula.symbols), "p"))


# Drawing of the five routes, with the speeds of a machine.

GPU_MEMORY, RAM, LINK, DRIVE = "GPU memory", "RAM", "link", "drive"
"""Parts of a machine whose speed limits a route."""


@dataclass(frozen=True, kw_only=True)
class RouteText:
    """Words of a route."""

    title: str  # name on the page
    places: tuple[str, ...]  # places that the bytes pass, the processor that computes last
    parts: tuple[str, ...]  # parts of the machine between them, one fewer
    meaning: str  # description in a sentence or two


TEXTS = {
    Route.RESIDENT: RouteText(
        title="Held in GPU memory",
        places=("GPU memory", "GPU"),
        parts=(GPU_MEMORY,),
        meaning="The GPU reads its own memory. Nothing is faster.",
    ),
    Route.IN_PLACE: RouteText(
        title="Read in RAM by the processor",
        places=("RAM", "Processor"),
        parts=(RAM,),
        meaning="The processor reads the weights where they lie and computes there; only small "
        "intermediate results cross to the GPU.",
    ),
    Route.STREAMED: RouteText(
        title="Copied over the link",
        places=("RAM", "GPU memory", "GPU"),
        parts=(LINK, GPU_MEMORY),
        meaning="Every step copies the weights to the GPU, which computes. It pays where one copy "
        "serves many tokens: a long prompt, or many users at the same time.",
    ),
    Route.PAGED: RouteText(
        title="Paged in from a mapped file",
        places=("Drive", "RAM", "Processor"),
        parts=(DRIVE, RAM),
        meaning="What RAM has no room for is read from the file again for every token, page by "
        "page.",
    ),
    Route.STAGED: RouteText(
        title="Staged from the drive",
        places=("Drive", "RAM", "GPU memory", "GPU"),
        parts=(DRIVE, LINK, GPU_MEMORY),
        meaning="The runtime reads its own files in large pieces and hands them on to the GPU.",
    ),
}
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
    steps = [block("oa-place", text.places[0], "span")]
    for part, place in zip(text.parts, text.places[1:], strict=True):
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


LIMITS = (
    "A text uses some experts more often than others, as published caches of experts show; "
    "several users together, with texts of their own, are taken to use all alike.",
    "The speed is a sustained one: a hot laptop, a power limit or other programs lower it. The "
    "range covers the usual extent of this.",
    "Other traffic on the link, between GPUs and on the drive is not counted.",
    "Loading the model is a plain read of the file, without compiling kernels and warming up.",
    "The web server and tokenizer of a serving engine are not counted.",
    "The quality of answers is not predicted; scores and losses are published ones.",
)
"""What the formulas leave out, a sentence or two each."""


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


def general() -> None:
    """Formulas and limits."""
    show(section("Formulas", "formulas"))
    shown()
    limits = block("oa-answer", joined(block("", explained(limit), "li") for limit in LIMITS), "ul")
    show(section("Limits", "limits") + limits)


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
        rows = constants_rows()
        show(table(HEADINGS, rows, label="Constants", numeric=(1, 3, 4)))
    st.subheader("Software that you state", anchor="software")
    show(
        block(
            "oa-sub", "Factors from published comparisons for a graphics driver, a policy for "
            "several sockets, and more threads than cores. The comparisons are too few for a fit, "
            "so they also widen the range. An older build has the constants of its time.", "p",
        )
    )  # fmt: skip
    with st.expander("All comparisons"):
        compared = software_rows()
        show(table(SOFTWARE_HEADINGS, compared, label="Software", numeric=(2, 3, 4, 5)))
