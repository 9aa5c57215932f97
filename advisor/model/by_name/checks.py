"""Checks of a model's layers against the figures that its list row or its name states.

A stated total is a check: where the layers of a family count another one, the answer says so first,
and where no rule of the family is known, or the name agrees with the total, the layers are scaled
to it. Families whose layers keep a state are refused where no rule tells how.
"""

import math
import re
from dataclasses import replace

from advisor.errors import Refusal
from advisor.model.architecture import Architecture, ArchitectureSpec
from advisor.model.by_name import names
from advisor.model.by_name.hub_list import READ, HubRow, counts_weights, hub_list, is_unpacked
from advisor.model.by_name.known import KnownRow, Named
from advisor.model.by_name.listed import listed, text_parameters
from advisor.model.by_name.stand_in import of_size, resized

AGREES = math.log(1.15)
"""Logarithm of how far a stated total may lie from what the layers count."""
OTHER_LAYERS = 0.3
"""Logarithm of how far Llama's layers may count from a stated total: towers make a quarter."""
STATES = re.compile(
    r"rwkv|qwerky|mamba|zamba|samba(?!nova)|xlstm|retnet|hgrn|griffin|recurrent|hyena|hymba"
    r"|delta[-_ ]?net|gdn|(?:^|_)kda|lightning[-_ ]?attn|linear[-_ ]?attn|jet[-_ ]?nemotron"
    r"|nemotron[-_ ]?flash|phi4flash|olmo[-_ ]hybrid|longhorn|liquid|evo[-_ ]?2(?=[-_ ])"
    r"|plamo[-_ ]?2(?![\d.])|(?<![a-z])(?:finch|goose|raven)[-_ ](?=[\d.]+b)|(?<![a-z])titans",
    re.IGNORECASE,
)
"""Words of architectures and names whose layers keep a state instead of a growing cache."""


def refuse_unknown_states(text: str, row: HubRow | None, architecture: Architecture) -> None:
    """Check that a rule describes the states that a model's layers keep; raises Refusal.

    Raises:
        Refusal: its architecture or name says so, and its layers as counted keep none, or are of a
            stand-in.
    """
    told = STATES.search(f"{row.architecture} {row.name}" if row else text)
    # The states of a stand-in are those of another family.
    counted = row is not None and any(layer.state_values for layer in architecture.cache)
    headless = row is not None and not row.heads
    if counted or not (told or headless):
        return
    why = f"as {told[0]!r} in its name or architecture says" if told else "as it has no heads"
    raise Refusal(
        f"{text[:80]} has layers that keep a state ({why}), and no rule of its family is known "
        "here: its cache and its weights would be guessed. Its GGUF file tells them."
    )


def checked(text: str, model: Named) -> Named:
    """Model as its row states it: scaled to the stated total, or with a note on the difference."""
    row = _row_of(text, model)
    if row is None:
        return model
    entry = listed(row)
    if entry.generic:
        refuse_unknown_states(text, row, entry.architecture)
    if not is_unpacked(row) or _estimated(row):
        return _as_named(row, model)
    total = text_parameters(row, model.architecture)
    apart = math.log(model.architecture.params / total)
    if abs(apart) <= AGREES:
        return _of_named_use(row, model, entry.generic)
    own = names.stated_size(names.take_apart(row.name))
    named_so = own is not None and abs(math.log(own.params / total)) <= AGREES
    if entry.generic or named_so:
        return _of_total(row, model, total, apart)
    note = (
        f"Its files hold {_billions(total)} weights by a list of {READ}, while its layers count "
        f"{_billions(model.architecture.params)}, which is shown: they may be packed, pruned or "
        "not all there. Its config.json or GGUF file would tell."
    )
    return replace(model, notes=(note, *model.notes))


def contradiction(row: HubRow) -> float:
    """Distance of a row's counted weights from its stated total, as the logarithm of their
    ratio.
    """
    built = listed(row).architecture
    return abs(math.log(built.params / text_parameters(row, built)))


