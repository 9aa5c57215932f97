"""Model of a reference: a name, a GGUF file, a config.json or a Hub repository."""

import re
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from statistics import median

from advisor import given_files
from advisor.catalog.csv_tables import DATA, read
from advisor.errors import AdvisorError, InputError, Refusal
from advisor.failures import NetworkError
from advisor.model import catalog
from advisor.model.by_name.known import Named
from advisor.model.by_name.named import is_named, named, usual_format
from advisor.model.by_name.names import leaves_bits_open
from advisor.model.formats import Format
from advisor.model.model import Described, Model
from advisor.model.remembered import Remembered
from advisor.permission import check_path, opens, permitted
from advisor.units import GB, GIB

REPOSITORY = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}", re.ASCII)
HUB_FILE = re.compile(
    r"([\w.-]{1,96}/[\w.-]{1,96})/((?:[\w.-]{1,96}/){0,4}[\w.-]{1,200}\.gguf)", re.ASCII
)
PATH_START = re.compile(r"[/\\~]|\.\.?[/\\]|[A-Za-z]:[/\\]")
ELSEWHERE = re.compile(r"~[/\\]|[A-Za-z]:[/\\]|.*\)$", re.DOTALL)
"""A home or drive, often of the machine that is asked about, or a file with a remark behind it:
what is not here is read as a name."""
BRANCH = re.compile(
    r"(?:https?://)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+)/tree/(?!main\b)([\w.-]+)/?",
    re.ASCII,
)
"""Address of a branch of a repository: EXL2 and EXL3 keep each number of bits in a branch."""
CACHED_REPOSITORY = re.compile(r"models--.+?--(.+)")
"""Folder of a repository in the cache of Hugging Face's libraries."""
OPEN_BITS = (
    "Its name states no bits per weight, and EXL2 and EXL3 have any number of them: 4 are counted. "
    "Add those of the branch, as in OWNER/NAME-exl2:6.5bpw."
)
FOR_EXPERTS = ("MXFP4", "MXFP4-hf")  # formats whose recipes tell nothing of dense layers
LONGEST_PATH = 4096  # letters of a path (PATH_MAX of Linux, limits.h)
LONGEST_CONFIG = 4_000_000  # a config.json has some kB; a few list every module of their model [B]


class ReferenceKind(StrEnum):
    """Kind of text that names a model."""

    CONFIG = "pasted config.json"
    PATH = "path"
    REPOSITORY = "repository"
    HUB_FILE = "file of a repository"
    NAME = "name"


@dataclass(frozen=True, kw_only=True)
class ResolvedModel:
    """Model in a format, with its source."""

    model: Model  # model
    source: str  # file, repository or catalogue row
    taken_as: str = ""  # model that the name was read as; empty if it is exactly that name
    # format of the file or repository; empty for a format without a recipe, and for models of the
    # catalogue
    stored: str = ""
    notes: tuple[str, ...] = ()  # sentences for the user
    facts: Mapping[str, str] = field(default_factory=dict)  # further facts by name


def find(text: str, form: str | None = None) -> ResolvedModel:
    """Model of a name, path, repository or pasted config.json.

    Args:
        text: text as typed or pasted.
        form: format in any spelling; None for the format of the file, repository or name, else the
            native one or Q4_K_M.

    Raises:
        UnknownName: no such model or format; lists similar names.
        InputError: a file that cannot be read, or a paste that is not a config.json.
        Refusal: a model with an unknown part, which the message names.
        NetworkError: a repository that cannot be reached.
    """
    text = BRANCH.sub(r"\1:\2", text.strip())
    if not form:
        return in_unsloth_size(_resolved(text, None), text)
    meant = Format.meant(form).name
    resolved = in_unsloth_size(_resolved(text, meant), form)
    if _letters(meant) == _letters(form):
        return resolved
    return replace(resolved, notes=(*resolved.notes, f"Format {form[:40]} is taken as {meant}."))


@dataclass(frozen=True, kw_only=True, slots=True)
class DynamicSizeRow:
    """One row of data/models/dynamic_sizes.csv: a published file in a format of Unsloth's own."""

    model: str  # name of the model
    format: str  # format in the file's name
    experts: bool  # whether the model has routed experts
    gb: float  # size of the file [GB]
    of_recipe: float  # that size over the one of the usual recipe
    source: str
    source_date: str


