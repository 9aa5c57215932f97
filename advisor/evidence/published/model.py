"""Model of a published row, with defaults for what it leaves out."""

import math
import re
from contextlib import suppress
from functools import lru_cache

from advisor.cost_model.runtime import Runtime
from advisor.errors import AdvisorError, InputError, UnknownName
from advisor.evidence.published.engines import EXPERT_STREAMING, MLX
from advisor.evidence.published.row import PublishedRow, figure, meaning, number, stated
from advisor.model import catalog
from advisor.model.architecture import Architecture
from advisor.model.by_name.known import Named
from advisor.model.by_name.named import named, usual_format
from advisor.model.by_name.names import StatedSize, format_in_name
from advisor.model.by_name.stand_in import NEWEST, of_size
from advisor.model.formats import Format
from advisor.model.model import Model
from advisor.model.packings import Packing
from advisor.runtimes import LLAMA_CPP
from advisor.units import GB, GIB

FIRST = 2022  # year of the oldest published runs
SAME_MODEL = 0.3
"""Largest |log| of the ratio of a stated number of weights to the model's: vision towers, drafting
layers and rounding make up to a quarter."""
USUAL_ACTIVE = 0.05
"""Share of weights that a large mixture-of-experts model uses for a token: DeepSeek-R1 37 of 671
billion, GLM-5.2 40 of 744, Qwen3.5 17 of 397, Kimi K2 32 of 1000."""


def stated_model(row: PublishedRow, runtime: Runtime) -> Model:
    """Model of a row in the stated format and size."""
    size = row.model_size_gib
    architecture = _architecture(row, runtime)
    if not runtime.computes_in_ram:
        size = size or _file_gib(row)
    model = catalog.in_format(architecture, _stored(row, runtime, size, architecture))
    if size:
        return _of_file(model, size * GIB)
    return model


_of_file = lru_cache(maxsize=256)(Model.scaled)
"""Model scaled to a file; cached, so that files of the same size are one model."""


def _stored(
    row: PublishedRow, runtime: Runtime, size: float | None, architecture: Architecture
) -> str:
    """Catalogue format of a row: as stated, that of the model's name, or the usual one, in this
    order.
    """
    words = row.quant or _format_in_name(row.model)
    if not words and not size:
        return _usual(row, runtime)
    if runtime.computes_in_ram:
        form = ""
    else:
        form = meaning("framework's format", words.casefold())
    if not form and runtime is MLX and (bits := figure("bits in MLX", words)):
        form = Packing.IN_GROUPS[int(bits)]
    if not form and runtime.key == LLAMA_CPP.key:
        form = meaning("GGUF by its bits", words)
    if not form:
        form = _nearest(row, runtime.format_words(words), size, architecture.params)
    if runtime is MLX and form in ("MXFP4", "NVFP4") and architecture.experts is None:
        row.notes.append(f"format {words!r} is taken as {Packing.IN_GROUPS[4]}")
        return Packing.IN_GROUPS[4]
    return form


def _format_in_name(model: str) -> str:
    """Format that a model's name or its tag in Ollama's library says; empty for none."""
    match = _known(model)
    if match is not None and match.format:
        return match.format
    form = format_in_name(model)
    if form:
        return form.name
    return ""


def _usual(row: PublishedRow, runtime: Runtime) -> str:
    """Format that a runtime runs where none is stated: the native one, or its default."""
    match = _known(row.model)
    native = match.native if match else ""
    if runtime is MLX:
        usual = Packing.IN_GROUPS[4]
    elif runtime.computes_in_ram or runtime.engine == EXPERT_STREAMING.engine:
        usual = usual_format(native)
    else:
        usual = native or "BF16"
    row.notes.append(f"no format is stated: {usual} is assumed")
    return usual


