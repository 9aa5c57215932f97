"""Model of a name alone, without a network: of the catalogue, of the Hub's list, or a stand-in.

Names are compared by their parts (`names.take_apart`), without publisher, format, tuning and date,
which do not change a shape. Fine-tunes and conversions count as their base model; merged models,
models with experts removed and drafting models do not. Numbers must always agree; if no known model
agrees, similar names are offered and none is chosen.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from advisor.catalog import name_matching
from advisor.catalog.csv_tables import DATA, read
from advisor.errors import Refusal, UnknownName
from advisor.model import catalog
from advisor.model.architecture import ArchitectureSpec
from advisor.model.by_name import names
from advisor.model.by_name.checks import (
    AGREES,
    checked,
    contradiction,
    longer_context,
    refuse_unknown_states,
)
from advisor.model.by_name.hub_list import (
    READ,
    HubRow,
    by_config,
    counts_weights,
    hub_list,
    is_unpacked,
)
from advisor.model.by_name.known import (
    KnownRow,
    Named,
    better_described,
    catalogue_keys,
    is_drafting,
    makers,
    of_other_name,
    sizes,
    spellings_of,
)
from advisor.model.by_name.listed import listed
from advisor.model.by_name.readings import (
    UnknownModel,
    base_row,
    close_models,
    is_of_another_month,
    readings,
)
from advisor.model.by_name.stand_in import NEWEST, stand_in, told_of
from advisor.model.catalog import Download
from advisor.model.no_chat import refuse_no_chat_model


@lru_cache(maxsize=4096)
def meant(text: str) -> Named:
    """Known model of a name.

    Raises:
        UnknownName: no certain match; lists similar names, likeliest first.
        Refusal: a drafting model, which does not run alone, or no language model.
    """
    UnknownName.check("model", text)
    if not any(map(str.isalnum, text)):
        raise UnknownModel(text, ())
    fetched = by_config().get(text.strip().casefold())
    if fetched is not None and fetched.refused:
        raise Refusal(fetched.refused)
    tag = names.ollama_tag(text)
    if tag is not None:
        known = spelled(tag.short) or of_other_name(names.take_apart(tag.short).key)
        for spelling in (tag.short,) if known else (tag.full, tag.short):
            with suppress(UnknownModel):
                same = _meant(spelling)
                if tag.usual:
                    return replace(same, taken_as=same.name)
                return same
    return _meant(text)


def _meant(text: str) -> Named:
    """Known model of a name, as `meant`, without Ollama's tags of other tags."""
    name = names.take_apart(text)
    row = spelled(text)
    if row is not None:
        return Named(row=row, taken_as=row.name if _says_less(name, row) else "")
    exact = hub_list().named(text if "/" in text else _with_publisher(text, " "))
    refuse_no_chat_model(text, exact.architecture if exact else "")
    if exact is not None:
        return _exact(name, exact)
    if "/" in text:
        hosted = spelled(text.rpartition("/")[2])
    else:
        hosted = None
    if hosted is not None:
        return Named(row=hosted, taken_as=hosted.name)
    _refuse(name)
    read_as = next((model for model in readings(name) if model is not None), None)
    if read_as is None and (file := _with_publisher(text.rpartition("/")[2], "_")):
        with suppress(UnknownName):
            return meant(file)
    if read_as is None or is_of_another_month(name, read_as):
        raise UnknownModel(text, close_models(name) if read_as is None else (read_as.name,))
    if isinstance(read_as, HubRow):
        read_as = _counted(name, read_as)
    in_full = not name.publisher and "".join(name.tokens[:1]) in text.casefold()
    as_known = name.tokens in {names.take_apart(known).tokens for known in spellings_of(read_as)}
    return Named(row=read_as, taken_as="" if in_full and as_known else read_as.name)


# Names and aliases of the catalogue's models, compared without spaces and dashes.