@cache
def dynamic_sizes() -> Sequence[DynamicSizeRow]:
    """Rows of the table."""
    return read(DATA / "models/dynamic_sizes.csv", DynamicSizeRow)


scaled = lru_cache(maxsize=256)(Model.scaled)
"""Model scaled to a size; cached, so that a model of the same size is one model."""


def in_unsloth_size(resolved: ResolvedModel, text: str) -> ResolvedModel:
    """Model in the size of Unsloth's file where its format is one of theirs, with a remark.

    They pick the types of weights for each model and publish no rule. A published file tells its
    own size. For others it is that of the usual recipe times the median factor of files in that
    format, of models of the same maker and kind where there are some, else of the same kind. Each
    of the 117 files left out, 41 are off by more than 5 % and 10 by more than 10, where the recipe
    alone is so for 68 and 34. A file or a repository tells its own size.
    """
    if resolved.stored:
        return resolved
    form = dynamic_format(text)
    alike = [row for row in dynamic_sizes() if row.format == form]
    if not alike:
        return resolved
    model = resolved.model
    name = _letters(model.name.rpartition("/")[2])
    own = next((row for row in alike if _letters(row.model.rpartition("/")[2]) == name), None)
    if own is not None:
        sized = scaled(model, own.gb * GB)
        remark = f"Unsloth's file of {form} has {own.gb:g} GB ({own.source})."
        return replace(resolved, model=sized, notes=(*resolved.notes, remark))
    kind = [row for row in alike if row.experts == model.has_experts] or alike
    makers = [row for row in kind if _maker(row.model) == _maker(model.name)] or kind
    factor = median(row.of_recipe for row in makers)
    sizes = sorted(row.of_recipe for row in kind)
    remark = (
        f"Unsloth picks the types of {form} for each model and publishes no rule: {factor:.2f} of "
        f"the usual recipe is counted, and its files are {sizes[0]:.2f} to {sizes[-1]:.2f} of it. "
        "Name the file for its own size."
    )
    sized = scaled(model, model.file_bytes * factor)
    return replace(resolved, model=sized, notes=(*resolved.notes, remark))


def dynamic_format(text: str) -> str:
    """Format of Unsloth's own at the end of a name; empty for none. Their repositories' names leave
    UD- out of those that end in XL.
    """
    stem = re.sub(r"(?:-\d{5}-of-\d{5})?(?:\.gguf)?$", "", text.casefold())
    letters = _letters(stem)
    for form in dict.fromkeys(row.format for row in dynamic_sizes()):
        theirs = form.endswith("XL") and "unsloth" in letters
        ending = form.removeprefix("UD-") if theirs else form
        if letters.endswith(_letters(ending)):
            return form
    return ""


def _maker(name: str) -> str:
    """First word of a model's name without its repository's owner: qwen, gemma, glm."""
    word = re.match(r"[a-z]+", name.rpartition("/")[2].casefold())
    if word:
        return word[0]
    return ""


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _resolved(text: str, form: str | None) -> ResolvedModel:
    match way(text):
        case ReferenceKind.CONFIG:
            return from_config(text, form=form)
        case ReferenceKind.PATH:
            return from_file(Path(text), form)
        case ReferenceKind.REPOSITORY | ReferenceKind.HUB_FILE:
            return _from_hub(text, form)
    return from_name(text, form)


@lru_cache(maxsize=512)
def from_name(text: str, form: str | None = None) -> ResolvedModel:
    """Model from its name alone."""
    known = named(text)
    chosen = form or known.format
    notes = known.notes
    if form is None and chosen in FOR_EXPERTS and known.architecture.experts is None:
        note = f"{chosen} of a dense model is counted as NVFP4, 4.5 bits per weight for 4.25."
        chosen = "NVFP4"
        notes = (*notes, note)
    if form is None and leaves_bits_open(text):
        notes = (*notes, OPEN_BITS)
    model, about_modules = _in_named_format(text, known, chosen, form)
    return ResolvedModel(
        model=model if chosen else replace(model, native=known.native),
        source=known.architecture.source,
        taken_as=known.taken_as,
        notes=(*filter(None, [about_modules]), *notes),
    )