NAMED_APART = math.log(1.5)
"""Logarithm of how far a name that states its active weights too may lie from what the layers
count: 4 % of the listed models lie farther, most of them named by the weights in use alone."""


def _as_named(row: HubRow, model: Named) -> Named:
    """Model scaled to the size in its name, where its packed files do not state one and its layers
    count another.
    """
    name = names.take_apart(JOINED_SIZES.sub(r"\1-", row.name))
    size = names.stated_size(name)
    if size is None:
        return model
    counted = model.architecture.params
    more = math.log(counted / size.params)
    if "cut" in name.kinds:
        differs = more > AGREES  # a smaller one is named by the model that it was cut from
    else:
        differs = size.active is not None and abs(more) > NAMED_APART
    if not differs:
        return model
    made = resized(model.architecture, model.name, size)
    note = (
        f"Its name says {_billions(size.params)} weights, while its sizes in a list of {READ} "
        f"count {_billions(counted)}, those of the model that it was made from: its layers are "
        "scaled to its name. Its config.json or GGUF file would tell them."
    )
    return replace(model, made=made, notes=(note, *model.notes))


USE_APART = math.log(1.2)
LEAST_APART = 1.5e9
"""How far the active weights of a name may lie from those that the layers use, and at least by how
many: names round, and count the tables of tokens or leave them out."""


def _of_named_use(row: HubRow, model: Named, generic: bool) -> Named:
    """Model whose use of experts agrees with its name.

    Where nobody described its layers the use is that of the name; where layers are described and
    differ from it, a sentence says so.
    """
    size = names.stated_size(names.take_apart(JOINED_SIZES.sub(r"\1-", row.name)))
    used = model.architecture.active_params
    if size is None or size.active is None or model.architecture.experts is None:
        return model
    if abs(math.log(used / size.active)) <= USE_APART or abs(used - size.active) < LEAST_APART:
        return model
    if not generic:
        note = (
            f"Its name says {_billions(size.active)} active weights, while its layers use "
            f"{_billions(used)} for a token, which is shown."
        )
        return replace(model, notes=(note, *model.notes))
    scaled = replace(size, params=float(model.architecture.params))
    note = (
        f"Its name says {_billions(size.active)} active weights, while its layers as counted use "
        f"{_billions(used)}: its layers are scaled to its name."
    )
    made = resized(model.architecture, model.name, scaled)
    return replace(model, made=made, notes=(note, *model.notes))


CONTEXT = re.compile(r"(?<![a-z0-9.])(\d{1,4})(k|m)(?![a-z0-9])", re.IGNORECASE)
"""A context in a name: `Yi-34B-200K`, `Qwen2.5-7B-Instruct-1M`."""
SIZE = re.compile(r"\d[bB]|(?<![a-z])(mini|small|medium|large)(?![a-z])", re.IGNORECASE)
"""A size in a name, in billions or in a word: `Phi-3-mini-4k`."""
LEAST_CONTEXT = 2048  # shorter ones are weights: `SmolLM-135M`, `stories-260K` [tokens]
BINARY = frozenset({2**power for power in range(2, 11)})
"""Thousands that are written for powers of two: 32k is 32,768 tokens, 200k is 200,000."""


def longer_context(text: str, model: Named) -> Named:
    """Model with the context of its variant, where that is longer.

    The context is that of the variant's own row or name. An exact name is no variant, unless its
    maker has it as a repository of its own beside the model's; a copy's row says nothing of it.
    """
    own = model.architecture.max_context
    if own is None:
        return model
    named = 0
    stated = _context_of_later(text, model.row)
    if model.taken_as or not model.known:
        named = _context_of_name(text)
        stated = max(stated, named, _context_of_row(text))
    if stated > own or (named == stated and 0 < named < own):
        return replace(model, context=stated)
    return model


