"""Pasted and uploaded models, kept for the session since no link can carry them."""

import hashlib
from dataclasses import dataclass, replace

import streamlit as st

from advisor.errors import InputError
from advisor.model import catalog, resolve
from advisor.model.resolve import ResolvedModel
from advisor.request.command_line import command
from advisor.request.request import Request

PASTED, UPLOADED = "pasted: ", "uploaded: "
"""How the names of such models begin, in the model control and in the address."""
LONGEST_PASTE = 400_000
KEPT = 4
"""Most models kept in a session; the oldest is dropped first."""
_KEY = "given_models"


@dataclass(frozen=True, kw_only=True)
class Picked:
    """Model with the text that means it."""

    text: str  # text as written in links
    resolved: ResolvedModel  # model in its own format, or the default one
    stamp: str = ""  # changes when the same text means another model, such as a replaced file

    def in_format(self, form: str | None) -> ResolvedModel:
        """The model in another format.

        Raises:
            UnknownName: no such format.
            Refusal: an impossible pair of model and format.
        """
        own = self.resolved.model
        if form in (None, own.format):
            return self.resolved
        return replace(self.resolved, model=catalog.in_format(own.architecture, str(form)))


def is_given(text: str) -> bool:
    """Whether a name stands for a pasted or uploaded model."""
    return text.startswith((PASTED, UPLOADED))


def as_file(text: str) -> str:
    """File name for the command line."""
    if text.startswith(PASTED):
        return "config.json"
    return text.removeprefix(UPLOADED)


def command_of(request: Request, name: str = "advise") -> str:
    """Command that gives the answer to a request, with the file of a given model by name."""
    return command(replace(request, model=as_file(request.model)), name)


def paste(text: str) -> str:
    """Keep a pasted config.json and return its name.

    Raises:
        InputError: not a config.json.
        Refusal: an unsupported model.
    """
    text = text.strip()
    if not text.startswith("{"):
        raise InputError("That is no config.json: it must begin with { and end with }.")
    if len(text) > LONGEST_PASTE:
        raise InputError(f"That is longer than {LONGEST_PASTE:,} characters; no config.json is.")
    resolved = replace(resolve.from_config(text), source="a config.json that was pasted")
    return _keep(PASTED + resolved.model.name, resolved, text.encode(errors="replace"))


def upload(name: str, data: bytes) -> str:
    """Keep an uploaded config.json or beginning of a GGUF file and return its name.

    Raises:
        NeedMoreBytes: the GGUF header is longer than the upload.
        InputError: another kind of file.
        Refusal: an unsupported model.
    """
    if data.lstrip()[:1] == b"{":
        read = resolve.from_config(data.decode(errors="replace"))
        resolved = replace(read, source=f"{name[:120]}, uploaded")
    else:
        resolved = resolve.from_prefix(name[:120], data)
    return _keep(UPLOADED + name[:120], resolved, data)


def look_up(text: str) -> Picked:
    """Pasted or uploaded model of this session by name.

    Raises:
        InputError: no such model, as in a link from another session.
    """
    kept: dict[str, Picked] = st.session_state.get(_KEY, {})
    if text in kept:
        return kept[text]
    what = "pasted" if text.startswith(PASTED) else "uploaded"
    raise InputError(
        f"A link cannot carry what was {what}, so {text[:80]!r} is not here; give it once more "
        "under Other ways to give a model."
    )


def _keep(name: str, resolved: ResolvedModel, data: bytes) -> str:
    kept: dict[str, Picked] = st.session_state.setdefault(_KEY, {})
    kept.pop(name, None)
    kept[name] = Picked(text=name, resolved=resolved, stamp=hashlib.sha256(data).hexdigest())
    for oldest in list(kept)[:-KEPT]:
        del kept[oldest]
    return name
