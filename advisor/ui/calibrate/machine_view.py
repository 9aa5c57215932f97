"""One machine on the Calibrate page: gauges, curves, effect on predictions, history."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st
from markupsafe import Markup

from advisor.calibration import imported_store
from advisor.calibration.imported_store import THIS
from advisor.calibration.local_machine import Calibration
from advisor.calibration.measurement_file import Fingerprint
from advisor.errors import AdvisorError
from advisor.formatting import moment, quantity, rate
from advisor.probes.measurement import UNSTEADY, Measurement
from advisor.ui.calibrate import curves, effect, gauges, machine_list, measure
from advisor.ui.parts import probe_job
from advisor.ui.parts.markup import block, notice, show, table
from advisor.ui.parts.points import draw

EMPTY = Markup(
    "<div class='oa-empty'><b>Never measured</b><br>Predictions use typical figures until then."
    "</div>"
)
RATE = "B/s"


def choose() -> str:
    """Chosen machine; this one if there is no other."""
    others = imported_store.names()
    if not others:
        return THIS
    return str(
        st.selectbox(
            "Machine", (THIS, *others), format_func=machine_list.title, key=machine_list.CHOSEN
        )
    )


def view(name: str) -> None:
    """Everything known of a machine.

    Args:
        name: name in `named_machines`.
    """
    try:
        known = _known(name)
        seen = imported_store.probed(name).fingerprint
    except AdvisorError as error:
        notice(str(error), "error")
        return
    for note in known.notes:
        notice(note, "warning")
    if not known.measurements:
        show(EMPTY)
        return
    if known.stale:
        unused = " Until then typical figures are used." if known.changed else ""
        notice(known.stale + unused, "warning")
    _measured(machine_list.title(name), known, None if known.changed else seen)
    if not known.changed:
        effect.section(name, known)
    _history(known.history)


def _known(name: str) -> Calibration:
    """Saved measurements, and those of this session that could not be saved."""
    known = imported_store.measured(name)
    job = measure.unsaved() if name == THIS else None
    if job is None:
        return known
    return replace(
        known,
        measurements={
            **known.measurements,
            **{measurement.name: measurement for measurement in job.measurements},
        },
        changed=False,
        stale="",
    )


def _measured(who: str, known: Calibration, seen: Fingerprint | None) -> None:
    latest = known.measurements
    marks = gauges.marks(latest, seen)
    show(block("oa-verdict", _verdict(who, latest, marks), "p"))
    wide = [measurement for measurement in latest.values() if measurement.spread > UNSTEADY]
    if wide:
        notice(_unsteady(wide), "warning")
    rates = [measurement for measurement in latest.values() if measurement.unit == RATE]
    st.subheader("Measured beside the datasheet", anchor="gauges")
    show(gauges.gauges(rates, marks))
    show(block("oa-caption", "Bar: measured. Upright mark: the figure named under it.", "p"))
    _curves(latest)


def _verdict(
    who: str, latest: Mapping[str, Measurement], marks: Mapping[str, gauges.GaugeMark]
) -> str:
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
        return "The figures below were measured."
    if parts[0].startswith("its"):
        parts[0] = f"reads {parts[0]}"
    text = (
        f"{who} {parts[0]}."
        if len(parts) == 1
        else f"{who} {', '.join(parts[:-1])} and {parts[-1]}."
    )
    ram, mark = latest.get("ram_read"), marks.get("ram_read")
    if ram is None or mark is None:
        return text
    return f"{text} The RAM reaches {100 * ram.value / mark.value:.0f} % of its datasheet."


def _unsteady(wide: Sequence[Measurement]) -> str:
    named = ", ".join(
        f"{probe_job.title(measurement.name)} {100 * measurement.spread:.0f} %"
        for measurement in wide[:4]
    )
    return (
        f"Repeats differ widely ({named}, each way). Other programs were running, or the machine "
        "is shared. Measure again when it is idle; until then expect predictions to be off by "
        "about as much"
    )


def _curves(latest: Mapping[str, Measurement]) -> None:
    drawn = []
    if curves.has_curve(ram := latest.get("ram_read")) and ram is not None:
        drawn.append(("RAM against threads", curves.threads(ram)))
    if curves.has_curve(disk := latest.get("disk_read_direct")) and disk is not None:
        drawn.append(("Drive against block and depth", curves.depths(disk)))
    if any(curves.has_curve(latest.get(name)) for name in curves.COPIES):
        drawn.append(("Copies against their size", curves.copies(latest)))
    if not drawn:
        return
    st.subheader("Measured curves", anchor="curves")
    for column, (title, figure) in zip(st.columns(len(drawn)), drawn, strict=True):
        with column:
            show(block("oa-strong", title))
            draw(figure, key=f"curve_{title}", alt=f"{title}, in GB/s")
            show(curves.legend(figure))


def _history(history: Sequence[Measurement]) -> None:
    again = curves.measured_again(history)
    if again:
        st.subheader("Over time", anchor="history")
        for column, name in zip(st.columns(len(again)), again, strict=True):
            with column:
                show(block("oa-strong", probe_job.title(name)))
                alt = f"{probe_job.title(name)} over time, in GB/s"
                draw(curves.over_time(name, history), key=f"history_{name}", alt=alt)
    with st.expander(f"All {len(history)} measurements" if len(history) > 1 else "In detail"):
        rows = (
            (
                probe_job.title(measurement.name), quantity(measurement.value, measurement.unit),
                f"{100 * measurement.spread:.0f} %", moment(measurement.when), measurement.note,
            )
            for measurement in reversed(history)
        )  # fmt: skip
        headings = ("What", "Measured", "Repeats within", "When", "How")
        show(table(headings, rows, label="Every measurement, newest first", numeric=(1, 2)))
