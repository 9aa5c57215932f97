"""Measured machine on the page Your machine: gauges, curves, effect on predictions, history."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from advisor.calibration import imported_names, imported_store
from advisor.calibration.imported_names import THIS
from advisor.calibration.imported_store import named_machine
from advisor.calibration.local_machine import Calibration
from advisor.cost_model.estimate import Estimate
from advisor.cost_model.workload import Workload
from advisor.errors import AdvisorError
from advisor.formatting import moment, quantity, rate
from advisor.model import catalog, resolve
from advisor.model.model import Model
from advisor.paths import data_folder
from advisor.permission import permitted
from advisor.probes import suite
from advisor.probes.measurement import UNSTEADY, Measurement, title
from advisor.reports.charts import LineChart
from advisor.request.request import Request
from advisor.runtimes import LLAMA_CPP
from advisor.runtimes.compare import compare, decode_tps, usable
from advisor.ui.calibrate import brought, gauges, machine_list, running_server
from advisor.ui.parts import audience, tabs
from advisor.ui.parts.drawing import lines
from advisor.ui.parts.markup import (
    block,
    columned,
    heading,
    notice,
    plain_words,
    say,
    show,
    table,
    two_lines,
)
from advisor.ui.question import current, this_machine
from advisor.ui.question.models import pick
from advisor.units import GB, Quantity, memory, seconds, tokens_per_second

RATE = "B/s"


def choose() -> str:
    """Machine that the address names; this one where it names none."""
    names = (THIS, *imported_names.names())
    chosen = st.query_params.get(machine_list.MEASURED, THIS)
    if chosen not in names:
        notice(f"No machine called {chosen[:80]!r} was measured or brought here", "warning")
        chosen = THIS
    if len(names) > 1:
        st.session_state[_MACHINE] = chosen
        st.selectbox(
            "Machine",
            names,
            format_func=machine_list.title,
            key=_MACHINE,
            on_change=lambda: machine_list.show_machine(st.session_state[_MACHINE]),
        )
    return chosen


MEASURED = "Beside the datasheet"
CURVES = "Curves"
EFFECT = "Effect on predictions"
HISTORY = "Every measurement"
RUNNING = "A running server"
RUNS = "Runs of others"
MACHINES = "Measured machines"
OTHER = "Another computer"
TAB = "machine_tab"
_MACHINE = "calibrate_machine"
PACE = "calibrate_pace"
LITTLE_SPACE = 10 * GB  # free space below which writing a test file is worth a warning [B]
POLITE = (
    "It takes at most a quarter of the free memory, and on the drive a temporary file that is "
    "removed again. The other pages can be used meanwhile."
)


def view(name: str) -> None:
    """Show a machine, where visitors may see it."""
    if permitted().here:
        _shown(name)
    else:
        _hidden()


def _shown(name: str) -> None:
    """Sentence, what is measured, and tabs with everything known of a machine."""
    try:
        known = _known(name)
        seen = imported_store.probed(name).fingerprint
    except AdvisorError as error:
        known = Calibration(notes=(str(error),))
        seen = None
    latest = known.measurements
    marks = gauges.marks(latest, None if known.changed else seen)
    who = machine_list.title(name)
    first, rest = (
        _verdict(who, latest, marks)
        if latest
        else (f"{who} was never measured:", " its speeds are typical ones of such parts.")
    )
    with st.container(key="idea"):
        show(heading(first, rest, "oa-good-text" if latest else "oa-partly-text"))
    if name == THIS and audience.probes():
        this_machine.measure("calibrate", _offer)
    elif name == THIS:
        elsewhere = "" if audience.is_public() else f"; {OTHER} takes its result"
        notice(
            "Measuring is switched off on this server. Your own computer is measured by the "
            f"program there{elsewhere}",
            "warning",
        )
    for note in known.notes:
        notice(note, "warning")
    if latest and known.stale:
        unused = " Until then typical figures are used." if known.changed else ""
        notice(known.stale + unused, "warning")
    of_measured = (
        _of_measured(name, known, marks) if latest else {MEASURED: lambda: _unmeasured(name)}
    )
    others = {MACHINES: machine_list.section, OTHER: machine_list.bring}
    if not audience.is_public():
        others = {RUNS: brought.section, **others}
    if name == THIS and audience.probes() and not audience.is_public():
        others = {RUNNING: running_server.section, **others}
    tabs.opened({**of_measured, **others}, TAB)


def _hidden() -> None:
    """Notice in place of the server's own computer and its machines, where these are not shown."""
    with st.container(key="idea"):
        show(heading("Not shown:", " the computer of this server.", "oa-partly-text"))
    notice(
        "Measuring is switched off on this server. Your own computer is measured by the program "
        "there",
        "warning",
    )
    tabs.opened({OTHER: machine_list.bring}, TAB)


