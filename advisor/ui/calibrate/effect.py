"""Effect of the measurements on the prediction: the last request with and without them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from advisor.advice.compare import TITLES, compare, decode_tps, usable
from advisor.calibration.imported_store import named_machine
from advisor.calibration.local_machine import Calibration
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError
from advisor.formatting import tokens_per_second
from advisor.model import catalog, resolve
from advisor.model.model import Model
from advisor.runtimes import LLAMA_CPP, Runtime
from advisor.ui.parts.markup import columned, notice, say, show
from advisor.ui.question import current
from advisor.ui.question.models import pick

SAME = 0.01
"""Change of a speed that nobody would notice."""


@dataclass(frozen=True, kw_only=True)
class SpeedChange:
    """Speed in one placement, without and with the measurements."""

    placement: str  # title of the placement
    before: float | None  # speed with typical figures; None where the model does not fit [tokens/s]
    after: float | None  # speed with measured figures; None where the model does not fit [tokens/s]

    @property
    def words(self) -> str:
        """Change in words."""
        if self.before is None or self.after is None:
            return "does not fit"
        ratio = self.after / self.before
        if abs(ratio - 1) < SAME:
            return "no change"
        return f"{100 * abs(ratio - 1):.0f} % {'faster' if ratio > 1 else 'slower'}"


COLUMNS: Mapping[str, Callable[[SpeedChange], object]] = {
    "Placement": lambda change: change.placement,
    "As measured": lambda change: tokens_per_second(change.after) if change.after else "",
    "As assumed": lambda change: tokens_per_second(change.before) if change.before else "",
    "Change": lambda change: change.words,
}


def last_request() -> tuple[Model, Workload]:
    """Model and request of the visitor's question; a usual one where that has no answer."""
    request = current.present()
    with suppress(AdvisorError):
        resolved = pick(request.model).in_format(request.format)
        return resolved.model, request.nouns(resolved).work
    return resolve.find(current.MODEL).model, Workload()


def changes(
    model: Model, work: Workload, name: str, measured: Calibration, runtime: Runtime = LLAMA_CPP
) -> list[SpeedChange]:
    """Speeds in each placement of a runtime, without and with the measurements; raises AdvisorError
    where too little is known of the machine.
    """
    before, after = (
        compare(model, named_machine(name, measured=known), work, runtimes=[runtime])
        for known in (Calibration(), measured)
    )
    return [
        SpeedChange(placement=TITLES[now.strategy], before=_speed(then), after=_speed(now))
        for then, now in zip(before, after, strict=True)
    ]


def _speed(estimate: Estimate) -> float | None:
    return decode_tps(estimate) if usable([estimate]) else None


def section(name: str, measured: Calibration) -> None:
    """Table and summary."""
    model, work = _chosen(*last_request())
    try:
        runtime = current.present().nouns().runtime or LLAMA_CPP
        differences = changes(model, work, name, measured, runtime)
    except AdvisorError as error:
        notice(str(error), "warning")
        return
    say(sentence(f"{model.name}, {model.format}", differences), "oa-verdict")
    show(columned(COLUMNS, differences, label="Prediction before and after", numeric=(1, 2)))
    say(f"Decode speed in {runtime.name}, with the request last asked on Advise.")


def _chosen(model: Model, work: Workload) -> tuple[Model, Workload]:
    """Another model of the catalogue, if one is picked."""
    names = (model.name, *(other for other in catalog.model_rows() if other != model.name))
    name = st.selectbox(
        "Model", names, key="effect_model",
        help="Model of the last comparison on Advise; another one can be chosen here.",
    )  # fmt: skip
    if name not in names or name == model.name:
        return model, work
    return resolve.find(name, model.format).model, work


def sentence(model: str, changes: Sequence[SpeedChange]) -> str:
    """Change of the fastest placement, in words."""
    both = [change for change in changes if change.before and change.after]
    if not both:
        return f"{model} fits nowhere on this machine; a smaller model would show the change."
    fastest = max(both, key=lambda change: change.after or 0.0)
    before, after = (tokens_per_second(speed or 0.0) for speed in (fastest.before, fastest.after))
    where = fastest.placement.replace("Offload", "offloaded").replace("In the", "in the")
    if before == after:
        return f"{model}, {where}: {after}, as was assumed before measuring."
    return f"{model}, {where}: {after}, was {before} assumed ({fastest.words})."