def spelled(text: str) -> ArchitectureSpec | None:
    """Row of the catalogue by its name or an alias, compared without spaces and dashes."""
    exact = name_matching.spelled("model", catalog.model_rows()).get(text.strip().casefold())
    return exact or _joined_spellings().get(_joined(text))


@cache
def _joined_spellings() -> dict[str, ArchitectureSpec]:
    rows = catalog.model_rows().values()
    written = [(_joined(spelling), row) for row in rows for spelling in row.spellings]
    return dict(reversed(written))  # earlier rows over later ones


def _joined(text: str) -> str:
    return text.strip().casefold().translate(dict.fromkeys(map(ord, " -_:")))


def _says_less(name: names.ModelName, row: ArchitectureSpec) -> bool:
    """Whether a name lacks a word or version of the model, as "llama 70B" does."""
    told = "".join(name.tokens)
    return any(
        token not in told for token in names.take_apart(row.name).tokens if not names.is_size(token)
    )


# Names of repositories.


def _with_publisher(text: str, joint: str) -> str:
    """Repository of a name that begins with its publisher (`Qwen_Qwen3-32B`); empty for others."""
    publisher, _, rest = text.strip().partition(joint)
    known = rest and "/" not in text and hub_list().has_publisher(publisher)
    if known:
        return f"{publisher}/{'-'.join(rest.split())}"
    return ""


def _exact(name: names.ModelName, row: HubRow) -> Named:
    """Listed repository of exactly this name; the catalogue's model if both have the same shape."""
    if is_drafting(row):
        raise _drafting(row.name)
    base = catalogue_keys().get(name.key) or base_row(name)
    if isinstance(base, ArchitectureSpec) and _same_shape(base, row):
        return Named(row=base, taken_as=base.name)
    better = _of_total(_counted(name, better_described(row)))
    return Named(row=better, taken_as="" if better is row else better.name)


def _counted(name: names.ModelName, row: HubRow) -> HubRow:
    """Base model of a packed repository with a size in its name, since packed files do not state
    the number of weights.
    """
    if names.has_size(name.shape) and not is_unpacked(row):
        base = base_row(name)
    else:
        base = None
    known = isinstance(base, HubRow) and is_unpacked(base) and _same_shape(base, row)
    if isinstance(base, HubRow) and known:
        return base
    return row


def _of_total(row: HubRow) -> HubRow:
    """Maker's repository of the same words and layers whose sizes count the stated total, where
    those of an unpacked copy do not.
    """
    if not is_unpacked(row) or not counts_weights(row) or contradiction(row) <= AGREES:
        return row
    same = (
        other
        for other in hub_list().where("key", row.key)
        if (other.layers, other.hidden) == (row.layers, row.hidden)
        and other.parameters == row.parameters
    )
    return next((other for other in same if contradiction(other) <= AGREES), row)


def _same_shape(known: KnownRow, row: HubRow) -> bool:
    alike = (known.layers, known.hidden) == (row.layers, row.hidden)
    return alike and (not row.experts or not known.experts or known.experts == row.experts)


# Names of models that are refused, and why.

HOSTED_ALONE = re.compile(
    r"(?:.*[/.])?(?:gpt[- ]?(?:3\.5|4o|[4-9])|grok[- ]?(?:[3-9]|code))\b|openai gpt[- ]?[4-9]"
)
"""Pattern of versions of OpenAI's and xAI's models without published weights; gpt-oss, Grok 1 and 2
have them."""


def _refuse(name: names.ModelName) -> None:
    """Check that a name means no drafting model, no part of a model and none without weights."""
    if "draft" in name.kinds:
        raise _drafting(name.text)
    if "other" in name.kinds:
        raise Refusal(
            f"{name.text[:80]} makes images, sound or vectors, or is a part of a model, and writes "
            "no text. Name a language model."
        )
    # Fine-tunes on the answers of a closed model have its name further behind, or state a size.
    first = name.tokens[:1]
    closed = names.words().get("".join(first)) == "closed" or HOSTED_ALONE.match(
        name.text.casefold()
    )
    if first and closed and not names.has_size(name.tokens):
        raise Refusal(
            f"The weights of {name.text[:80]} are not published: it runs at its maker alone. Name "
            "a model that can be had."
        )