def _context_of_later(text: str, row: KnownRow) -> int:
    """Context of a variant that is another name of a catalogue's model, from its maker's repository
    [tokens].

    `Qwen3-4B-Instruct-2507` is such a name of `Qwen/Qwen3-4B`; it is 0 for other names.
    """
    if not isinstance(row, ArchitectureSpec):
        return 0
    maker = row.hf_id.partition("/")[0]
    repository = f"{maker}/{text.strip().rpartition('/')[2]}"
    if repository.casefold() == row.hf_id.casefold():
        return 0
    variant = hub_list().named(repository)
    if variant is None:
        return 0
    return variant.max_context


def _context_of_row(text: str) -> int:
    """Context of the row of the list that has a name, with or without its publisher; 0 without
    one.
    """
    stripped = text.strip()
    if "/" in stripped:
        row = hub_list().named(stripped)
    else:
        row = next(hub_list().ending_with(f"/{stripped}"), None)
    if row is not None:
        return row.max_context
    return 0


def _context_of_name(text: str) -> int:
    """Context that a name states beside a size; 0 without one [tokens]."""
    last = text.rpartition("/")[2]
    lengths = list(CONTEXT.finditer(last))
    if not lengths or not SIZE.search(CONTEXT.sub(" ", last)):
        return 0
    number = int(lengths[-1][1])
    if lengths[-1][2].casefold() == "m":
        return number * 2**20
    tokens = number * (1024 if number in BINARY else 1000)
    if tokens >= LEAST_CONTEXT:
        return tokens
    return 0


def _row_of(text: str, model: Named) -> HubRow | None:
    """Row of the list that a text names exactly, or the row that it was read as."""
    exact = hub_list().named(text) if "/" in text else None
    if exact is not None:
        return exact
    if isinstance(model.row, HubRow) and model.made is None:
        return model.row
    return None


def _estimated(row: HubRow) -> bool:
    """Whether a total was computed from the sizes, so that it tells nothing new."""
    return not counts_weights(row) and row.parameters % 100_000_000 != 0


def _of_total(row: HubRow, model: Named, total: int, apart: float) -> Named:
    """Model scaled to a stated total; its own layers are kept where they nearly count it."""
    size = _size(row, model.architecture, total)
    if abs(apart) <= OTHER_LAYERS or model.architecture.experts is not None:
        made = resized(model.architecture, model.name, size)
        shape = "its layers and cache are those of its sizes"
    else:
        made = of_size(row.name, size)
        shape = "its shape is that of a relative"
    note = (
        f"Its {_billions(total)} weights are those that a list of Hugging Face's models of {READ} "
        f"states; counted by its sizes alone it would have {_billions(model.architecture.params)}, "
        f"so its layers are of another kind or width: {shape}. Its config.json or GGUF file would "
        "tell them."
    )
    return replace(model, made=made, notes=(note, *model.notes[:1]))


JOINED_SIZES = re.compile(r"(\d[bB])(?=[aA]\d)")
"""Weights that a name joins to the active ones: `21BA3B`."""


def _size(row: HubRow, architecture: Architecture, total: int) -> names.StatedSize:
    """Size of a model with a stated total; active weights as its name states them, or by the share
    of the experts that a token uses.
    """
    apart = JOINED_SIZES.sub(r"\1-", row.name)
    told = names.stated_size(names.take_apart(f"{apart} {total / 1e9:.3f}b"))
    if told is not None and told.active is not None and told.active < total:
        return names.StatedSize(params=float(total), active=told.active, layers=row.layers or None)
    if architecture.experts is None:
        return names.StatedSize(
            params=float(total), active=None, layers=row.layers or None, may_have_experts=True
        )
    share = architecture.active_params / architecture.params
    return names.StatedSize(params=float(total), active=share * total, layers=row.layers or None)


def _billions(weights: float) -> str:
    return f"{weights / 1e9:,.3g} B"
