"""Sources of downloads: names in Ollama's library and repositories of GGUF files.

data/models/downloads.csv names only what was found there: the repositories stand in the list of
the package llmfit 1.1.17 (`gguf_sources`, which its scraper asked the Hub for), the tags of Ollama
in data/models/ollama_tags.csv. A model without a row has no name here, and none is made up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from advisor.catalog.csv_tables import DATA, read
from advisor.model import catalog
from advisor.model.model import Model

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
    def of_gguf(model: Model) -> str:
        """Repository and tag of a model in its format ("unsloth/Qwen3.6-27B-GGUF:Q4_K_M").

        `-hf` of llama.cpp and `hf.co/` of Ollama take it. It is empty where none is known.
        """
        row = _row(model)
        if row is None or not row.gguf:
            return ""
        own = row.gguf.startswith(OWN_PUBLISHER)
        if model.format == NATIVE:
            return row.gguf if own else ""
        if model.format in (OF_LLAMA_CPP if own else PUBLISHED):
            return f"{row.gguf}:{model.format}"
        return ""

    @staticmethod
    def of_ollama(model: Model) -> str:
        """Name that `ollama run` takes: that of Ollama's library, or a repository; empty where
        neither is known, and for a file that its publisher had to divide, which Ollama refuses.
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


@cache
def downloads() -> Mapping[str, Download]:
    """Rows by model."""
    return {row.model: row for row in read(DATA / "models/downloads.csv", Download)}


def _row(model: Model) -> Download | None:
    """Row of a model; None for a model that is a file on this machine."""
    if model.architecture.source.startswith(OF_A_FILE):
        return None
    return downloads().get(model.name)


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