def _in_named_format(text: str, known: Named, chosen: str, form: str | None) -> tuple[Model, str]:
    """Model in the format of its name or of a request, with a note on modules in another one."""
    model = catalog.in_format(known.architecture, chosen or usual_format(known.native))
    if not chosen or (form and form != known.format):
        return model, ""
    from advisor.model.config.stored_format import in_stored_format, range_note, stored_by_name

    stored = stored_by_name(text, chosen)
    apart, note = in_stored_format(known.architecture, stored)
    if apart is not None:
        return apart, note
    return model, range_note(known.architecture, model.file_bytes, stored)


def _from_hub(text: str, form: str | None) -> ResolvedModel:
    """Model of a repository or of a file in one; without a network, the model of its name."""
    try:
        read = from_hub_file if way(text) is ReferenceKind.HUB_FILE else from_repository
        return read(text, form)
    except NetworkError as unreachable:
        try:
            by_name = from_name(text, form)
        except AdvisorError:
            raise unreachable from None
        return replace(by_name, notes=(f"{unreachable} Its name is what is known.", *by_name.notes))


def way(text: str) -> ReferenceKind:
    """Kind of a text; a known name comes before a repository or file of the same name."""
    text = text.strip()
    if text.startswith("{"):
        return ReferenceKind.CONFIG
    if len(text) > LONGEST_PATH:
        return ReferenceKind.NAME
    if HUB_FILE.fullmatch(text) and not _is_file(text):
        return ReferenceKind.HUB_FILE
    if _is_path(text):
        return ReferenceKind.PATH
    if REPOSITORY.fullmatch(text) and not is_named(text):
        return ReferenceKind.REPOSITORY
    return ReferenceKind.NAME


def _is_path(text: str) -> bool:
    """Whether a text is a path or the name of a file, and not the name of a known model."""
    if PATH_START.match(text):
        return not (ELSEWHERE.match(text) and is_named(text)) or _is_file(text)
    if not text.casefold().endswith((".gguf", ".json")):
        return False
    return "/" in text or _is_file(text) or not is_named(text)


def _is_file(text: str) -> bool:
    """Whether a file of this path is there, where paths may be looked at."""
    if not opens(text):
        return False
    with suppress(OSError, RuntimeError, ValueError):
        return Path(text).expanduser().is_file()
    return False


def from_file(path: Path, form: str | None = None) -> ResolvedModel:
    """Model from a local GGUF file, a config.json, or a folder that holds one."""
    from advisor.model.gguf.read import describe_path

    check_path(path)
    file = _existing(path)
    if file.suffix.casefold() != ".json":
        return _chosen(describe_path(file), form)
    text = given_files.content(file, LONGEST_CONFIG).decode(errors="replace")
    beside = _quantization_beside(file)
    resolved = from_config(text, _cached_name(file), form, beside, _place(file))
    return replace(resolved, source=str(file))


def _place(file: Path) -> str:
    """Name that stands for a file's model where nothing else names it: its folder's, or its own."""
    if file.name == "config.json":
        return file.absolute().parent.name or file.name
    return file.stem


def _quantization_beside(file: Path) -> str:
    """Text of the file beside a config.json that tells the format; empty without one."""
    from advisor.model.config.stored_format import BESIDE

    if file.name != "config.json":
        return ""
    beside = next(filter(Path.is_file, map(file.with_name, BESIDE)), None)
    if beside is None:
        return ""
    return given_files.content(beside, LONGEST_CONFIG).decode(errors="replace")


def _existing(path: Path) -> Path:
    missing = f"There is no file {str(path)[:200]!r}"
    try:
        file = path.expanduser()
        if file.is_dir():
            missing = f"There is no config.json in {str(path)[:200]!r}"
            file = file / "config.json"
        if file.is_file():
            return file
        if file.exists():
            raise InputError(
                f"{str(path)[:200]!r} is a pipe or a device; give the path of an ordinary file."
            )
    except (OSError, RuntimeError, ValueError):
        # A name too long or with a zero byte, a folder that is closed, a home that does not exist.
        pass
    raise InputError(f"{missing}; give a GGUF file or config.json.")


def _cached_name(file: Path) -> str:
    """Name of a cached repository, or of a folder with a model's name; empty for others."""
    folders = file.absolute().parent
    cached = (CACHED_REPOSITORY.fullmatch(part) for part in folders.parts)
    if is_named(folders.name):
        folder = folders.name
    else:
        folder = ""
    return next((match[1] for match in cached if match), folder)