def _drafting(text: str) -> Refusal:
    return Refusal(
        f"{text[:80]} drafts tokens for another model and does not run alone. Name the model that "
        "it drafts for."
    )


# Native format: the one in which a publisher offers the weights, if it is not 16 bits.
#
# gpt-oss comes in MXFP4, DeepSeek-V3 in FP8. Runtimes that support these formats load them by
# default; for other models and runtimes the usual file format is the default.

USUAL = "Q4_K_M"  # default format of a model published in 16 bits
GGUF_OF_NATIVE = {"MXFP4-hf": "MXFP4"}  # GGUF format with the same, unchanged weights


@dataclass(frozen=True, kw_only=True, slots=True)
class NativeFormatRow:
    """One row of data/models/native_formats.csv."""

    name: str  # tokens that the model's name begins with, by `names.take_apart`, sizes left out
    family: str  # `model_type` whose other repositories hold that format, too; empty for none
    hidden: int | None  # width that they have; None where the family has one size
    format: str  # format in data/models/recipes.csv, the nearest one if there is no exact one


@cache
def native_rows() -> tuple[NativeFormatRow, ...]:
    """Rows of data/models/native_formats.csv."""
    return read(DATA / "models" / "native_formats.csv", NativeFormatRow)


def native_format(model: str, row: HubRow | None = None) -> str:
    """Native format of a model of the catalogue or the list; empty for 16 bits.

    Where the name does not tell it, the family and width of the row, or of a relative, do.
    """
    name = names.take_apart(model)
    by_name = {native.name: native.format for native in native_rows()}
    for tokens in (name.identity, name.shape):
        key = " ".join(token for token in tokens if not names.is_size(token))
        if key in by_name:
            return by_name[key]
    of_family = (
        native.format
        for native in native_rows()
        if row and native.family == row.architecture and native.hidden in (None, row.hidden)
    )
    return next(of_family, "")


def usual_format(native: str) -> str:
    """Default GGUF format: that of the native weights, or the usual one."""
    return GGUF_OF_NATIVE.get(native, USUAL)


def named(text: str, year: int = NEWEST) -> Named:
    """Model of a name in any spelling, or a stand-in of the size in it as of a year."""
    UnknownName.check("model", text)
    tag = names.ollama_tag(text)
    form = names.format_in_name(tag.full if tag else text)
    try:
        known = meant(text)
    except UnknownModel as unknown:
        name = names.take_apart(text)
        if unknown.close and told_of(name) is None and not _is_another_version(name, unknown.close):
            made = None
        else:
            made = stand_in(name, year)
        if made is None:
            raise
        refuse_unknown_states(text, None, made.architecture)
        model = made
    else:
        published_as = weights_of(text, known.row)
        model = checked(text, _described(known.row))
        model = replace(
            model,
            taken_as=known.name if published_as else known.taken_as,
            published_as=published_as,
            notes=(*_taken_note(text, known, published_as), *model.notes),
        )
        model = longer_context(text, model)
    native = native_format(model.name, model.row if isinstance(model.row, HubRow) else None)
    return replace(model, format=form.name if form else "", native=native)


def _taken_note(text: str, known: Named, published_as: str) -> tuple[str, ...]:
    """Sentence on the model that a name was taken for; none for its own name."""
    if published_as:
        return (f"{text[:80]} has the layers of {known.name}, and is counted as that.",)
    if known.taken_as:
        return (f"{text[:80]} is taken as {known.name}.",)
    return ()


# Weights of their own in layers that another model has, too: Devstral in those of Mistral Small.

TUNED = frozenset({"it", "instruct", "chat"})
"""Words of weights that answer questions."""


