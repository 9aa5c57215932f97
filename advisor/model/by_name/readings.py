"""Readings of a model's name: the ways in which its words may mean a known model.

`readings` has their order, and the sections below the ways.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

from advisor.catalog.csv_tables import DATA, read
from advisor.errors import AdvisorError, UnknownName
from advisor.model import catalog
from advisor.model.architecture import Architecture, ArchitectureSpec, Group
from advisor.model.by_name.hub_list import READ, HubRow, counts_weights, hub_list
from advisor.model.by_name.known import (
    KnownRow,
    architecture_of,
    base_of,
    better_described,
    catalogue_keys,
    families,
    is_drafting,
    is_of_maker,
    known_keys,
    makers,
    of_other_name,
    other_names,
    sizes,
    spellings_of,
)
from advisor.model.by_name.names import (
    TABLE,
    ModelName,
    has_size,
    is_active,
    is_size,
    take_apart,
    weights,
    words,
)


def readings(name: ModelName) -> Iterator[KnownRow | None]:
    """Models that a name may mean, from the surest reading of its words to the least sure.

    Text that llama-bench prints is no name: its "phi3 14B" is Phi-4, Ollama's "phi3:14b" Phi-3.
    """
    printed = bool(_printed_as(name))
    numbered = any(map(str.isdigit, name.key))
    yield _of_month(name)
    yield None if printed else of_other_name(name.key)
    yield _same_words(name)
    yield _of_size_and_words(name)
    yield _of_printed_size(name)
    yield _of_experts_label(name)
    yield _only_candidate(name) if numbered and len(name.shape) > 2 and not name.publisher else None
    alike = (row for row in hub_list().where("key", name.key) if numbered and not is_drafting(row))
    yield next(map(better_described, alike), None)
    yield base_row(name)
    yield _only_candidate(name)


# Names with exactly the words of a known one.


def _same_words(name: ModelName) -> KnownRow | None:
    """Model with exactly these words: of the catalogue, or the nearest of a maker."""
    if not name.key or name.key in catalogue_keys():
        return catalogue_keys().get(name.key)
    row = min(
        filter(is_of_maker, hub_list().where("key", name.key)),
        key=lambda row: (take_apart(row.name).identity != name.identity, len(row.name)),
        default=None,
    )
    if row is None:
        return None
    return better_described(row)


# Months that names of models state: "mistral-large-2512" is another model than "-2407".

MONTH = re.compile(r"2[3-6](?:0[1-9]|1[0-2])")
"""Pattern of a year and month, as Mistral dates its models."""
NEAR = 2  # months by which a repository may be older or newer than its name says


def _of_month(name: ModelName) -> KnownRow | None:
    """Maker's model of the only month in a name without a size, `-2512` at the end of its own; all
    are offered where several are of that month.
    """
    months = _months(name)
    if len(months) != 1 or not name.shape or has_size(name.shape):
        return None
    typed = {token for token in name.shape if token.isalpha()}
    end = f"-{months.pop()}"
    rows: dict[str, KnownRow] = {
        row.name: row for row in hub_list().ending_with(end) if row.name.split("/")[0] in makers()
    }
    specs = catalog.model_rows().values()
    rows |= {row.hf_id: row for row in specs if row.hf_id.endswith(end)}
    meant = [row for full, row in rows.items() if typed <= set(take_apart(full).shape)]
    if len(set(map(sizes, meant))) > 1:
        raise UnknownModel(name.text, tuple(row.name for row in meant))
    return next(iter(meant), None)


def is_of_another_month(name: ModelName, row: KnownRow) -> bool:
    """Whether a name states a month that contradicts the known model with the same words.

    That model states another month, or was published more than two months from it.
    """
    typed = _months(name)
    if not typed or has_size(name.shape):
        return False
    alike = [take_apart(spelling) for spelling in spellings_of(row)]
    stated = [_months(other) for other in alike if other.shape == name.shape]
    if isinstance(row, ArchitectureSpec) and stated and all(months - typed for months in stated):
        return True
    dated = any(months & typed for months in map(_months, alike))
    same = take_apart(row.name).shape[:1] == name.shape[:1]
    return same and not dated and all(_months_apart(row.released, month) > NEAR for month in typed)


def _months_apart(released: str, month: str) -> int:
    """Months between the day of a publication and a month as in names; 0 where unknown."""
    if not released[5:7]:
        return 0
    years = int(released[:4]) - 2000 - int(month[:2])
    return abs(12 * years + int(released[5:7]) - int(month[2:]))


def _months(name: ModelName) -> set[str]:
    return {token for token in name.tokens if MONTH.fullmatch(token)}


# Models that a name means by its words and a size that is not part of the model's own name.
#
# People and llama.cpp add the size to names that makers leave it out of: "minimax-m2.7:230b",
# "kimi-k2:1t", "phi4-mini:3.8b". llama-bench prints an architecture and a size, `deepseek2
# 30B.A3B`, which only a known model of that architecture and size can be.

NEAR_IN_SIZE = 0.06
"""A stated size may be off by this share: 230B of 228.7, 3.8B of 3.84, 1T of 1.03."""
EXPERTS = re.compile(r"\d+x\d+(?:\.\d+)?b")
LABEL_NEAR = 0.1
"""A label of experts may be off by this share: it is rounded to two digits, and conversions for
latent attention hold a part of its tensors twice."""
ACTIVE_NEAR = 0.5  # active weights are counted with and without tables, and rounded to billions


def _of_size_and_words(name: ModelName) -> KnownRow | None:
    """Model whose name says the words and whose weights are those stated; None without one."""
    key = " ".join(token for token in name.shape if not is_size(token))
    if name.kinds & NOT_THEIR_BASE or not (" " in key or any(map(str.isdigit, key))):
        return None
    if _stated(name.shape):
        row = base_of(key)
    else:
        row = None
    if row is not None and _weighs(row, name.shape):
        return row
    return None


def _of_experts_label(name: ModelName) -> KnownRow | None:
    """Model of a name with llama.cpp's label of experts, `DeepSeek-R1-256x21B`; None without one.

    The label states the number of experts, and the size of one with what every token uses.
    """
    labels = [token for token in name.shape if EXPERTS.fullmatch(token)]
    if len(labels) != 1:
        return None
    rest = tuple(token for token in name.shape if token not in labels)
    base = base_of(" ".join(rest)) or base_row(replace(name, shape=rest))
    if base is None:
        rows = candidates(rest)
    else:
        rows = (base,)
    shapes = {(row.layers, row.hidden, row.experts): row for row in reversed(rows)}
    fitting = [row for row in reversed(shapes.values()) if _has_label(row, labels[0])]
    if len(fitting) == 1:
        return fitting[0]
    return None


def _has_label(row: KnownRow, label: str) -> bool:
    count, _, each = label.partition("x")
    stated = weights(each)
    built = _built(row)
    if row.experts != int(count) or stated is None or built is None:
        return False
    experts = (tensor for tensor in built.tensors if tensor.group is Group.ROUTED_EXPERTS)
    routed = sum(tensor.params for tensor in experts)
    counted = sum(tensor.params for tensor in built.tensors) - routed + routed / row.experts
    return abs(counted / stated - 1) < LABEL_NEAR


def _printed_as(name: ModelName) -> tuple[str, ...]:
    """Architectures of the list that a name begins with as llama-bench prints them, `deepseek2
    30B.A3B` (LLM_ARCH_NAMES in llama.cpp's src/llama-arch.cpp).
    """
    label, space, _ = name.text.strip().casefold().partition(" ")
    further = [word for word in name.tokens if word.isalpha() and word not in label]
    if space and not further:
        return tuple(TABLE.of_kind("printed").get(label, "").split())
    return ()


def _of_printed_size(name: ModelName) -> KnownRow | None:
    """Most used model of the architecture and size that llama-bench prints, if any."""
    if not _stated(name.tokens):
        return None
    for architecture in _printed_as(name):
        for row in hub_list().where("architecture", architecture):
            if is_of_maker(row) and _weighs(row, name.tokens):
                return catalogue_keys().get(row.key) or row
    return None


def _stated(tokens: Iterable[str]) -> float | None:
    """Only total that the words of a name state [weights]; None for none or several."""
    counts = (weights(token) for token in tokens if token[0].isdigit() and "x" not in token)
    totals = [total for total in counts if total is not None]
    if len(totals) == 1:
        return totals[0]
    return None


def _weighs(row: KnownRow, tokens: Iterable[str]) -> bool:
    """Whether a model has the stated weights, and about the stated active ones."""
    total = _stated(tokens)
    built = _built(row)
    if total is None or built is None:
        return False
    if isinstance(row, HubRow) and counts_weights(row):
        counted = [row.parameters]
    else:
        counted = []
    if all(abs(number / total - 1) > NEAR_IN_SIZE for number in (built.params, *counted)):
        return False
    active = next((weights(token[1:]) for token in tokens if is_active(token)), None)
    return not active or abs(built.active_params / active - 1) < ACTIVE_NEAR


def _built(row: KnownRow) -> Architecture | None:
    try:
        return architecture_of(row)
    except AdvisorError:
        return None


# Base model of a fine-tune or conversion: family, version and sizes of its name.

NOT_THEIR_BASE = frozenset({"cut", "merge", "draft"})
LIKE_A_VARIANT = 75  # similarity above which a word may be a misspelled variant of a family [%]
VERSION = re.compile(r"\d+(?:\.\d+)*")
OF_A_FAMILY = re.compile(r"\d(?:\.\d+)*(?![.\d])")
"""Pattern of a family's version; a longer number is a size or a date."""


def base_row(name: ModelName) -> KnownRow | None:
    """Base model with the family, version and sizes of a name; None where none is certain.

    Its words must stand together in the name, and it must have all sizes of the name; of several
    such models the one with the longest words counts. Words may stand apart where the name has no
    other family, version or size: "Llama-Doctor-3.2-3B".
    """
    if name.kinds & NOT_THEIR_BASE:
        return None
    sizes, typed = _sizes_and_words(name.shape)
    for known, key in _keys_by_sizes().get(sizes, ()):
        before, within, behind = f" {typed} ".partition(f" {known} ")
        further = f"{before} {behind}".split()
        if not within or _is_cut_short(name, known, before, behind):
            continue
        if sizes or not any(map(_may_be_variant, further)):
            row = base_of(key)
        else:
            row = None
        if row is not None:
            if further and _is_any_version(key, row):
                return None
            return row
    parts = typed.split()
    apart = [word for word in parts if word in families() or OF_A_FAMILY.fullmatch(word)]
    certain = len(apart) == 2 and len(sizes) == 1 and parts[0] in families()
    if certain:
        return base_of(" ".join((*apart, *sizes)))
    return None


@cache
def _keys_by_sizes() -> Mapping[frozenset[str], list[tuple[str, str]]]:
    """Words and key of each known model by the sizes in its name, the longest first."""
    index: dict[frozenset[str], list[tuple[str, str]]] = defaultdict(list)
    for key in sorted((*known_keys(), *other_names()), key=lambda key: -key.count(" ")):
        sizes, known = _sizes_and_words(key.split())
        index[sizes].append((known, key))
    return index


def _sizes_and_words(tokens: Sequence[str]) -> tuple[frozenset[str], str]:
    sizes = frozenset(filter(is_size, tokens))
    return sizes, " ".join(token for token in tokens if token not in sizes)


def _is_cut_short(name: ModelName, known: str, before: str, behind: str) -> bool:
    """Whether the words of a known model are only a part of a name's: "llama" of "llama 5 70b",
    whose version follows, or a single letter of "ai 21 k 2".
    """
    family, _, rest = known.partition(" ")
    if not family.isalpha() or not (rest or has_size(name.shape)):
        return True
    version = OF_A_FAMILY.match(behind)
    followed = version is not None and f"{known.split()[-1]} {version[0]} " in f"{name.key} "
    return (len(family) == 1 and bool(before)) or (followed and known[-1].isalpha())


def _is_any_version(key: str, row: KnownRow) -> bool:
    """Whether a family and size fit versions of different shapes: "Impish-Qwen-14B" may be of any
    Qwen.
    """
    family, _, size = key.partition(" ")
    if not is_size(size):
        return False
    versions = (other.split() for other in known_keys())
    others = (
        base_of(" ".join(parts))
        for parts in versions
        if len(parts) == 3
        and (parts[0], parts[2]) == (family, size)
        and OF_A_FAMILY.fullmatch(parts[1])
    )
    shape = (row.layers, row.hidden, row.kv_heads)
    return any(other and (other.layers, other.hidden, other.kv_heads) != shape for other in others)


def _may_be_variant(token: str) -> bool:
    """Whether a token is a number or letter (`3n`, `4.6v`), or similar to a word for a size of a
    family (`air`, `flash`).
    """
    if not token.isalpha() or len(token) == 1:
        return True
    from rapidfuzz import fuzz  # 60 ms that only an unknown word beside a sizeless name is worth

    variants = (word for word, kind in words().items() if kind == "variant")
    return any(fuzz.ratio(token, word) >= LIKE_A_VARIANT for word in variants)


# Incomplete and misspelled names: what has all words of a name, and what is spelled alike.

LEAST_WORDS = 3  # number of words from which a name without a number may be incomplete
WORDS_LEFT_OUT = 1
"""Number of words that an incomplete name may lack, besides sizes, versions and variants."""
WORDS_OF_AN_END = 2
"""Words of a name that is the end of a listed one: "nemotron super 49b v1.5" of
Llama-3.3-Nemotron-Super-49B-v1.5, but "qwen 32b" of no distillation."""
WITH_EXPERTS = "moe"  # word that people add to models with experts: "Gemma 26B MoE"
SHORTEST_FAMILY = 5
"""Letters of a family's name that may stand alone, if all its models have one shape."""
ANOTHER_SIZE = "another size of a family"
"""Meaning of variants that are no other kind of model, in data/models/name_words.csv."""
OFFERED = 5  # number of similar names that are offered
LEAST_ALIKE = 60  # smallest similarity of an offered name [%]
ONE_LETTER = 92  # similarity above which numbers may differ, as a digit may be mistyped [%]
MISSPELLED = 85  # similarity above which a name counts as misspelled, not as a new model [%]


def _only_candidate(name: ModelName) -> KnownRow | None:
    """Only model, or only shape, with all words and numbers of an incomplete name.

    The name of a family alone matches no model, unless all of them have one shape.
    """
    tokens = name.shape
    alone = len(tokens) == 1 and len(tokens[0]) >= SHORTEST_FAMILY
    if not alone and len(tokens) < LEAST_WORDS and not any(map(str.isdigit, name.key)):
        return None
    rows = candidates(tokens)
    if not rows and WITH_EXPERTS in tokens:
        tokens = tuple(token for token in tokens if token != WITH_EXPERTS)
        rows = tuple(row for row in candidates(tokens) if row.experts)
    rows = tuple(row for row in rows if _may_be_short_for(tokens, row))
    of_catalogue = () if alone else tuple(row for row in rows if isinstance(row, ArchitectureSpec))
    chosen = of_catalogue or rows
    if len(set(map(sizes, chosen))) == 1:
        return chosen[0]
    return None


def _may_be_short_for(tokens: tuple[str, ...], row: KnownRow) -> bool:
    """Whether a name may be short for a listed one, of which it leaves out at most one word of its
    own.

    A left-out word is neither a family before the name nor a version behind it: "llama pro 8b" is
    not Hermes-2-Pro-Llama-3-8B, "chatglm-6b" not ChatGLM3-6B.
    """
    if isinstance(row, ArchitectureSpec):
        return True
    full = take_apart(row.name).shape
    later = len(full) > 1 and OF_A_FAMILY.fullmatch(full[1]) is not None and full[1] not in tokens
    if later and tokens[0] == full[0]:
        return False
    left_out = [word for word in full if word.isalpha() and word not in (*tokens, *words())]
    is_end = full[-len(tokens) :] == tokens and sum(map(str.isalpha, tokens)) >= WORDS_OF_AN_END
    return len(left_out) <= WORDS_LEFT_OUT and (
        is_end or tokens[0] == full[0] or tokens[0] not in families()
    )


def candidates(tokens: tuple[str, ...]) -> tuple[KnownRow, ...]:
    """Models with all words and numbers of a name; the catalogue's first, then by downloads."""
    if all(map(is_size, tokens)):
        return ()
    typed = " ".join(tokens)
    near = (key for key in known_keys() if all(token in key for token in tokens))
    keys = [key for key in near if _has_all(key, tokens) and _has_versions(key, tokens)]
    exact = [key for key in keys if set(tokens) <= set(key.split())]
    rows = ((key, row) for key in exact or keys if (row := base_of(key)) is not None)
    newest = sorted(rows, key=lambda pair: pair[1].released, reverse=True)
    likeliest = sorted(newest, key=lambda pair: (not pair[0].startswith(typed), pair[0].count(" ")))
    return tuple({row.name: row for _, row in likeliest}.values())


def _has_all(key: str, tokens: tuple[str, ...]) -> bool:
    """Whether a key has all words and numbers of a name, sizes without their unit too."""
    parts = {*key.split(), *(part[:-1] for part in key.split() if is_size(part))}
    return parts.issuperset(tokens)


def _has_versions(key: str, tokens: tuple[str, ...]) -> bool:
    """Whether the versions of a name stand behind the same words in a key, sizes apart:
    "devstral-2" is Devstral-Small-2, "Qwen4" is not Qwen-SEA-LION-v4.
    """
    typed = [token for token in tokens if not is_size(token)]
    parts = [part for part in key.split() if not is_size(part)]
    plain = [part for part in parts if part in typed or words().get(part) != "variant"]
    versions = [pair for pair in pairwise(typed) if VERSION.fullmatch(pair[1])]
    return all(pair[1] not in plain or pair in pairwise(plain) for pair in versions)


HOSTED = "models/hosted_models.csv"


@dataclass(frozen=True, kw_only=True, slots=True)
class HostedRow:
    """One row of data/models/hosted_models.csv: a name that APIs sell and no list has."""

    name: str
    source: str
    source_date: str


@cache
def hosted() -> frozenset[str]:
    """Parts of the names of models that APIs alone sell."""
    return frozenset(take_apart(row.name).key for row in read(DATA / HOSTED, HostedRow))


def _why(text: str) -> str:
    """Sentence on why a name says too little, followed by a blank; empty where there is no reason
    to tell.
    """
    name = take_apart(text)
    if not name.shape:
        return ""
    if name.key in hosted():
        return f"APIs sell it, but no weights of that name are in the list of {READ}. "
    if has_size(name.shape):
        return ""
    return f"It is not in the list of {READ}, and its name states no size. "


class UnknownModel(UnknownName):
    """Unknown name of a model, with the names that may be meant."""

    def __init__(self, name: str, close: tuple[str, ...]) -> None:
        give = "Otherwise give" if close else "Give"
        hint = f"{_why(name)}{give} its GGUF file, config.json or owner/name on Hugging Face."
        super().__init__("model", name, (), hint)
        self.close = close


def close_models(name: ModelName) -> tuple[str, ...]:
    """Names that may be meant, likeliest first; of a family alone its newest models."""
    if name.shape:
        rows = candidates(name.shape)
    else:
        rows = ()
    if not any(map(str.isdigit, name.key)):
        newest = sorted(rows, key=_published, reverse=True)
        rows = tuple(sorted(newest, key=lambda row: _words_of_its_own(name, row)))
    if rows:
        return tuple(dict.fromkeys(row.name for row in rows))[:OFFERED]
    return _spelled_alike(name, MISSPELLED if has_size(name.shape) else LEAST_ALIKE)


def _published(row: KnownRow) -> str:
    """Day or month of publication; the catalogue's models without one are the newest."""
    return row.released or ("9" if isinstance(row, ArchitectureSpec) else "")


def _words_of_its_own(name: ModelName, row: KnownRow) -> int:
    """Words of a model that tell more than its family, version and size: "ocr", "safeguard"."""
    sizes = [word for word, is_of in TABLE.of_kind("variant").items() if is_of == ANOTHER_SIZE]
    own = (word for word in take_apart(row.name).shape if word.isalpha())
    return sum(word not in (*name.shape, *sizes) and len(word) > 1 for word in own)


def _spelled_alike(name: ModelName, least: float) -> tuple[str, ...]:
    """Names with the same numbers whose words are spelled alike, by rapidfuzz."""
    from rapidfuzz import fuzz, process  # 60 ms that only a misspelled name is worth

    keys = list(dict.fromkeys(known_keys()))
    numbers = {_number(token) for token in name.shape} - {""}
    near = [key for key in keys if all(number in key for number in numbers)]
    alike = [key for key in near if numbers <= {_number(part) for part in key.split()}]
    scored = process.extract(
        name.key, alike, scorer=fuzz.token_sort_ratio, limit=OFFERED, score_cutoff=least
    ) or process.extract(
        name.key, keys, scorer=fuzz.token_sort_ratio, limit=OFFERED, score_cutoff=ONE_LETTER
    )
    rows = (base_of(key) for key, *_ in scored)
    return tuple(dict.fromkeys(row.name for row in rows if row is not None))


def _number(token: str) -> str:
    if any(map(str.isdigit, token)):
        return token.rstrip("bmtk")
    return ""
