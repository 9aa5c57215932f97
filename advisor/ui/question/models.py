"""Model meant by the text of the model control, cached so that files and network are read once."""

import re
from pathlib import Path

import streamlit as st

from advisor.errors import AdvisorError, InputError
from advisor.model import resolve
from advisor.model.resolve import ReferenceKind, ResolvedModel
from advisor.ui.parts import audience
from advisor.ui.question import uploads
from advisor.ui.question.uploads import Picked

LONGEST = 1000
REMEMBERED = 900
"""Seconds until a repository is asked again [s]."""
NETWORK_PATH = re.compile(r"[/\\]{2}")


def pick(text: str) -> Picked:
    """Model meant by a text.

    Raises:
        UnknownName: no such model; the message has similar names.
        InputError: a file that cannot be read, or must not be.
        Refusal: an unsupported model.
        NetworkError: the repository cannot be reached.
    """
    text = text.strip()
    if uploads.is_given(text):
        return uploads.look_up(text)
    if len(text) > LONGEST or text.startswith("{"):
        raise InputError(
            "That is too long for a name. Paste a config.json under Other ways to give a model."
        )
    match resolve.way(text):
        case ReferenceKind.PATH:
            return _of_path(text)
        case ReferenceKind.REPOSITORY:
            return _of_repository(text)
    resolved = resolve.find(text)
    return Picked(text=_own_name(text, resolved), resolved=resolved, stamp=text)


def _own_name(text: str, resolved: ResolvedModel) -> str:
    """Name of the model; the text itself where only it has the format or the sizes."""
    model = resolved.model
    if model.architecture.shape_uncertainty:
        return text
    same = resolve.from_name(model.name).model.format == model.format
    return model.name if same else text


def _of_path(text: str) -> Picked:
    if not audience.reads_local_files():
        raise InputError(
            "Files of this machine are not read here, since others reach this server, too. Paste "
            "the config.json or upload the beginning of the GGUF file under Other ways."
        )
    if NETWORK_PATH.match(text):
        raise InputError("Paths that begin with two slashes lead to other machines; not read.")
    stamp = _changed(text)
    return Picked(text=text, resolved=_told(_read(text, stamp)), stamp=stamp)


def _changed(text: str) -> str:
    try:
        seen = Path(text).expanduser().stat()
    except (OSError, RuntimeError, ValueError):
        return ""
    return f"{seen.st_size} {seen.st_mtime_ns}"


def _of_repository(text: str) -> Picked:
    # The words beside the wheel are read as Markdown, so the repository is not named there.
    with st.spinner("Asking Hugging Face for its config.json and the list of its files"):
        resolved = _told(_fetched(text))
    return Picked(text=text, resolved=resolved, stamp=resolved.facts.get("commit", ""))


def ask_again(text: str) -> None:
    """Drop the cached answer about a repository."""
    _fetched.clear(text.strip())


@st.cache_resource(max_entries=32, ttl=REMEMBERED, show_spinner=False)
def _read(text: str, stamp: str) -> ResolvedModel | AdvisorError:  # noqa: ARG001 - a part of the key
    return _tried(text)


@st.cache_resource(max_entries=32, ttl=REMEMBERED, show_spinner=False)
def _fetched(text: str) -> ResolvedModel | AdvisorError:
    return _tried(text)


def _tried(text: str) -> ResolvedModel | AdvisorError:
    """Model, or the error as a value, since errors are not cached."""
    try:
        return resolve.find(text)
    except AdvisorError as error:
        return error


def _told(answer: ResolvedModel | AdvisorError) -> ResolvedModel:
    if isinstance(answer, AdvisorError):
        raise answer.with_traceback(None)
    return answer
