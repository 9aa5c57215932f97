"""Row of the question: machine in words, model, use, and the drawer of other inputs.

The drawer shows all inputs by group, with the values that are taken for open ones.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import streamlit as st
from markupsafe import Markup

from advisor.calibration import imported_names
from advisor.calibration.imported_names import THIS
from advisor.catalog.csv_tables import DATA, read
from advisor.errors import AdvisorError
from advisor.machine.from_spec import TYPICAL
from advisor.machine.machine import Machine
from advisor.machine.spec import MachineSpec
from advisor.request.request import DEFAULTS, Request
from advisor.ui.parts import tabs
from advisor.ui.parts.markup import joined, press, show
from advisor.ui.question import current, inputs, presets, this_machine
from advisor.units import GB, GIB, number

MODEL = "Model"
MACHINE = "Your machine"


@dataclass(frozen=True, kw_only=True)
class SettingsGroup:
    """Row of data/pages/settings.csv."""

    group: str  # words on its pill
    inputs: str  # names of its inputs, in their order


SETTINGS = {
    row.group: row.inputs.split() for row in read(DATA / "pages" / "settings.csv", SettingsGroup)
}
"""Inputs of the drawer by group; those of the finder stand on its page."""
MEMORIES = {"DDR5": TYPICAL.host, "DDR4": "Desktop DDR4-3200 dual-channel (typical)"}
"""Typical desktops by their memory."""
_GROUP = "settings_group"
_DRAWER = "more_settings"
_MEMORY = "memory_kind"


def question(*parts: str) -> None:
    """Show the row: the named parts of "machine", "model" and "use", or all."""
    with st.container(horizontal=True, key="question", vertical_alignment="bottom", gap="small"):
        drawn: dict[str, Callable[[], None]] = {
            "machine": _machine,
            "model": lambda: inputs.ask("model"),
            "use": lambda: tabs.popped("Use", "use", _use, width="stretch"),
        }
        for part in parts or drawn:
            drawn[part]()
        drawer()


def _machine() -> None:
    wrong = current.visit().unread.get("machine")
    st.session_state["in_machine"] = wrong.text if wrong else machine_words(current.present())
    st.text_input(
        "Your machine, in your own words",
        key="in_machine",
        on_change=_take_machine,
        placeholder="gaming PC with a 3060 and 32 GB RAM, MacBook Pro M4 24GB, 2x 3090 ...",
    )


def machine_words(request: Request) -> str:
    """Words for a request's machine as its owner would say them."""
    here = (request.machine or "").casefold() == THIS
    named = presets.here().casefold() if here else request.machine
    if request.cpu == TYPICAL.host:
        cpu = None
    else:
        cpu = request.cpu
    gpu = "no GPU" if (request.gpu or "").casefold() == MachineSpec.NO_GPU else request.gpu
    if request.gpu and request.gpu_count > 1:
        count = f"{request.gpu_count}x "
    else:
        count = ""
    if request.ram_gb is not None:
        ram = f"{request.ram_gb:g} GB RAM"
    else:
        ram = None
    parts = [named, f"{count}{gpu}" if gpu else None, cpu, ram]
    return ", ".join(part for part in parts if part)


def _take_machine() -> None:
    text = str(st.session_state["in_machine"] or "").strip()
    if not text or text == machine_words(current.present()):
        return
    here = text.casefold() in (THIS, "this computer", "this machine", "this pc", "the server")
    current.another_machine(f"Machine: {text}", machine=THIS if here else text)


def _use() -> None:
    presets.uses()
    presets.thinking()
    inputs.several(("users", "replies_per_day", "context", "output"))


def drawer() -> None:
    """Button, and the inputs of one group while it is open."""
    changed = len(_changed())
    # A popover would close if its label changed, so the words after it stand in a style: fixed ones
    # and numbers, nothing that anybody typed.
    rule = Markup("<style>.st-key-{} button p::after {{ content: '{}'; }}</style>")
    request = current.present()
    if request.users == 1:
        who = "Only me"
    else:
        who = f"{request.users:,} at once"
    use = f"{who}, {number(request.answers_a_day)} answers a day"
    words = {"use": use, _DRAWER: f": {changed} changed" if changed else ""}
    show(joined(rule.format(*each) for each in words.items()))
    tabs.popped("More settings", _DRAWER, lambda: _groups(bool(changed)), width="stretch")


def _groups(changed: bool) -> None:
    """Inputs of one group."""
    with st.container(key="drawer"):
        show(press(_DRAWER, "Close", "oa-press oa-close"))
        st.session_state.setdefault(_GROUP, MODEL)
        group = str(st.pills("Settings of", list(SETTINGS), required=True, key=_GROUP))
        {MODEL: inputs.show, MACHINE: _measured}.get(group, lambda: None)()
        inputs.several(SETTINGS[group], assumed=_assumed())
        if group == MACHINE and (names := imported_names.names()):
            st.selectbox(
                "Or a measured machine",
                names,
                index=None,
                **current.taking(
                    "imported_machine",
                    lambda name: current.another_machine(f"Machine: {name}", machine=name),
                ),
            )
        if changed:
            usual = {name: DEFAULTS[name] for name in _changed()}
            st.button(
                "All as usual",
                key="reset_settings",
                type="tertiary",
                on_click=lambda: current.change("Settings: as usual", **usual),
            )


def open_at(group: str) -> None:
    """Open the drawer at a group (for callbacks)."""
    st.session_state[_GROUP] = group
    st.session_state[_DRAWER] = True


def _understood() -> Machine | None:
    """Machine as it was understood; None where it was not."""
    with suppress(AdvisorError):
        return current.present().nouns().machine
    return None


def _assumed() -> dict[str, str]:
    """Values that are assumed for inputs that nobody stated, in their units."""
    machine = _understood()
    if machine is None:
        return {}
    figures = {"ram_gb": (machine.host.memory, GIB), "ram_gbs": (machine.host.bandwidth, GB)}
    if machine.disk is not None:
        figures["disk_gbs"] = machine.disk.sequential, GB
    if machine.gpus and not machine.unified:
        figures["pcie_gbs"] = machine.gpus[0].link.pinned, GB
        figures["vram_gb"] = machine.gpus[0].memory, GIB
    words = {
        name: f"{float(figure.value) / unit:.3g}, {figure.kind.value}"
        for name, (figure, unit) in figures.items()
    }
    names = " + ".join(dict.fromkeys(gpu.name for gpu in machine.gpus))
    return {**words, "gpu": names or MachineSpec.NO_GPU, "cpu": machine.host.name}


def _measured() -> None:
    """Kind of RAM, and measurements of this computer or of another."""
    machine = _understood()
    if machine is not None and machine.host.name in MEMORIES.values():
        at = list(MEMORIES.values()).index(machine.host.name)
        st.session_state[_MEMORY] = list(MEMORIES)[at]
        st.segmented_control(
            "Kind of RAM",
            list(MEMORIES),
            required=True,
            **current.taking(
                _MEMORY, lambda kind: current.change(f"RAM: {kind}", cpu=MEMORIES[kind])
            ),
        )
    if current.present().here:
        this_machine.measure("drawer")
    this_machine.page_link()


def _changed() -> list[str]:
    """Inputs of the drawer that differ from their defaults."""
    every = {name for names in SETTINGS.values() for name in names}
    elsewhere = {"users", "replies_per_day", *presets.OF_A_USE}
    if current.present().machine is None:  # the row names them
        elsewhere |= {"gpu", "gpu_count", "ram_gb"}
    return [name for name in current.present().stated() if name in every - elsewhere]