def _architecture(row: PublishedRow, runtime: Runtime) -> Architecture:
    name = row.model
    params = row.params_b
    if not name and not params:
        raise InputError("The row names no model and no params_b; one of them is needed.")
    match = _known(name) or _early_llama(row)
    # the stated number of weights is the model's, not a relative's
    if match is not None and (
        not params or abs(math.log(match.architecture.params / (params * 1e9))) < SAME_MODEL
    ):
        row.notes += match.notes[:1] if match.taken_as else ()
        return match.architecture
    if not params:
        stand_in = named(name, _year(row))
        row.notes += stand_in.notes
        return stand_in.architecture
    active = row.active_params_b
    for_experts_alone = runtime.engine == EXPERT_STREAMING.engine or row.category == "moe_offload"
    if active is None and for_experts_alone:
        active = USUAL_ACTIVE * params
    if active is None or active >= 0.98 * params:
        used = None
    else:
        used = active * 1e9
    size = StatedSize(params=params * 1e9, active=used, layers=row.n_layers)
    made = of_size(name or "A model", size, _year(row))
    row.notes.append(f"{made.name} is not known by its name: its size stands in, in {made.source}")
    return made


@lru_cache(maxsize=2048)
def _known(name: str) -> Named | None:
    """Model of a name, also with its format as a folder below; None where it is not certain."""
    base, _, folder = name.rpartition("/")
    try:
        model = named(base if base and _written_in(folder.casefold()) == folder.upper() else name)
    except AdvisorError:
        return None
    if model.known:
        return model
    return None


BEFORE_OTHERS = "2023-09"
"""Month until which llama.cpp and ExLlama ran hardly anything else (Falcon joined llama.cpp in
August 2023, https://github.com/ggml-org/llama.cpp/pull/2717)."""


def _early_llama(row: PublishedRow) -> Named | None:
    """LLaMA of a size that stands alone in a row of its time; None for other rows."""
    size = figure("first LLaMA", row.model)
    if size is None or not "2023" <= row.date[:7] < BEFORE_OTHERS:
        return None
    return _known(f"llama-{30 if size == 33 else size:.0f}b")


def _year(row: PublishedRow) -> int:
    """Year of a run, between `FIRST` and `NEWEST`."""
    year = row.date[:4]
    if year.isdecimal():
        return min(max(int(year), FIRST), NEWEST)
    return NEWEST


def _file_gib(row: PublishedRow) -> float | None:
    """File size stated with the format; None where it is not [GiB]."""
    words = stated("GB of the file", row.quant)
    if words:
        size = number("The size in quant", words[1])
    else:
        size = None
    if size:
        return size * GB / GIB
    return None


def _nearest(row: PublishedRow, words: str, size: float | None, params: float) -> str:
    """Catalogue format of a spelling, or the one with about as many bits per weight."""
    folded = words.casefold()
    if exact := _written_in(folded):
        return exact
    near = meaning("format", folded)
    with suppress(UnknownName):
        near = near or Format.meant(words, remark=True).name
    told = ""
    if not near:
        if size:
            bits = size * GIB * 8 / params
        else:
            bits = figure("bits", folded) or 4.85
        near = min(
            ("IQ1_S", "IQ2_XS", "Q3_K_M", "Q4_K_M", "Q5_K_M", "Q6_K", "Q8_0", "F16"),
            key=lambda name: abs(Format.BITS[name] - bits),
        )
        told = f", {bits:.1f} bits a weight"
    row.notes.append(f"format {words or 'not stated'!r} is taken as {near}{told}")
    return near


@lru_cache(maxsize=1024)
def _written_in(folded: str) -> str:
    """Longest name of a format that stands in a text by itself; empty where none does."""
    names = sorted(Format.by_name(), key=len, reverse=True)
    alone = (rf"(^|[^a-z0-9]){re.escape(name.casefold())}($|[^a-z0-9])" for name in names)
    written = (name for name, words in zip(names, alone, strict=True) if re.search(words, folded))
    return next(written, "")