def from_prefix(name: str, data: bytes) -> ResolvedModel:
    """Model from the beginning of a GGUF file; NeedMoreBytes if it ends in the header."""
    from advisor.model.gguf.read import describe_prefix

    return _chosen(describe_prefix(name, data), None)


def from_config(
    text: str,
    name: str = "",
    form: str | None = None,
    quantization: str = "",
    nameless: str = "",
) -> ResolvedModel:
    """Model from a config.json, with the name and format in it unless others are given.

    `quantization` is the text of a file beside it that tells the format; `nameless` stands for a
    name that nothing tells, empty for a pasted text.
    """
    from advisor.model.config.read import describe
    from advisor.model.config.values import parse

    values = parse(text, name or nameless or "the pasted model")
    called = name or _own_name(values, nameless or "Pasted model")
    beside = parse(quantization, f"{called} (quantization)") if quantization else None
    return _chosen(describe(values, called, beside), form)


def _own_name(values: Mapping[str, object], nameless: str) -> str:
    """Name of a config.json's model: its origin, its family, or what it is called without both."""
    origin = values.get("_name_or_path")
    if isinstance(origin, str):
        last = re.split(r"[/\\]", origin.rstrip("/\\"))[-1]
    else:
        last = ""
    family = values.get("model_type")
    name = last or (f"{family} model" if isinstance(family, str) else nameless)
    return "".join(filter(str.isprintable, name[:80])).strip() or nameless


def from_hub_file(text: str, form: str | None = None) -> ResolvedModel:
    """Model from the header of a GGUF file on the Hub, `owner/name/file.gguf`, in all parts."""
    described = ON_HUB.answer(_asked_as(text), lambda: _described_file(text))
    return _chosen(described, form)


def _described_file(text: str) -> Described:
    from advisor.model.gguf.header import Part
    from advisor.model.gguf.read import describe_parts
    from advisor.model.gguf.shards import part_names
    from advisor.model.hub import RemoteFile

    match = HUB_FILE.fullmatch(text)
    if match is None:
        raise InputError(f"{text[:200]!r} is not owner/name/file.gguf.")
    identity, file = match.groups()
    files = (RemoteFile(identity, name) for name in part_names(file))
    parts = [Part(name=part.name, read_at=part.read_at, size=part.size) for part in files]
    return describe_parts(parts)


def from_repository(identity: str, form: str | None = None) -> ResolvedModel:
    """Model from a repository of the Hugging Face Hub."""
    from advisor.model import hub

    described = ON_HUB.answer(_asked_as(identity), lambda: hub.describe_repository(identity))
    return _chosen(described, form)


ON_HUB = Remembered[Described](most=64, seconds=900.0, seconds_of_failures=60.0)
"""Answers of the Hub on repositories and files."""


def _asked_as(text: str) -> Hashable:
    """Key of an answer of the Hub: the text, its address, and the rights of who asks."""
    from advisor.model import hub

    return text, hub.endpoint(), hub.offline(), permitted().token


def ask_again(text: str) -> None:
    """Drop the Hub's remembered answers about a repository or file."""
    ON_HUB.forget(_asked_as(text.strip()))


# bits a weight that a packed checkpoint may have [bit]
LEAST_STORED = 2
MOST_STORED = 16


def _undescribed(described: Described) -> Refusal:
    """Refusal of a checkpoint that does not state the bits of its weights, with its range."""
    weights = described.architecture.params / 8 / GIB
    return Refusal(
        f"{described.architecture.name} is stored as {described.undescribed[:60]}, and its files "
        f"do not say in how many bits a weight: {weights * LEAST_STORED:,.1f} GB in "
        f"{LEAST_STORED} bits to {weights * MOST_STORED:,.1f} GB in {MOST_STORED}. Name its "
        "format (--quant Q4_K_M, AWQ, FP8, EXL3-4bit ...), or give its GGUF file."
    )


def _chosen(described: Described, form: str | None) -> ResolvedModel:
    """Model in the requested, the stored or the usual format, in this order, with a note."""
    notes = described.notes
    if described.model is not None and form in (None, described.model.format):
        model = described.model
    else:
        if form is None and not described.format:
            raise _undescribed(described)
        model = catalog.in_format(described.architecture, form or described.format)
    if not described.architecture.layers:
        raise Refusal(f"{described.architecture.name} has no repeating layers to place.")
    return ResolvedModel(
        model=model,
        source=described.source,
        stored=described.format,
        notes=notes,
        facts=described.facts,
    )
