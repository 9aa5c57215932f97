"""The question row: machine in one's own words, model, use, and a drawer of all other inputs."""

from collections.abc import Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from advisor.calibration import imported_store
from advisor.calibration.imported_store import THIS
from advisor.machine.from_spec import TYPICAL_HOST
from advisor.machine.spec import NO_GPU
from advisor.request.request import Request
from advisor.ui.parts.markup import show
from advisor.ui.question import current, inputs, presets
from advisor.ui.question import inputs as other_model_sources

SETTINGS: Mapping[str, Sequence[str]] = {
    "Model": ("format", "runtime", "placement", "kv_type", "gpu_layers", "cpu_moe", "cache_gb",
              "expert_cache_gb", "variety",
              "load_mode", "kv_in_ram", "flash_attention", "swa_full", "unified_cache",
              "expert_parallel", "attention_by_user", "draft", "drafted", "acceptance"),
    "Machine": ("gpu", "gpu_count", "vram_gb", "bridge", "cpu", "cores", "ram_gb", "ram_gbs",
                "ram_channels", "ram_mts", "disk", "disk_gbs", "pcie_gen", "pcie_lanes",
                "pcie_gbs", "machines", "network", "network_gbs"),
    "Software": ("system", "backend", "driver", "build", "threads", "numa", "screen_gb"),
    "Request": ("context", "prompt", "cached", "cached_share", "output", "users", "ubatch",
                "bench",
                "requests_per_hour", "user_tps", "first_token_within", "length_spread"),
    "Session": ("session", "turns", "turn_tokens", "slots"),
    "Money": ("reading_tps", "replies_per_day", "usd_per_hour_of_time", "days_per_week",
              "answer_hours", "thinking_tokens", "hours_on_per_day", "purchase_months",
              "usd_per_kwh", "currency", "usd_rate", "rented_hours_per_day", "starts_per_day",
              "start_minutes", "api_usd_in", "api_usd_out", "api_tps", "own_price", "own_rent"),
    "What you have": ("cards_owned", "form", "resale", "resale_counts", "rented_at"),
}  # fmt: skip
"""Inputs of the drawer by group; those of the finder stand on its page."""
_GROUP, _DRAWER = "settings_group", "more_settings"


def question(*parts: str) -> None:
    """The row.

    Args:
        parts: of "machine", "model" and "use"; none for all.
    """
    parts = parts or ("machine", "model", "use")
    widths = {"machine": 4.0, "model": 2.5, "use": 2.2}
    with st.container(key="question"):
        columns = st.columns(
            [*(widths[part] for part in parts), 1.9], gap="small", vertical_alignment="bottom"
        )
        for column, part in zip(columns, parts, strict=False):
            with column:
                {"machine": _machine, "model": _model, "use": _use}[part]()
        with columns[-1]:
            _drawer()


def _machine() -> None:
    wrong = current.unread("machine")
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
    gpu = "no graphics card" if (request.gpu or "").casefold() == NO_GPU else request.gpu
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
    _labelled("use", presets.use_words())
    part = st.popover("Use", width="stretch", on_change="rerun", key="use")
    if part.open:
        with part:
            presets.uses()
            inputs.several(("users", "replies_per_day", "context", "output"))


def _drawer() -> None:
    changed = len(_changed())
    _labelled(_DRAWER, f": {changed} changed" if changed else "")
    part = st.popover("More settings", width="stretch", on_change="rerun", key=_DRAWER)
    if part.open:
        with part, st.container(key="drawer"):
            group = st.pills(
                "Settings of", list(SETTINGS), default="Model", required=True, key=_GROUP,
                label_visibility="collapsed",
            )  # fmt: skip
            if group == "Model":
                other_model_sources.show()
            inputs.several(SETTINGS[str(group)])
            if group == "Machine":
                _imported()
            if changed:
                st.button("All as usual", key="reset_settings", on_click=_reset, type="tertiary")


def _labelled(key: str, words: str) -> None:
    """Words after the label of a popover, which would close if its label changed.

    Args:
        key: of the popover.
        words: made of numbers and fixed words, nothing that anybody typed.
    """
    rule = Markup("<style>.st-key-{} button p::after {{ content: '{}'; }}</style>")
    show(rule.format(key, words))


def _imported() -> None:
    """Machines that were measured elsewhere."""
    names = imported_store.names()
    if names:
        st.selectbox(
            "Or a measured machine", names, index=None, key="imported_machine",
            on_change=_take_imported,
        )  # fmt: skip


def _take_imported() -> None:
    if name := st.session_state["imported_machine"]:
        current.another_machine(f"Machine: {name}", machine=name)


def _changed() -> list[str]:
    """Inputs of the drawer that differ from their defaults."""
    every = {name for names in SETTINGS.values() for name in names}
    elsewhere = {"users", "replies_per_day", *presets.OF_A_USE}
    return [name for name in current.present().stated() if name in every - elsewhere]


def _reset() -> None:
    plain = Request()
    kept = ("gpu",) if current.present().machine is None else ()
    current.change(
        "Settings: as usual",
        **{name: getattr(plain, name) for name in _changed() if name not in kept},
    )