def weights_of(text: str, row: KnownRow) -> str:
    """Name under which a name's weights are published; empty where they are those of the model
    itself.

    It is the name itself where no list has such weights.
    """
    tag = names.ollama_tag(text)
    meaning = names.take_apart(tag.full if tag else text).weight_words
    if any(meaning <= names.take_apart(name).weight_words for name in Download.names_of(row.name)):
        return ""
    if text.strip() in Download.rows():
        return text.strip()
    return _closest_weights(meaning, row) or text.strip()


def _closest_weights(meaning: frozenset[str], row: KnownRow) -> str:
    """Name of listed weights of the same layers with all of some words and fewest others; empty
    without any.

    Of equally close ones tuned weights come first, then the maker's, then the newest; dates count
    less than words.
    """
    able = [
        name
        for name in sorted(Download.rows(), reverse=True)
        if meaning <= names.take_apart(name).weight_words and _has_layers(name, row)
    ]

    def distance(name: str) -> tuple[int, int, bool, bool]:
        words = names.take_apart(name).weight_words
        tuned = not TUNED.isdisjoint(names.take_apart(name).tokens)
        of_maker = name.partition("/")[0] in makers()
        return sum(map(str.isalpha, words)), len(words), not tuned, not of_maker

    return min(able, key=distance, default="")


def _has_layers(name: str, row: KnownRow) -> bool:
    """Whether a listed name's model has the layers of another."""
    try:
        return sizes(meant(name).row) == sizes(row)
    except (UnknownName, Refusal):
        return False


def _is_another_version(name: names.ModelName, close: tuple[str, ...]) -> bool:
    """Whether a name with active weights differs from a known one in its version alone, as that of
    a later model does.
    """
    if not any(map(names.is_active, name.shape)) or names.stated_size(name) is None:
        return False
    other = names.take_apart(close[0])
    return _versionless(name) == _versionless(other) and name.shape != other.shape


def _versionless(name: names.ModelName) -> tuple[str, ...]:
    return tuple(token for token in name.shape if not token[0].isdigit() or names.is_size(token))


def is_named(text: str) -> bool:
    """Whether the catalogue or the list has the model, even if it is refused."""
    try:
        meant(text)
    except UnknownName:
        return False
    return True


def _described(row: KnownRow) -> Named:
    """Architecture of a known model, with notes on the origin and certainty of its sizes."""
    if isinstance(row, ArchitectureSpec):
        notes = (f"{row.note[:1].upper()}{row.note[1:]}.",) if row.note else ()
        return Named(row=row, notes=(*notes, *_of_tower(catalog.architecture(row.name).tower)))
    entry = listed(row)
    if entry.configured:
        return Named(row=row, notes=entry.configured)
    about = f"Its sizes are from a list of Hugging Face's models of {READ}"
    if entry.generic:
        about += (
            f"; no rule of its family is known here, so its layers are counted as {entry.alike}, "
            "and ranges are wider. Its config.json or GGUF file would tell them."
        )
    elif entry.derived:
        about += f"; {', '.join(entry.derived)} derived from its stated total."
    else:
        about += " and the rule of its family."
    further = (*_of_loops(entry.architecture.visits), *_of_tower(entry.architecture.tower))
    return Named(row=row, notes=(about, *further))


def _of_loops(visits: tuple[int, ...]) -> tuple[str, ...]:
    """Sentence on the times that a token passes the layers; none where it passes them once."""
    if not visits:
        return ()
    return (
        f"A token passes its {len(visits)} layers {sum(visits)} times in all, some of them several "
        "times: each time is read and cached.",
    )


def _of_tower(tower: int) -> tuple[str, ...]:
    """Sentence on an encoder of images or sound, and where it is counted; none without one."""
    if not tower:
        return ()
    return (
        f"Its encoder of images or sound, {tower / 1e9:.2f} B weights, counts with checkpoints; "
        "quantized GGUF files leave it to one of its own (mmproj).",
    )