def _offer() -> None:
    """Choice of probes, and the button that starts them."""
    choice, button = st.columns([2, 1], vertical_alignment="bottom")
    paces = {
        f"Quick, about {sum(suite.QUICK.values()):.0f} s": False,
        f"Full, about {sum(suite.FULL.values()):.0f} s": True,
    }
    choice.radio(
        "How thoroughly",
        list(paces),
        horizontal=True,
        key=PACE,
        persist_state="session",
        help="The full pass repeats more often and draws every point of the curves.",
    )
    button.button(
        "Measure this machine",
        type="primary",
        icon=":material/speed:",
        width="stretch",
        key="calibrate_start",
        on_click=lambda: this_machine.start(tuple(suite.QUICK), full=paces[st.session_state[PACE]]),
    )
    say(POLITE)
    free = free_space(data_folder())
    if free is not None and free < LITTLE_SPACE:
        notice(
            f"Only {memory(free)} is free on the drive; it is read with a smaller file, and less "
            "exactly",
            "warning",
        )


def free_space(folder: Path) -> float | None:
    """Free space on the drive of a folder, which may not exist yet; None where unknown [B]."""
    there = next((existing for existing in (folder, *folder.parents) if existing.exists()), None)
    try:
        if there is None:
            return None
        return float(shutil.disk_usage(there).free)
    except OSError:
        return None


TO_MEASURE = (
    "RAM, drive, copies to the GPU and llama.cpp are measured; each then stands here beside its "
    "datasheet."
)


def _unmeasured(name: str) -> None:
    """Figures that predictions count with until they are measured, and where they come from."""
    say(TO_MEASURE)
    try:
        machine = named_machine(name)
    except AdvisorError as error:
        notice(str(error), "warning")
        return
    figures = [("RAM, read by the processor", machine.host.bandwidth, "ram")]
    if machine.disk is not None:
        figures.append((f"Drive ({machine.disk.name})", machine.disk.sequential, "disk"))
    for gpu in machine.gpus:
        figures.append((f"Memory of {gpu.name}", gpu.bandwidth, "gpu"))
        if not gpu.unified:
            figures.append((f"Copies to {gpu.name}", gpu.link.pinned, "gpu"))
    rows = (
        (
            two_lines(what, plain_words(", ".join(filter(None, _origin(figure))))),
            two_lines(rate(float(figure.value)), f"measured in {seconds(suite.QUICK[part])}"),
        )
        for what, figure, part in figures
    )
    headings = ("Until then counted with", "Speed")
    show(table(headings, rows, label="Figures that are not measured yet", numeric=(1,)))


def _origin(figure: Quantity) -> tuple[str, str, str]:
    """Kind, source and date of a figure."""
    return figure.kind.value, figure.source, figure.date


def _of_measured(
    name: str, known: Calibration, marks: Mapping[str, gauges.GaugeMark]
) -> dict[str, Callable[[], None]]:
    """Tabs of a machine that was measured."""
    latest = known.measurements
    bodies: dict[str, Callable[[], None]] = {MEASURED: lambda: _measured(latest, marks)}
    if drawn := gauges.curves(latest):
        bodies[CURVES] = lambda: _beside(drawn)
    if not known.changed:
        bodies[EFFECT] = lambda: _effect(name, known)
    bodies[HISTORY] = lambda: _history(known.history)
    return bodies


def _known(name: str) -> Calibration:
    """Saved measurements, and those of this session that could not be saved."""
    known = imported_store.measured(name)
    if name == THIS:
        job = this_machine.mine()
    else:
        job = None
    if job is None or not job.unsaved:
        return known
    fresh = {measurement.name: measurement for measurement in job.measurements}
    return replace(known, measurements={**known.measurements, **fresh}, changed=False, stale="")


