"""The question row: machine in one's own words, model, use, and the drawer of other inputs."""

import streamlit as st

from advisor.calibration.imported_store import THIS
from advisor.machine.from_spec import TYPICAL_HOST
from advisor.machine.spec import NO_GPU
from advisor.request.request import Request
from advisor.ui.parts import tabs
from advisor.ui.question import current, inputs, presets, settings


def question(*parts: str) -> None:
    """The row: those named of "machine", "model" and "use", else all."""
    with st.container(horizontal=True, key="question", vertical_alignment="bottom", gap="small"):
        for part in parts or ("machine", "model", "use"):
            {"machine": _machine, "model": _model, "use": _use}[part]()
        settings.drawer()


def _machine() -> None:
    wrong = current.visit().unread.get("machine")
    st.session_state["in_machine"] = wrong.text if wrong else machine_words(current.present())
    st.text_input(
        "Your machine, in your own words", key="in_machine", on_change=_take_machine,
        placeholder="gaming PC with a 3060 and 32 GB RAM, MacBook Pro M4 24GB, 2x 3090 ...",
    )  # fmt: skip


def machine_words(request: Request) -> str:
    """Machine of a request as its owner would say it."""
    here = (request.machine or "").casefold() == THIS
    named = presets.here().casefold() if here else request.machine
    cpu = None if request.cpu == TYPICAL_HOST else request.cpu
    gpu = "no GPU" if (request.gpu or "").casefold() == NO_GPU else request.gpu
    count = f"{request.gpu_count}x " if request.gpu and request.gpu_count > 1 else ""
    ram = f"{request.ram_gb:g} GB RAM" if request.ram_gb is not None else None
    parts = [named, f"{count}{gpu}" if gpu else None, cpu, ram]
    return ", ".join(part for part in parts if part)


def _take_machine() -> None:
    text = str(st.session_state["in_machine"] or "").strip()
    if not text or text == machine_words(current.present()):
        return
    here = text.casefold() in (THIS, "this computer", "this machine", "this pc", "the server")
    current.another_machine(f"Machine: {text}", machine=THIS if here else text)


def _model() -> None:
    inputs.ask("model")


def _use() -> None:
    def body() -> None:
        presets.uses()
        inputs.several(("users", "replies_per_day", "context", "output"))

    tabs.popped("Use", "use", body, width="stretch")
