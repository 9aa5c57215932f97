"""Drawing of the five routes, with the speeds of a machine."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from advisor.advice.route_use import RouteUse
from advisor.cost_model.schedule import Route
from advisor.formatting import rate
from advisor.machine.machine import Machine
from advisor.machine.quantity import Provenance, Quantity
from advisor.ui.parts.glossary import explained, term
from advisor.ui.parts.markup import block, joined

GPU_MEMORY, RAM, LINK, DRIVE = "GPU memory", "RAM", "link", "drive"
"""Parts of a machine whose speed limits a route."""


@dataclass(frozen=True, kw_only=True)
class RouteText:
    """Words of a route.

    Attributes:
        title: name on the page.
        places: places that the bytes pass, the processor that computes last.
        parts: parts of the machine between them, one fewer.
        meaning: description in a sentence or two.
    """

    title: str
    places: tuple[str, ...]
    parts: tuple[str, ...]
    meaning: str


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
    """Each route with the speeds of a machine and the runtimes that take it.

    Args:
        machine: machine that the speeds are of.
        use: use of the routes for a model.
        model: name of the model and its format.
    """
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