def _measured(latest: Mapping[str, Measurement], marks: Mapping[str, gauges.GaugeMark]) -> None:
    wide = [measurement for measurement in latest.values() if measurement.spread > UNSTEADY]
    if wide:
        named = ", ".join(f"{title(own.name)} {100 * own.spread:.0f} %" for own in wide[:4])
        notice(
            f"Repeats differ widely ({named}, each way). Other programs were running, or the "
            "machine is shared. Measure again when it is idle; until then expect predictions to be "
            "off by about as much",
            "warning",
        )
    rates = [measurement for measurement in latest.values() if measurement.unit == RATE]
    show(gauges.gauges(rates, marks))
    say("Bar: measured. Upright mark: the figure named under it.", "oa-caption")


def _verdict(
    who: str, latest: Mapping[str, Measurement], marks: Mapping[str, gauges.GaugeMark]
) -> tuple[str, str]:
    """Coloured words and the words after them."""
    sentences = {
        "ram_read": "reads its RAM at {}",
        "disk_read_direct": "its drive at {}",
        "h2d_pinned": "copies to its GPU at {}",
    }
    parts = [
        words.format(rate(latest[figure].value))
        for figure, words in sentences.items()
        if figure in latest
    ]
    if not parts:
        return who, " was measured."
    if len(parts) == 1:
        text = parts[0]
    else:
        text = f"{', '.join(parts[:-1])} and {parts[-1]}"
    if text.startswith("its"):
        text = f"reads {text}"
    ram = latest.get("ram_read")
    mark = marks.get("ram_read")
    if ram is None or mark is None:
        return who, f" {text}."
    return who, f" {text}: RAM at {100 * ram.value / mark.value:.0f} % of its datasheet."


def _beside(charts: Sequence[LineChart]) -> None:
    for column, chart in zip(st.columns(len(charts)), charts, strict=True):
        with column:
            show(block("oa-strong", chart.title))
            show(lines(chart))


def _history(history: Sequence[Measurement]) -> None:
    if again := list(gauges.over_time(history)):
        _beside(again)
    rows = (
        (
            title(measurement.name),
            quantity(measurement.value, measurement.unit),
            f"{100 * measurement.spread:.0f} %",
            moment(measurement.when),
            measurement.note,
        )
        for measurement in reversed(history)
    )
    headings = ("What", "Measured", "Repeats within", "When", "How")
    show(table(headings, rows, label="Every measurement, newest first", numeric=(1, 2)))


# Effect of the measurements on the prediction: the last request with and without them.

SAME = 0.01  # change of a speed that nobody would notice


@dataclass(frozen=True, kw_only=True)
class SpeedChange:
    """Speed in one placement, without and with the measurements."""

    placement: str  # title of the placement
    before: float | None  # speed with typical figures; None where the model does not fit [tokens/s]
    after: float | None  # speed with measured figures; None where the model does not fit [tokens/s]

    @property
    def words(self) -> str:
        """Words on the change."""
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


def _effect(name: str, measured: Calibration) -> None:
    """Speeds of a runtime in each placement, without and with the measurements."""
    request = current.present()
    try:
        model, work = _last_request(request)
        runtime = request.nouns().runtime or LLAMA_CPP
        before, after = (
            compare(model, named_machine(name, measured=figures), work, runtimes=[runtime])
            for figures in (Calibration(), measured)
        )
    except AdvisorError as error:
        notice(str(error), "warning")
        return
    differences = [
        SpeedChange(placement=now.strategy.heading, before=_speed(then), after=_speed(now))
        for then, now in zip(before, after, strict=True)
    ]
    say(sentence(f"{model.name}, {model.format}", differences), "oa-verdict")
    show(columned(COLUMNS, differences, label="Prediction before and after", numeric=(1, 2)))
    say(f"Decode speed in {runtime.name}, with the request last asked on Advise.")


def _speed(estimate: Estimate) -> float | None:
    if usable([estimate]):
        return decode_tps(estimate)
    return None


def _last_request(request: Request) -> tuple[Model, Workload]:
    """Model and request of the visitor's question, a usual one, or one of a model that is picked
    here.
    """
    model = resolve.find(current.MODEL).model
    work = Workload()
    with suppress(AdvisorError):
        resolved = pick(request.model).in_format(request.format)
        model = resolved.model
        work = request.nouns(resolved).work
    names = (model.name, *(other for other in catalog.model_rows() if other != model.name))
    name = st.selectbox(
        "Model",
        names,
        key="effect_model",
        help="Model of the last comparison on Advise; another one can be chosen here.",
    )
    same = name not in names or name == model.name
    return model if same else resolve.find(name, model.format).model, work


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
