"""One machine on the Calibrate page: gauges, curves, effect on predictions, history."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import streamlit as st

from advisor.calibration import imported_store
from advisor.calibration.imported_store import THIS
from advisor.calibration.local_machine import Calibration
from advisor.errors import AdvisorError
from advisor.formatting import moment, quantity, rate
from advisor.probes.measurement import UNSTEADY, Measurement, title
from advisor.reports.charts import LineChart
from advisor.ui.calibrate import brought, effect, gauges, machine_list, measure, running_server
from advisor.ui.parts import audience, tabs
from advisor.ui.parts.drawing import lines
from advisor.ui.parts.markup import block, heading, notice, say, show, table

RATE = "B/s"


def choose() -> str:
    """Chosen machine, of the address; this one if there is no other."""
    names = (THIS, *imported_store.names())
    chosen = st.query_params.get(machine_list.MEASURED, THIS)
    if chosen not in names:
        notice(f"No machine called {chosen[:80]!r} was measured or brought here", "warning")
        chosen = THIS
    if len(names) > 1:
        st.session_state[_MACHINE] = chosen
        st.selectbox(
            "Machine", names, format_func=machine_list.title, key=_MACHINE,
            on_change=lambda: machine_list.show_machine(st.session_state[_MACHINE]),
        )  # fmt: skip
    return chosen


MEASURED, CURVES, EFFECT, HISTORY, RUNNING, RUNS, MACHINES, OTHER = (
    "Beside the datasheet", "Curves", "Effect on predictions", "Every measurement",
    "A running server", "Runs of others", "Measured machines", "Another computer",
)  # fmt: skip
TAB, _MACHINE = "machine_tab", "calibrate_machine"


def view(name: str) -> None:
    """Sentence, what is measured, and tabs with everything known of a machine."""
    try:
        known = _known(name)
        seen = imported_store.probed(name).fingerprint
    except AdvisorError as error:
        known, seen = Calibration(notes=(str(error),)), None
    latest = known.measurements
    marks = gauges.marks(latest, None if known.changed else seen)
    who = machine_list.title(name)
    first, rest = (
        _verdict(who, latest, marks)
        if latest
        else (f"{who} was never measured:", " typical figures count.")
    )
    with st.container(key="idea"):
        show(heading(first, rest, "oa-good-text" if latest else "oa-partly-text"))
    if name == THIS:
        measure.section()
    for note in known.notes:
        notice(note, "warning")
    if latest and known.stale:
        unused = " Until then typical figures are used." if known.changed else ""
        notice(known.stale + unused, "warning")
    of_measured = (
        _of_measured(name, known, marks) if latest else {MEASURED: lambda: say(TO_MEASURE)}
    )
    others = {MACHINES: machine_list.section, OTHER: machine_list.bring}
    if not audience.is_public():
        others = {RUNS: brought.section, **others}
    if name == THIS and audience.probes():
        others = {RUNNING: running_server.section, **others}
    tabs.opened({**of_measured, **others}, TAB)


TO_MEASURE = (
    "RAM, drive, copies to the GPU and llama.cpp are measured; each then stands here beside its "
    "datasheet."
)


def _of_measured(
    name: str, known: Calibration, marks: Mapping[str, gauges.GaugeMark]
) -> dict[str, Callable[[], None]]:
    """Tabs of a machine that was measured."""
    latest = known.measurements
    bodies: dict[str, Callable[[], None]] = {MEASURED: lambda: _measured(latest, marks)}
    if drawn := gauges.curves(latest):
        bodies[CURVES] = lambda: _beside(drawn)
    if not known.changed:
        bodies[EFFECT] = lambda: effect.section(name, known)
    bodies[HISTORY] = lambda: _history(known.history)
    return bodies


def _known(name: str) -> Calibration:
    """Saved measurements, and those of this session that could not be saved."""
    known = imported_store.measured(name)
    job = measure.unsaved() if name == THIS else None
    if job is None:
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
            "off by about as much", "warning",
        )  # fmt: skip
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
    text = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    text = f"reads {text}" if text.startswith("its") else text
    ram, mark = latest.get("ram_read"), marks.get("ram_read")
    if ram is None or mark is None:
        return who, f" {text}."
    return who, f" {text}: RAM at {100 * ram.value / mark.value:.0f} % of its datasheet."


def _beside(charts: Sequence[LineChart]) -> None:
    for column, chart in zip(st.columns(len(charts)), charts, strict=True):
        with column:
            show(block("oa-strong", chart.title))
            show(lines(chart))


def _history(history: Sequence[Measurement]) -> None:
    if again := gauges.measured_again(history):
        _beside([gauges.over_time(name, history) for name in again])
    rows = (
        (
            title(measurement.name), quantity(measurement.value, measurement.unit),
            f"{100 * measurement.spread:.0f} %", moment(measurement.when), measurement.note,
        )
        for measurement in reversed(history)
    )  # fmt: skip
    headings = ("What", "Measured", "Repeats within", "When", "How")
    show(table(headings, rows, label="Every measurement, newest first", numeric=(1, 2)))
