"""Machines on the Calibrate page: export, import, rename, delete."""

import json
import re
from dataclasses import replace

import streamlit as st
from markupsafe import Markup

from advisor.calibration import imported_names, imported_store, measurement_file
from advisor.calibration.imported_names import THIS
from advisor.catalog.inputs import INPUTS
from advisor.errors import InputError
from advisor.failures import StoreError
from advisor.formatting import moment
from advisor.machine.catalog import GPUS, HOSTS
from advisor.request.request import Request
from advisor.ui.parts import audience, outcome
from advisor.ui.parts.markup import block, copyable, say, show
from advisor.ui.question import current
from advisor.units import GIB, memory

MEASURED = "measured"  # parameter of the address that names the chosen machine
# places of outcomes
LIST = "machine_list"
FORM = "machine_form"
MOST = 50  # machines of a server, so that nobody fills its drive
HOW = (
    "Run this line on the other computer, over ssh if you like. It measures for a minute and a "
    "half; paste all that it prints."
)
COMMAND = "python -m advisor probe --save && python -m advisor calibration export this"
PASTED = "What was pasted"
BEGINS = re.compile(r"^[\[{]", re.MULTILINE)
"""Beginning of a result, after what else a terminal shows."""
UNKNOWN = "not known"


def show_machine(name: str) -> None:
    """Choose a machine (for callbacks)."""
    st.query_params[MEASURED] = name


def title(name: str) -> str:
    """Name of a machine on the page."""
    if name == THIS:
        return "This machine"
    return name


def section() -> None:
    """Show the machines, with buttons for each."""
    outcome.show(LIST)
    for name in (THIS, *imported_names.names()):
        _row(name)


def _row(name: str) -> None:
    with st.container(border=True, key=f"machine_{name}"):
        words, actions = st.columns([3, 2], vertical_alignment="center")
        try:
            history = imported_store.probed(name)
        except StoreError as error:
            with words:
                show(block("oa-name", title(name)))
                say(str(error))
            with actions:
                _delete_button(name)
            return
        parts = parts_of(history.fingerprint)
        when = _when(history)
        with words:
            show(block("oa-name", title(name)) + block("oa-soft", parts) + block("oa-soft", when))
        with actions, st.container(horizontal=True, horizontal_alignment="right"):
            _actions(name, history)


def _actions(name: str, history: measurement_file.MeasurementHistory) -> None:
    if not history.history:
        return
    if name != THIS and history.fingerprint is not None:
        st.link_button("Open in Advise", link(name))
    st.download_button(
        "Export",
        json.dumps(measurement_file.to_json(history), indent=1),
        file_name=f"{name}.json",
        mime="application/json",
        key=f"export_{name}",
        on_click="ignore",
    )
    if name != THIS and not audience.is_public():
        with st.popover("Rename", key=f"rename_{name}"):
            field = f"newname_{name}"

            def rename() -> str:
                new = imported_store.rename(name, str(st.session_state[field]))
                if st.query_params.get(MEASURED) == name:
                    show_machine(new)
                return f"Renamed {name} to {new}."

            st.text_input("New name", name, key=field, max_chars=imported_store.LONGEST_NAME)
            outcome.button("Rename", LIST, rename, key=f"renamed_{name}", type="primary")
    if audience.probes() if name == THIS else not audience.is_public():
        _delete_button(name)


def _delete_button(name: str) -> None:
    with st.popover("Delete", key=f"delete_{name}"):
        say(Markup("Delete all measurements of <b>{}</b> for good?").format(title(name)), "")

        def delete() -> str:
            imported_store.delete(name)
            return f"Deleted the measurements of {title(name)}."

        key = f"really_{name}"
        outcome.button("Delete for good", LIST, delete, key=key, type="primary")


def parts_of(seen: measurement_file.Fingerprint | None) -> str:
    """Parts of a machine in a line."""
    if seen is None:
        return "Its parts are not known."
    if seen.memory:
        size = f"{memory(seen.memory)} of RAM"
    else:
        size = "RAM of unknown size"
    if seen.cores:
        cores = f"{seen.cores} cores"
    else:
        cores = ""
    parts = seen.cpu or "unknown processor", cores, size, *(seen.gpus or ("no GPU",))
    return ", ".join(filter(None, parts))


def _when(history: measurement_file.MeasurementHistory) -> str:
    if not history.history:
        return "Never measured."
    count = len({measurement.when[:16] for measurement in history.history})
    last = max(history.history, key=lambda measurement: measurement.when)
    return f"Measured {moment(last.when)}" + (f", {count} times in all." if count > 1 else ".")


def link(name: str) -> str:
    """Address of the Advise page with the machine filled in."""
    return current.link(replace(Request(), model=current.present().model, machine=name))


def bring() -> None:
    """Show the command for another computer, and a box for its result."""
    if audience.is_public():
        say("Machines are neither taken in nor changed here.")
        return
    say(HOW)
    copyable(COMMAND)
    with st.form("import_machine", border=False):
        st.text_area(
            "Its result",
            key="import_text",
            max_chars=measurement_file.LARGEST,
            height=120,
            placeholder='[{"name": "ram_read", "value": ...',
        )
        st.file_uploader("Or a file with it", type=["json"], key="import_file")
        longest = imported_store.LONGEST_NAME
        st.text_input("Name", key="import_name", max_chars=longest, placeholder="server")
        say("Parts that it does not name:")
        cpu, gpu, ram = st.columns(3)
        cpu.selectbox("Processor", (UNKNOWN, *HOSTS.rows()), key="import_cpu")
        gpu.selectbox("GPU", (UNKNOWN, *GPUS.rows()), key="import_gpu")
        most = INPUTS["ram_gb"].high
        ram.number_input("RAM (GB)", 0.0, most, 0.0, 8.0, key="import_ram", format="%.0f")
        outcome.button("Import", FORM, _import, key="import_now", submits=True, type="primary")
    outcome.show(FORM)


def _import() -> str:
    name = str(st.session_state["import_name"]).strip()
    content, source = _given()
    if len(imported_names.names()) >= MOST and name not in imported_names.names():
        raise InputError(f"{MOST} machines are stored already; delete one first.")
    history = imported_store.with_parts(
        measurement_file.imported(content, source),
        cpu=_said("import_cpu"),
        gpus=[gpu for gpu in (_said("import_gpu"),) if gpu],
        memory=int(float(st.session_state["import_ram"]) * GIB),
    )
    kept = imported_store.keep(history, name)
    show_machine(name)
    return f"Imported {name} with {len(kept.latest)} measured figures."


def _given() -> tuple[str | bytes, str]:
    """Pasted result, or that of the file, with its name; raises InputError for none, or a large
    one.
    """
    file = st.session_state["import_file"]
    text = str(st.session_state["import_text"] or "").strip()
    if text:
        begins = BEGINS.search(text)
        return text[begins.start() if begins else 0 :], PASTED
    if file is None:
        raise InputError("Paste the result, or choose a file first.")
    if file.size > measurement_file.LARGEST:
        most = f"{measurement_file.LARGEST:,} are allowed."
        raise InputError(f"{file.name[:80]} has {file.size:,} bytes; {most}")
    return file.getvalue(), file.name[:80]


def _said(key: str) -> str:
    chosen = str(st.session_state[key])
    if chosen == UNKNOWN:
        return ""
    return chosen
