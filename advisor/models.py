"""A model from whatever a person has: a name, a GGUF file, a config.json, a Hub repository."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from advisor import catalog
from advisor.describe import config, gguf
from advisor.describe.described import Described
from advisor.errors import InputError, Refusal, UnknownName
from advisor.model import Model

DEFAULT_FORMAT = "Q4_K_M"
REPOSITORY = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")


@dataclass(frozen=True, kw_only=True)
class Found:
    """A model, in a format, and where it comes from.

    Attributes:
        model: ready to be placed.
        source: file, repository or catalogue row.
        notes: sentences a person should read.
        facts: what was read, by name.
    """

    model: Model
    source: str
    notes: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def find(text: str, form: str | None = None) -> Found:
    """The model that a name, path, repository or pasted config.json means.

    Args:
        text: as typed or pasted.
        form: format wanted; None for the one that a file or repository has, else Q4_K_M.

    Raises:
        UnknownName: no such model, with close names; or no such format.
        InputError: a file that cannot be read, a paste that is no config.
        Refusal: a model that is not understood, and what it is that is not.
        NetworkError: a repository that cannot be reached.
    """
    text = text.strip()
    if text.startswith("{"):
        return from_config(text, "pasted config.json", form)
    path = Path(text).expanduser()
    if text.casefold().endswith((".gguf", ".json")):
        return from_file(path, form)
    try:
        architecture = catalog.architecture(text)
    except UnknownName:
        if REPOSITORY.fullmatch(text):
            return from_repository(text, form)
        raise
    return Found(
        model=catalog.in_format(architecture, form or DEFAULT_FORMAT), source=architecture.source
    )


def from_file(path: Path, form: str | None = None) -> Found:
    """A model from a local GGUF file or config.json.

    Raises:
        InputError: no such file, or not what its name says.
        Refusal: a model that is not understood.
    """
    if not path.is_file():
        raise InputError(f"There is no file {str(path)[:200]!r}; give a GGUF file or config.json.")
    if path.suffix.casefold() == ".json":
        return from_config(path.read_text(encoding="utf-8", errors="replace"), str(path), form)
    return _chosen(gguf.describe_path(path, catalog.storage_types()), form)


def from_prefix(name: str, data: bytes, form: str | None = None) -> Found:
    """A model from the beginning of a GGUF file, as `head -c 32M` cuts it.

    Raises:
        NeedMoreBytes: the header is longer than that.
        InputError: not a GGUF file.
        Refusal: a model that is not understood.
    """
    return _chosen(gguf.describe_prefix(name, data, catalog.storage_types()), form)


def from_config(text: str, name: str, form: str | None = None) -> Found:
    """A model from the text of a config.json.

    Raises:
        InputError: not JSON, or not a model's configuration.
        Refusal: a model that is not understood.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}. Paste a whole config.json.") from error
    return _chosen(config.describe(text, name), form)


def from_repository(identity: str, form: str | None = None) -> Found:
    """A model from a repository of the Hugging Face Hub.

    Raises:
        NetworkError: it cannot be reached, or offline is asked for.
        InputError: no such repository, or no configuration in it.
        Refusal: a model that is not understood.
    """
    from advisor.describe import hub

    return _chosen(hub.describe_repository(identity), form)


def _chosen(described: Described, form: str | None) -> Found:
    """The format asked for, else the stored one, else the usual one; a note says which."""
    notes = described.notes
    if described.model is not None and form in (None, described.model.format):
        model = described.model
    else:
        wanted = form or described.format or DEFAULT_FORMAT
        model = catalog.in_format(described.architecture, wanted)
        if form is None and not described.format:
            notes = (*notes, f"Its own format has no recipe; {wanted} is shown.")
    if not described.architecture.layers:
        raise Refusal(f"{described.architecture.name} has no repeating layers to place.")
    return Found(model=model, source=described.source, notes=notes, facts=described.facts)
