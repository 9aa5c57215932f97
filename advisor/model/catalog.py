"""Catalogue of models: rows by name, models in their formats, drafting layers, downloads.

Layers by which a model drafts its own next tokens (multi-token prediction, MTP) are told by a file
of it: a config.json by its keys, a GGUF file by its tensors. Of a name data/models/draft_heads.csv
tells; a model that it lacks has none.

data/models/downloads.csv names only sources that were found: the repositories stand in the list of
the package llmfit 1.1.17 (`gguf_sources`, which its scraper asked the Hub for), the tags of Ollama
in data/models/ollama_tags.csv. A model without a row has no name here, and none is made up.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import ClassVar

from advisor.catalog.csv_tables import DATA, read
from advisor.catalog.name_matching import by_name, find
from advisor.model import catalog
from advisor.model.architecture import Architecture, ArchitectureSpec
from advisor.model.build import build
from advisor.model.formats import Format
from advisor.model.model import Model


@cache
def model_rows() -> Mapping[str, ArchitectureSpec]:
    """Architectures' numbers by name."""
    return by_name(read(DATA / "models/models.csv", ArchitectureSpec))


def find_model(name: str) -> ArchitectureSpec:
    """Catalogue row of a model."""
    return find("model", name, model_rows(), "`data/models/models.csv` lists those it knows.")


def repository(name: str) -> str:
    """Repository of the unquantized checkpoint on Hugging Face.

    It is the name itself for a catalogue's model without one, and `Download.UNKNOWN` for a name
    that is no repository's.
    """
    row = model_rows().get(name)
    if row is None:
        if "/" in name:
            return name
        return Download.UNKNOWN
    return row.hf_id or name


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckpointRow:
    """One row of data/models/checkpoints.csv: repository of a model's weights in another format."""

    model: str
    format: str
    repository: str


@cache
def checkpoints() -> Mapping[tuple[str, str], str]:
    """Repositories by model and format: the maker's, or that of a publisher of many."""
    rows = read(DATA / "models/checkpoints.csv", CheckpointRow)
    return {(row.model, row.format): row.repository for row in rows}


@dataclass(frozen=True, kw_only=True, slots=True)
class VisionRow:
    """One row of data/models/vision.csv: a catalogue model that reads images."""

    model: str
    tower: int  # weights of its encoder with its projector; 0 where they are not counted
    tower_source: str
    source: str  # page that says that it reads images


@cache
def vision_rows() -> Mapping[str, VisionRow]:
    """Models that read images, by name."""
    return {row.model: row for row in read(DATA / "models/vision.csv", VisionRow)}


@cache
def architecture(name: str) -> Architecture:
    """Architecture of a catalogue model.

    Raises:
        UnknownName: no such model; the error has similar names.
    """
    row = vision_rows().get(name)
    return replace(build(find_model(name)), tower=row.tower if row else 0)


@cache
def model(name: str, form: str) -> Model:
    """Model of the catalogue in a format.

    Raises:
        UnknownName: no such model or format; the error has similar names.
    """
    return in_format(architecture(name), form)


