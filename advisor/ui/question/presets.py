"""Presets: machines that many people have, and uses of a model."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from markupsafe import Markup

from advisor.calibration.imported_store import THIS
from advisor.formatting import number
from advisor.machine.spec import NO_GPU
from advisor.request.request import Request
from advisor.ui.parts import audience
from advisor.ui.parts.markup import show
from advisor.ui.question import current, this_machine

HERE, SERVER = "This computer", "The server"
"""Words for the computer that the program runs on, to who sits at it and to others."""
MACHINES: Mapping[str, Mapping[str, Any]] = {
    HERE: {"machine": THIS},
    "Gaming PC, 8 GB card": {"machine": "gaming PC with a 4060 8GB and 32 GB RAM"},
    "12 GB card": {"machine": current.EXAMPLE},
    "16 GB card": {"machine": "gaming PC with a 5060 Ti 16GB and 32 GB RAM"},
    "24 GB card": {"machine": "gaming PC with a 3090 24GB and 64 GB RAM"},
    "MacBook": {"machine": "MacBook Pro M4 Pro 24GB"},
    "Mac mini": {"machine": "Mac mini M4 Pro 64GB"},
    "Mac Studio": {"machine": "Mac Studio M4 Max 64GB"},
    "Mini PC 128 GB": {"machine": "Framework Desktop 128GB"},
    "No graphics card": {"gpu": NO_GPU, "ram_gb": 32.0},
    "Rented": {"machine": "g6e.xlarge"},
}
"""Machines by the words on their pills."""
USES: Mapping[str, Mapping[str, Any]] = {
    "Chat": {},
    "Coding helper": {"context": 32_768, "prompt": 8_192, "cached_share": 0.8, "output": 512,
                      "replies_per_day": 100.0},
    "Agent": {"context": 65_536, "prompt": 32_768, "cached_share": 0.95, "output": 512,
              "replies_per_day": 300.0},
    "Long documents": {"context": 131_072, "prompt": 65_536, "output": 1_024,
                       "replies_per_day": 10.0},
    "Family of 4": {"replies_per_day": 120.0, "users": 2},
    "Team of 20": {"users": 8, "context": 16_384, "replies_per_day": 1_000.0},
}  # fmt: skip
"""Uses by the words on their pills: what they change in a chat of one person."""
OF_A_USE = ("context", "prompt", "cached", "cached_share", "output", "users", "replies_per_day")
_PILLS, _USES = "preset_machine", "preset_use"


def here() -> str:
    """What a visitor calls the computer that the program runs on."""
    return SERVER if audience.is_public() else HERE


def machines() -> None:
    """Pills of machines; none is marked where the request has another one."""
    seen = this_machine.seen() is not None
    names = [name for name in MACHINES if seen or name != HERE]
    st.session_state[_PILLS] = next((name for name in names if _is(MACHINES[name])), None)
    with st.container(horizontal=True, key="presets", wrap=False, vertical_alignment="center"):
        st.pills(
            "Machines that many people have", names, key=_PILLS, on_change=_take_machine,
            label_visibility="collapsed", wrap=False,
            format_func=lambda name: here() if name == HERE else name,
        )  # fmt: skip
        undo()


def undo() -> None:
    """Button that undoes the last change, as the browser's Back does; on a first visit the card
    that the browser names, offered.
    """
    changes = current.lately()
    if not changes:
        if current.present().machine == current.EXAMPLE:
            show(Markup("<a class='oa-hint' hidden>Your graphics card</a>"))
    else:
        st.button(
            f"Lately: {changes[0].words}", key="undo", icon=":material/undo:", type="tertiary",
            help="Undo this change", on_click=current.undo, args=(0,),
        )  # fmt: skip


def _is(values: Mapping[str, Any]) -> bool:
    """Whether the machine of the request is the one of a preset, unchanged."""
    request, plain = current.present(), Request()
    return all(
        getattr(request, name) == values.get(name, getattr(plain, name)) for name in current.MACHINE
    )


def _take_machine() -> None:
    name = st.session_state[_PILLS]
    if name:
        current.another_machine(f"Machine: {name}", **MACHINES[name])


def uses() -> None:
    """Pills of uses; none is marked where the request differs from all."""
    st.session_state[_USES] = use()
    st.pills("What for", list(USES), key=_USES, on_change=_take_use)


def use() -> str | None:
    """Name of the use that the request has; None for one of its own."""
    request = current.present()
    same = (
        name for name in USES if all(getattr(request, key) == value for key, value in _of(name))
    )
    return next(same, None)


def _of(name: str) -> list[tuple[str, Any]]:
    """Inputs of a use with their values."""
    plain = Request()
    return [(key, USES[name].get(key, getattr(plain, key))) for key in OF_A_USE]


def _take_use() -> None:
    name = st.session_state[_USES]
    if name:
        current.change(f"Use: {name}", **dict(_of(name)))


def use_words() -> str:
    """Use in a few words: "Only me, 40 answers a day"."""
    request = current.present()
    who = "Only me" if request.users == 1 else f"{request.users:,} at once"
    return f"{who}, {number(request.replies_per_day)} answers a day"
