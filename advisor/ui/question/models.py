"""Model that the text of the model control names.

It is known by name, from a file or repository that are read once, or pasted or uploaded; no link
can carry the last two, so the session keeps them.
"""

import hashlib
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from advisor.errors import AdvisorError, InputError, UnknownName
from advisor.model import catalog, resolve
from advisor.model.resolve import ReferenceKind, ResolvedModel
from advisor.permission import check_path
from advisor.request.command_line import command
from advisor.request.named import named_model
from advisor.request.request import Request

REMEMBERED = 900  # seconds until a file is read again [s]
PASTED = "pasted: "
UPLOADED = "uploaded: "
"""How the names of such models begin, in the model control and in the address."""
NO_LINK = "A link cannot carry what was pasted or uploaded."
LONGEST_PASTE = 400_000
KEPT = 4  # most models kept in a session; the oldest is dropped first
_KEY = "given_models"


@dataclass(frozen=True, kw_only=True)
class Picked:
    """Model with the text that names it."""

    text: str  # text as written in links
    resolved: ResolvedModel  # model in its own format, or the default one
    stamp: str = ""  # changes when the same text means another model, such as a replaced file

    def in_format(self, form: str | None) -> ResolvedModel:
        """Model in another format; raises UnknownName, or Refusal where both do not go together."""
        own = self.resolved.model
        if form in (None, own.format):
            return self.resolved
        model = catalog.in_format(own.architecture, str(form))
        return resolve.in_unsloth_size(replace(self.resolved, model=model), str(form))


def pick(text: str, machine: str | None = None) -> Picked:
    """Model that a text names; `machine` is the text that names the machine.

    Raises UnknownName with similar names, InputError for a file that must not or cannot be read and
    for the name of a GPU, Refusal for an unsupported model, NetworkError without the repository.
    """
    text = text.strip()
    if is_given(text):
        return look_up(text)
    if len(text) > UnknownName.LONGEST or text.startswith("{"):
        raise InputError(
            "That is too long for a name. Paste a config.json under Other ways to give a model."
        )
    match resolve.way(text):
        case ReferenceKind.PATH:
            return _of_path(text)
        case ReferenceKind.REPOSITORY | ReferenceKind.HUB_FILE:
            return _of_repository(text)
    resolved = named_model(text, machine=machine)
    return Picked(text=_own_name(text, resolved), resolved=resolved, stamp=text)


def _own_name(text: str, resolved: ResolvedModel) -> str:
    """Name of the model; the text itself where only it has the format or the sizes."""
    model = resolved.model
    if model.architecture.shape_uncertainty:
        return text
    same = resolve.from_name(model.name).model.format == model.format
    if same:
        return model.name
    return text


def _of_path(text: str) -> Picked:
    check_path(text)
    stamp = ""
    with suppress(OSError, RuntimeError, ValueError):
        seen = Path(text).expanduser().stat()
        stamp = f"{seen.st_size} {seen.st_mtime_ns}"
    answer = _tried(text, stamp)
    if isinstance(answer, AdvisorError):
        raise answer.with_traceback(None)
    return Picked(text=text, resolved=answer, stamp=stamp)


def _of_repository(text: str) -> Picked:
    # The words beside the wheel are read as Markdown, so the repository is not named there.
    with st.spinner("Asking Hugging Face for its config.json and the list of its files"):
        resolved = resolve.find(text)
    return Picked(text=text, resolved=resolved, stamp=resolved.facts.get("commit", text))


@st.cache_resource(max_entries=64, ttl=REMEMBERED, show_spinner=False)
def _tried(text: str, stamp: str) -> ResolvedModel | AdvisorError:  # noqa: ARG001 - a part of the key
    """Model of a file, or the error as a value, since errors are not cached."""
    try:
        return resolve.find(text)
    except AdvisorError as error:
        return error


# Pasted and uploaded models.


def is_given(text: str) -> bool:
    """Whether a name is that of a pasted or uploaded model."""
    return text.startswith((PASTED, UPLOADED))


def command_of(request: Request, name: str = "advise") -> str:
    """Command that gives the answer to a request, with the file of a given model by name."""
    pasted = request.model.startswith(PASTED)
    if pasted:
        file = "config.json"
    else:
        file = request.model.removeprefix(UPLOADED)
    return command(replace(request, model=file), name)


def paste(text: str) -> str:
    """Keep a pasted config.json and return its name; raises InputError or Refusal."""
    text = text.strip()
    if not text.startswith("{"):
        raise InputError("That is no config.json: it must begin with { and end with }.")
    if len(text) > LONGEST_PASTE:
        raise InputError(f"That is longer than {LONGEST_PASTE:,} characters; no config.json is.")
    resolved = replace(resolve.from_config(text), source="a config.json that was pasted")
    return _keep(PASTED + resolved.model.name, resolved, text.encode(errors="replace"))


def upload(name: str, data: bytes) -> str:
    """Keep an uploaded config.json or beginning of a GGUF file, and return its name.

    Raises what `paste` raises, and NeedMoreBytes where the GGUF header is longer than the upload.
    """
    if data.lstrip()[:1] == b"{":
        read = resolve.from_config(data.decode(errors="replace"))
        resolved = replace(read, source=f"{name[:120]}, uploaded")
    else:
        resolved = resolve.from_prefix(name[:120], data)
    return _keep(UPLOADED + name[:120], resolved, data)


def look_up(text: str) -> Picked:
    """Pasted or uploaded model of this session; raises InputError for that of another session."""
    kept: dict[str, Picked] = st.session_state.get(_KEY, {})
    if text in kept:
        return kept[text]
    if text.startswith(PASTED):
        what = "pasted"
    else:
        what = "uploaded"
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
