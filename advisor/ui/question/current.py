"""The visitor's request: read from the address, changed by inputs and buttons, written back.

The address holds all of it but defaults, with their month, so that a link, a reload and a report
reopen the same page, and the browser's Back undoes the last change. Widgets show the request; their
callbacks change it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from advisor.calibration.imported_names import THIS
from advisor.catalog.inputs import INPUTS
from advisor.errors import AdvisorError
from advisor.request import texts
from advisor.request.request import DEFAULTS, Request
from advisor.ui.parts import audience, outcome
from advisor.ui.parts.session import base
from advisor.ui.question.this_machine import seen

MODEL = "Qwen3.6-27B"
FORMER_MODEL = "Llama-3.1-70B"
"""Model of a first visit, and of a former link that names none."""
EXAMPLE = "gaming PC with a 3060 12GB and 32 GB RAM"
"""Machine of a first visit where the server's own has no graphics card."""
OWNED = (*(entry.name for entry in INPUTS.values() if entry.group == "ownership"), "resale_counts")
"""Inputs of a machine that describe no part."""
MACHINE = (
    "machine",
    "known",
    *(entry.name for entry in INPUTS.values() if entry.group == "machine"),
    *OWNED,
)
"""Inputs that another machine leaves open again."""
HARDWARE = ("machine", "gpu", "gpu_count", "cpu")
"""Inputs with which known speeds are of another machine."""
KEYS = frozenset((*INPUTS, *texts.RENAMED, *texts.ELSEWHERE, texts.DATED))
"""Parameters of the address that are inputs."""
FORMER_PAGES = {"find": "find", "run": "runnable"}
LATELY = 3  # changes that can be undone by name
_REQUEST = "request"
_VISIT = "visit"


@dataclass(frozen=True, kw_only=True)
class Unread:
    """Typed text that could not be read, kept beside its input."""

    text: str  # as typed
    why: str  # what is wrong, and what is allowed


@dataclass(frozen=True, kw_only=True)
class Undoable:
    """Change of the request."""

    words: str  # what was changed
    before: Request  # request before it


@dataclass(kw_only=True)
class Visit:
    """Values of a visit in addition to its request."""

    written: Request | None = None  # request that the address holds
    lately: list[Undoable] = field(default_factory=list)  # last changes, the newest first
    # what the opened address states that cannot be read, until something changes
    problems: tuple[str, ...] = ()
    unread: dict[str, Unread] = field(default_factory=dict)  # typed texts by their input


def visit() -> Visit:
    """Visit of this run."""
    kept: Visit = st.session_state.setdefault(_VISIT, Visit())
    return kept


def read(page: str) -> None:
    """Take over the request of the address where it differs from that of the last run."""
    stated = _inputs()
    if _REQUEST not in st.session_state:
        _open(stated, page)
    elif stated and stated != parameters(visit().written or Request()):
        _open(stated, page)
        visit().written = present()  # it is in the address as the visitor's history has it


def _open(stated: Mapping[str, str], page: str) -> None:
    former = texts.is_former(stated)
    opened = texts.from_address(stated, FORMER_PAGES.get(page, "") if former else "")
    st.session_state[_REQUEST] = begun(opened.request, former=former)
    visit().problems = opened.problems
    visit().unread = {}


def begun(request: Request, *, former: bool = False) -> Request:
    """Request with a model and a machine where it states none, as on a first visit."""
    if not request.model:
        request = replace(request, model=FORMER_MODEL if former else MODEL)
    if not request.stated().keys() & {*MACHINE} - {*OWNED, "known"}:
        here = seen()
        own = here is not None and here.machine.gpus and not audience.is_public()
        request = replace(request, machine=THIS if own else EXAMPLE)
    return request


def write() -> None:
    """Write the request into the address; values that pages keep there stay."""
    request = present()
    if request == visit().written and _inputs():
        return  # a link to another page may leave the request out
    kept = {key: text for key, text in st.query_params.to_dict().items() if key not in KEYS}
    st.query_params.from_dict(kept | parameters(request))
    visit().written = request


def _inputs() -> dict[str, str]:
    return {key: text for key, text in st.query_params.to_dict().items() if key in KEYS}


def present() -> Request:
    """Request of this run."""
    request: Request = st.session_state[_REQUEST]
    return request


def change(words: str, /, **values: Any) -> None:
    """Change inputs by name, with words for the list of what can be undone (for callbacks)."""
    name = next(iter(values), "")
    try:
        become(words, replace(present(), **values))
    except AdvisorError as error:
        refuse(name, str(values[name]), str(error))


def become(words: str, request: Request) -> None:
    """Replace the request (for callbacks)."""
    before = present()
    kept = visit()
    kept.unread = {}
    kept.problems = ()
    if request.model != before.model:
        outcome.forget()
    if request.cards_owned is None and _moved(before, request):
        request = replace(request, known=())
    if request != before:
        kept.lately = [Undoable(words=words, before=before), *kept.lately][:LATELY]
        st.session_state[_REQUEST] = request


def _moved(before: Request, after: Request) -> bool:
    """Whether known speeds stay while the hardware that they were measured on changes."""
    hardware = any(getattr(before, name) != getattr(after, name) for name in HARDWARE)
    return hardware and before.known == after.known


def refuse(name: str, text: str, why: str) -> None:
    """Keep an unreadable text beside the name of its input (for callbacks)."""
    visit().unread[name] = Unread(text=text, why=why)


def undo() -> None:
    """Go back to the request before the last change (for callbacks)."""
    last, *visit().lately = visit().lately
    st.session_state[_REQUEST] = last.before


def taking(key: str, act: Callable[[Any], None]) -> dict[str, Any]:
    """Key and callback of a widget; the callback hands a changed value to an action."""

    def taken() -> None:
        if value := st.session_state[key]:
            act(value)

    return {"key": key, "on_change": taken}


def another_machine(words: str, /, **values: Any) -> None:
    """Change to another machine, whose parts are open except those given (for callbacks)."""
    change(words, **of_machine(**values))


def of_machine(**values: Any) -> dict[str, Any]:
    """Values of a machine, with all other inputs of a machine open."""
    return {name: DEFAULTS[name] for name in MACHINE} | values


def parameters(request: Request) -> dict[str, str]:
    """Parameters of the address that reopens a request."""
    return texts.to_address(request)


def link(request: Request, page: str = "") -> str:
    """Address that reopens a request, on Advise or on another page."""
    return address(f"{base()}{page}", parameters(request))


def address(place: str, stated: Mapping[str, str]) -> str:
    """Address with parameters."""
    return f"{place}?{urlencode(stated)}"