@lru_cache(maxsize=2048)
def in_format(arch: Architecture, form: str) -> Model:
    """Architecture in a format."""
    recipe = Format.named(form)
    return Model.from_tensors(arch, recipe.tensor_types(arch), recipe.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class DraftHeadRow:
    """One row of data/models/draft_heads.csv."""

    name: str  # pattern of the models' names, in lower case
    layers: int  # layers that draft
    source: str
    source_date: str


@cache
def _rows() -> Sequence[tuple[re.Pattern[str], int]]:
    rows = read(DATA / "models/draft_heads.csv", DraftHeadRow)
    return [(re.compile(row.name), row.layers) for row in rows]


@cache
def named_heads(name: str) -> int:
    """Drafting layers of a model by its name; 0 for a model without any."""
    told = name.casefold().replace("_", "-")
    return next((layers for pattern, layers in _rows() if pattern.search(told)), 0)


def draft_heads(model: Model) -> int:
    """Drafting layers of a model, as its file or its name tells; 0 for none."""
    of_file = model.architecture.draft_layers
    if of_file is None:
        return named_heads(model.name)
    return of_file


PUBLISHED = (
    "Q2_K", "Q3_K_S", "Q3_K_M", "Q4_K_S", "Q4_K_M", "Q5_K_S", "Q5_K_M", "Q6_K", "Q8_0",
)  # fmt: skip
"""Formats that the makers of these repositories publish of every model."""
OF_LLAMA_CPP = ("Q4_K_M", "Q8_0")  # formats in repositories of llama.cpp's own publisher
OWN_PUBLISHER = "ggml-org"
NATIVE = "MXFP4"
"""Format of files with the maker's own weights, which a repository holds alone."""
LARGEST_FILE = 50e9
"""Largest file that publishers put on the Hub in one piece ("Per file: 50GB max",
huggingface/hub-docs#2007) [B]. Of divided files it gives Ollama none (hub-docs#2702, ollama#5245;
read 2026-11-28)."""
OF_A_FILE = "GGUF header"  # beginning of the source of a model that was read from a file


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """One row of data/models/downloads.csv."""

    HUB: ClassVar = "https://huggingface.co"
    UNKNOWN: ClassVar = "REPOSITORY"  # word in a command for a repository that no list has

    model: str  # name in the catalogue, or repository in the list of the Hub
    gguf: str  # repository with GGUF files; empty where none is known
    ollama: str  # name and tag in Ollama's library; empty where none is known
    retrieved: str  # day on which the lists were read

    @staticmethod
    @cache
    def rows() -> "Mapping[str, Download]":
        """Rows by model."""
        return {row.model: row for row in read(DATA / "models/downloads.csv", Download)}

    @staticmethod
    def names_of(name: str) -> tuple[str, ...]:
        """Names under which a model's own weights are published, its own name first."""
        row = Download.rows().get(name)
        if row is None:
            return name, repository(name)
        return name, repository(name), row.gguf, row.ollama

    @staticmethod
    def of_gguf(model: Model) -> str:
        """Repository and tag of a model in its format ("unsloth/Qwen3.6-27B-GGUF:Q4_K_M").

        `-hf` of llama.cpp and `hf.co/` of Ollama take it. It is empty where none is known.
        """
        row = _row(model)
        if row is None or not row.gguf:
            return ""
        of_publisher = row.gguf.startswith(OWN_PUBLISHER)
        if model.format == NATIVE:
            if of_publisher:
                return row.gguf
            return ""
        if model.format in (OF_LLAMA_CPP if of_publisher else PUBLISHED):
            return f"{row.gguf}:{model.format}"
        return ""

    @staticmethod
    def of_ollama(model: Model) -> str:
        """Name that `ollama run` takes: that of Ollama's library, or a repository; empty where
        neither is known.

        It is empty as well for a file in several parts, which Ollama refuses.
        """
        row = _row(model)
        if row is not None and _holds(row.ollama, model.format):
            return row.ollama
        source = Download.of_gguf(model)
        if source and not Download.is_divided(model):
            return f"hf.co/{source}"
        return ""

    @staticmethod
    def is_divided(model: Model) -> bool:
        """Whether a known file of a model is so large that it is published in parts."""
        return bool(Download.of_gguf(model)) and bool(model.file_bytes > LARGEST_FILE)


def _row(model: Model) -> Download | None:
    """Row of a model; None for a model that is a file on this machine."""
    if model.architecture.source.startswith(OF_A_FILE):
        return None
    return Download.rows().get(model.published_as)


def _holds(tag: str, form: str) -> bool:
    """Whether a tag of Ollama's library has a format; gpt-oss is there in its maker's format
    alone.
    """
    if not tag:
        return False
    if tag.startswith("gpt-oss"):
        return form == NATIVE
    return tag.casefold().endswith(form.casefold())


def checkpoint(name: str, form: str) -> str:
    """Repository of a model's weights for servers; `Download.UNKNOWN` where none is listed."""
    return catalog.checkpoints().get((name, form), Download.UNKNOWN)
